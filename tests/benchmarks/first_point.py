"""*Train* to the first point on the plot, in the real window, and where the time goes.

`python -m tests.benchmarks.first_point [ROUNDS] [new|known|changed ...]`: windows with and without
a trainer kept ready, in turns; each has been open for ten seconds. "new" is a network that was
never trained here, nor one like it, "known" one that was, "changed" that one with another filter in
its first convolution, which was never trained here. Fashion-MNIST is included, CIFAR-10 lies in
../shared/data.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.benchmarks._engine_speed import SHARED
from tests.benchmarks._runs import own_home, train
from tests.benchmarks._window import shown_window
from tests.virtual_screen import virtual_screen
from workbench.core.projects.project import Choice, Project
from workbench.protocol.events import Batch, PhaseChanged, RunEvent, RunStarted
from workbench.runs.log.event_log import read_all
from workbench.templates import find_template

ROUNDS = 5
OPEN_S = 10.0
NETWORKS = ("new", "known", "changed")
GOALS = {"fashion_convnet": 2.5, "cifar10_convnet": 4.0}
_PATIENCE_S = 120.0


@dataclass(frozen=True)
class Measured:
    """Seconds from the click to the first point on the plot; of each phase of the trainer until
    then; and whether the process had been kept ready.
    """

    seconds: float
    phases: dict[str, float]
    was_ready: bool


def project_of(template: str, *, is_changed: bool = False) -> Project:
    """A template's project, on images that are here; with one more filter where it is changed."""
    project = find_template(template).project
    if is_changed:
        graph = project.graph
        first = next(node for node in graph.order if graph.nodes[node].kind == "conv2d")
        filters = graph.nodes[first].params["filters"] + 1
        project = replace(project, graph=graph.with_params(first, filters=filters))
    if template != "cifar10_convnet":
        return project
    return replace(project, dataset=Choice("npz", {"path": str(SHARED / "cifar10.npz")}))


def main() -> None:
    """Prints medians for both templates."""
    words = [word for word in sys.argv[1:] if word.isdecimal()]
    if "--window" in sys.argv:
        template, name, setting = sys.argv[-3:]
        _click(project_of(template, is_changed=name == "changed"), is_kept=setting == "on")
        return
    rounds = int(words[0]) if words else ROUNDS
    home = own_home()
    for template, goal in GOALS.items():
        if template == "cifar10_convnet" and not (SHARED / "cifar10.npz").is_file():
            print("CIFAR-10: no images in ../shared/data")
            continue
        short = project_of(template)
        short = replace(short, recipe=short.recipe.with_values(epochs=1, steps_per_epoch=1))
        train(short)  # the images are unpacked now, as after a look at the Data view
        for name in [name for name in NETWORKS if name in sys.argv] or NETWORKS:
            _compare(template, name, rounds, home, goal)
    shutil.rmtree(home, ignore_errors=True)


def _compare(template: str, name: str, rounds: int, home: Path, goal: float) -> None:
    found: dict[str, list[Measured]] = {"off": [], "on": []}
    for _ in range(rounds):
        for setting, measured in found.items():
            if name == "new":
                shutil.rmtree(home / "cache" / "plans", ignore_errors=True)
            measured.append(_measured(template, name, setting))
    for setting, all_measured in found.items():
        seconds = [measured.seconds for measured in all_measured]
        num_ready = sum(measured.was_ready for measured in all_measured)
        print(
            f"{template}, {name} network, a trainer kept ready {setting}: first point after "
            f"{statistics.median(seconds):.2f} s (median of {rounds}, {min(seconds):.2f} to "
            f"{max(seconds):.2f}, goal {goal}); handed over {num_ready} times"
        )
        phases = dict.fromkeys(name for measured in all_measured for name in measured.phases)
        medians = [
            f"{phase} {statistics.median(m.phases.get(phase, 0.0) for m in all_measured):.2f}"
            for phase in phases
        ]
        print(f"    {', '.join(medians)}", flush=True)


def _measured(template: str, name: str, setting: str) -> Measured:
    command = [*virtual_screen(), sys.executable, "-m", "tests.benchmarks.first_point"]
    environment = {**os.environ, "QT_QPA_PLATFORM": "xcb"}
    words = [*command, "--window", template, name, setting]
    result = subprocess.run(words, env=environment, stdout=subprocess.PIPE, check=True)
    return Measured(**json.loads(result.stdout.splitlines()[-1]))


# the window ----------------------------------------------------------------------------


def _click(project: Project, *, is_kept: bool) -> None:
    """Opens a window, presses Train in it after a while, and prints what was measured."""
    from PySide6.QtCore import QTimer

    from workbench.app import keep_trainer_ready
    from workbench.gui.train.plots.run_plots import RunPlots
    from workbench.runs.start import ready_trainer

    app, context, window = shown_window()
    context.settings.change(keeps_trainer_ready=is_kept)
    keeper = keep_trainer_ready(window)
    context.library.open()
    window.files.new(project)
    begun: list[tuple[float, int, Path | None]] = []
    drawn: list[float] = []
    redraw = RunPlots.redraw

    def watched(plots: RunPlots) -> None:
        redraw(plots)
        follower = context.library.current
        is_new = bool(begun) and follower is not None and follower.run.path != begun[0][2]
        if is_new and len(follower.history.steps) and not drawn:
            plots.repaint()
            drawn.append(time.time())
            app.exit()

    def click() -> None:
        earlier = context.library.current.run.path if context.library.current else None
        begun.append((time.time(), ready_trainer.pid, earlier))
        window.top.train.click()

    RunPlots.redraw = watched  # type: ignore[method-assign]
    QTimer.singleShot(int(1000 * OPEN_S), click)
    QTimer.singleShot(int(1000 * (OPEN_S + _PATIENCE_S)), app.exit)
    app.exec()
    run = context.library.current.run
    events = read_all(run.events_path)
    pid = next(event.pid for event in events if isinstance(event, RunStarted))
    os.kill(pid, signal.SIGKILL)
    clicked, ready, _ = begun[0]
    phases = _phases(events, clicked, drawn[0])
    measured = Measured(drawn[0] - clicked, phases, was_ready=pid == ready)
    keeper.close()
    print(json.dumps(vars(measured)), flush=True)
    # The run still trains as far as the window shows: closing it would prompt.
    os._exit(0)


def _phases(events: Sequence[RunEvent], clicked: float, drawn: float) -> dict[str, float]:
    """Seconds of each phase until the first batch is logged, before the first, and behind it."""
    seconds: dict[str, float] = {}
    name, since = "process", clicked
    for event in events:
        if not isinstance(event, PhaseChanged | Batch):
            continue
        seconds[name] = seconds.get(name, 0.0) + event.time - since
        if isinstance(event, Batch):
            return {**seconds, "plot": drawn - event.time}
        name, since = event.phase, event.time
    return seconds


if __name__ == "__main__":
    main()
