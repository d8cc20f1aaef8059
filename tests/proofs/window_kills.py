"""Kills the window again and again while a run trains: nothing of its curve is lost or doubled.

`python -m tests.proofs.window_kills --kills 50 [--seed N]`. The real window, under Xvfb, starts a
training and is killed at random moments; each new one finds the run by itself. What it has in
memory is compared with the event log every time, and once more when the training has ended.
Ends with 1 when a point is lost or doubled, or the training suffers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from tests.proofs._tiny_runs import history_of, tiny_project, write_stripes
from tests.virtual_screen import virtual_screen
from workbench.core.projects.project_file import project_text
from workbench.runs.folder import RunFolder
from workbench.runs.log.history import MetricHistory
from workbench.runs.state.outcome import outcome_of

_REPORT_MS = 100
_LIFE_S = 4.0
_PATIENCE_S = 600.0


@dataclass
class Tally:
    """What was seen of all windows."""

    kills: int = 0
    attach_s: list[float] = field(default_factory=list)
    points: int = 0
    problems: list[str] = field(default_factory=list)


def report_of(history: MetricHistory) -> dict[str, object]:
    """A history in few words: how many points and epochs, and a digest of their values."""
    return {
        "points": len(history.steps),
        "epochs": [event.epoch for event in history.epochs],
        "digest": _digest(history, len(history.steps)),
        "is_finished": history.finished is not None,
    }


def _digest(history: MetricHistory, count: int) -> str:
    columns = (history.steps, history.losses, history.accuracies)
    return hashlib.sha256(b"".join(column[:count].tobytes() for column in columns)).hexdigest()


def run_window(report: Path, project: Path | None) -> int:
    """The window's process: the real application, reporting now and then what it holds.

    Args:
        report: File to report it in, a JSON line each time.
        project: Its training is started by pressing Train; None to find a run that trains.
    """
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from workbench import app
    from workbench.gui.shell.main_window import MainWindow

    application = QApplication(sys.argv[:1])
    file = report.open("a", encoding="utf-8")
    has_started: list[bool] = []

    def write_report() -> None:
        window = next((w for w in application.topLevelWidgets() if isinstance(w, MainWindow)), None)
        if window is None:
            return
        if project is not None and not has_started and window.context.document.project.title:
            has_started.append(True)
            window.show_view("train")
            window.context.library.start_run(
                window.context.document.project, title="Window kills", project_path=""
            )
        follower = window.context.library.current
        if follower is None or not follower.is_loaded:
            return
        line = {"run": str(follower.run.path), **report_of(follower.history)}
        file.write(json.dumps(line) + "\n")
        file.flush()

    timer = QTimer()
    timer.timeout.connect(write_report)
    timer.start(_REPORT_MS)
    return app.run_window(None if project is None else str(project))


class Window:
    """A window in a process of its own, and its last report."""

    _running: ClassVar[set[Window]] = set()

    def __init__(self, folder: Path, number: int, project: Path | None = None) -> None:
        self._report = folder / f"report-{number}.jsonl"
        words = ["--report", str(self._report)]
        words += ["--project", str(project)] if project else []
        self._log = (folder / f"window-{number}.log").open("wb")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.proofs.window_kills", *words],
            stdout=self._log, stderr=self._log, start_new_session=True,
        )  # fmt: skip
        self.began = time.monotonic()
        self._running.add(self)

    @classmethod
    def kill_all(cls) -> None:
        """Leaves none behind when the proof ends early."""
        for window in list(cls._running):
            window.kill()

    def last(self) -> dict[str, object] | None:
        """Its latest whole report; None before the first."""
        try:
            *lines, _ = self._report.read_bytes().split(b"\n")
        except OSError:
            return None
        return dict(json.loads(lines[-1])) if lines else None

    def wait(self, is_it: str = "points") -> dict[str, object]:
        """Its first report in which a value is not empty."""
        deadline = time.monotonic() + _PATIENCE_S
        while not ((said := self.last()) and said[is_it]):
            if time.monotonic() > deadline or self._process.poll() is not None:
                words = Path(self._log.name).read_text(errors="replace")[-2_000:]
                raise RuntimeError(f"the window does not show the run:\n{said}\n{words}")
            time.sleep(0.02)
        return said

    def kill(self) -> None:
        """Kills it without a chance to tidy up."""
        self._running.discard(self)
        self._process.kill()
        self._process.wait()
        self._log.close()


def compare(said: dict[str, object], run: RunFolder) -> list[str]:
    """What a window's history has otherwise than the run's log."""
    history = history_of(run)
    count = int(str(said["points"]))
    problems = []
    if count > len(history.steps):
        problems.append(f"{count} points, but only {len(history.steps)} were logged")
    elif said["digest"] != _digest(history, count):
        problems.append(f"the {count} points are not the first {count} of the log")
    if not np.array_equal(history.steps, np.arange(1, len(history.steps) + 1)):
        problems.append("the log itself has gaps or doubled steps")
    epochs = said["epochs"]
    if epochs != list(range(1, len(epochs) + 1 if isinstance(epochs, list) else 0)):
        problems.append(f"epochs lost or doubled: {epochs}")
    return problems


def prove(folder: Path, *, kills: int, epochs: int, seed: int) -> Tally:
    """Starts a training in a window, and kills windows while it goes on."""
    rng, tally = random.Random(seed), Tally()
    project = folder / "stripes.workbench"
    data = write_stripes(folder / "stripes.npz")
    project.write_text(project_text(tiny_project(data, epochs=epochs)))
    window = Window(folder, 0, project)
    try:
        return _kill_windows(folder, window, tally, kills=kills, rng=rng)
    finally:
        Window.kill_all()


def _kill_windows(
    folder: Path, window: Window, tally: Tally, *, kills: int, rng: random.Random
) -> Tally:
    run = RunFolder(Path(str(window.wait()["run"])))
    for number in range(1, kills + 1):
        time.sleep(rng.random() * _LIFE_S)
        said = window.wait()
        window.kill()
        tally.kills += 1
        tally.problems += [f"window {number}: {words}" for words in compare(said, run)]
        outcome = outcome_of(run)
        if outcome.kind != "running":
            tally.problems.append(f"after kill {number}: {outcome.sentence()}")
            break
        window = Window(folder, number)
        said = window.wait()
        tally.attach_s.append(time.monotonic() - window.began)
        if said["run"] != str(run.path):
            tally.problems.append(f"window {number} shows another run: {said['run']}")
    _end(window, run, tally)
    return tally


def _end(window: Window, run: RunFolder, tally: Tally) -> None:
    """Stops the training and holds the whole curve of the last window against the log."""
    from workbench.runs.control import request_stop

    request_stop(run)
    window.wait("is_finished")
    time.sleep(1.0)
    said = window.wait("is_finished")
    window.kill()
    history = history_of(run)
    tally.points = len(history.steps)
    tally.problems += compare(said, run)
    if said["points"] != tally.points:
        tally.problems.append(f"the last window has {said['points']} of {tally.points} points")


def main() -> int:
    """Runs the proof under Xvfb and prints one line; with --report it is the window."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--project", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.report is not None:
        return run_window(options.report, options.project)
    if not os.environ.get("DISPLAY") and os.environ.get("QT_QPA_PLATFORM") != "offscreen":
        command = [*virtual_screen(), sys.executable, "-m", "tests.proofs.window_kills"]
        return subprocess.run([*command, *sys.argv[1:]], check=False).returncode
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ["WORKBENCH_HOME"] = str(Path(folder) / "home")
        tally = prove(Path(folder), kills=options.kills, epochs=options.epochs, seed=options.seed)
    for problem in tally.problems:
        print(problem)
    median = sorted(tally.attach_s)[len(tally.attach_s) // 2] if tally.attach_s else 0.0
    print(
        f"window_kills: {tally.kills} kills while {tally.points:,} points were logged: "
        f"{len(tally.problems)} lost, doubled or disturbed; a new window shows the curve "
        f"{median:.1f} s after its start (median)"
    )
    return 0 if not tally.problems and tally.kills == options.kills else 1


if __name__ == "__main__":
    sys.exit(main())
