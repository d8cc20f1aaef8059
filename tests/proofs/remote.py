"""Trains over a real ssh server in a network of its own, whose line is cut and whose run mirrors are killed.

`python -m tests.proofs.remote --cuts 200 --kills 20 [--fresh] [--epochs N] [--seed N]`. Needs
root, sshd and ip. Runs are started one after the other until so many cuts at random bytes and so
many kills of run mirror and ssh have been made. After each: the log here is the log there, byte for
byte; its events are numbered without gap; one trainer did all of it; losses and weights are those
of an undisturbed run. The pictures were sent once. With --fresh the other computer begins
empty, and makes its environment from the package index by the lock file. In the end addresses that
would be commands start nothing. Ends with 1 when anything is otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from tests.private_host import PrivateHost, why_not
from tests.proofs._cutting_line import CuttingLine
from tests.proofs._tiny_runs import differences, tiny_project, wait_for_end, write_stripes
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import project_text
from workbench.protocol.events import RunStarted
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.home import data_home
from workbench.runs.link import read_link, read_remote
from workbench.runs.log.event_log import read_all
from workbench.runs.start import reattach, start_trainer
from workbench.runs.state.outcome import outcome_of
from workbench.runs.trust import place_of, remember

_PICTURES = 24_000
_PATIENCE_S = 3_600.0
_LOOK_S = 0.1
_HOSTILE = (
    "-oProxyCommand=touch {mark}",
    "a;touch {mark}",
    "$(touch {mark})",
    "`touch {mark}`",
    "a\ntouch {mark}",
    "-l@host",
    "x -oProxyCommand=touch${{IFS}}{mark}@host",
    "host/this_computer;touch {mark}",
    "host:22;touch {mark}",
    "[::1];touch {mark}",
)


@dataclass
class Tally:
    """What was seen."""

    runs: int = 0
    kills: int = 0
    steps: int = 0
    events: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass
class Scene:
    """The other computer, the line to it, and the undisturbed run."""

    host: PrivateHost
    line: CuttingLine
    project: Project
    reference: RunFolder
    rng: random.Random
    tally: Tally = field(default_factory=Tally)

    @property
    def home(self) -> Path:
        """Our folder on the other computer."""
        return self.host.home / ".workbench"


def target(host: PrivateHost, port: int, *, python: str) -> Choice:
    """The private host as a target, behind the line."""
    params = {"host": "127.0.0.1", "port": port, "user": host.user}
    params["key_file"] = str(host.key_file)
    return Choice("ssh", {**params, "python": python})


def prove(folder: Path, *, cuts: int, kills: int, fresh: bool, epochs: int, seed: int) -> Scene:
    """Trains until so many cuts and kills were made, then once without; looks at all of it."""
    rng = random.Random(seed)
    data = write_stripes(folder / "stripes.npz", count=_PICTURES)
    plain = tiny_project(data, epochs=epochs)
    plain = replace(plain, recipe=plain.recipe.with_values(steps_per_epoch=20, batch_size=50))
    reference = _undisturbed(plain)
    python = None if fresh else sys.executable
    with PrivateHost(folder / "host", is_fresh=fresh) as host:
        line = CuttingLine((host.address, host.port), rng)
        host.accept_as(f"[127.0.0.1]:{line.port}", data_home())
        choice = target(host, line.port, python=python or "")
        scene = Scene(host, line, replace(plain, target=choice), reference, rng)
        try:
            if fresh:  # pip ends with its line: no line here would last long enough
                begun = time.monotonic()
                _train_quietly(scene, title="Fresh")
                print(f"set up and trained after {time.monotonic() - begun:.0f} s", flush=True)
                _look_for_qt(scene)
            _disturb(scene, cuts=cuts, kills=kills)
            _look_at_pictures(scene)
        finally:
            line.close()
            for path in (data_home() / "runs").iterdir():
                _kill_mirror(RunFolder(path))
    _try_hostile(folder, scene)
    return scene


def _undisturbed(project: Project) -> RunFolder:
    run = create_run(project, title="Undisturbed")
    begun = time.monotonic()
    remember(place_of(run))
    start_trainer(run)
    wait_for_end(run)
    print(f"undisturbed: {outcome_of(run).sentence()} {time.monotonic() - begun:.0f} s", flush=True)
    return run


def _disturb(scene: Scene, *, cuts: int, kills: int) -> None:
    tally = scene.tally
    scene.line.is_cutting = True
    while not tally.problems and (
        scene.line.cuts.total() < cuts or tally.kills < kills or not tally.runs
    ):
        run = create_run(scene.project, title=f"Run {tally.runs + 1}")
        remember(place_of(run))
        start_trainer(run)
        deadline = time.monotonic() + _PATIENCE_S
        while not _is_over(run, scene):
            wanted = (tally.kills + scene.rng.random()) * cuts / max(1, kills)
            if tally.kills < kills and scene.line.cuts.total() >= wanted:
                time.sleep(2 * scene.rng.random())
                tally.kills += _kill_mirror(run)
            if time.monotonic() > deadline:
                tally.problems.append(f"{run.name} does not end: {outcome_of(run).sentence()}")
                break
            time.sleep(_LOOK_S)
        _compare(run, scene)
    scene.line.is_cutting = False


def _is_over(run: RunFolder, scene: Scene) -> bool:
    """Starts a run mirror where the last one was killed, as a window does."""
    outcome = outcome_of(run)
    link = read_link(run)
    if run.is_alive():
        return False
    if link is not None and link.state == "refused":
        scene.tally.problems.append(f"{run.name}: {outcome.sentence()} {link.error}")
        return True
    if outcome.kind == "away":
        reattach(run)
        return False
    if outcome.kind == "died" and read_remote(run) is None:
        remember(place_of(run))
        start_trainer(run)  # killed before the run had begun there
        return False
    return outcome.is_over


def _kill_mirror(run: RunFolder) -> int:
    """Kills run mirror and ssh as a laptop's battery does; returns how many run mirrors that were."""
    link = read_link(run)
    if link is None or not link.pid or not run.is_alive():
        return 0
    words = Path(f"/proc/{link.pid}/cmdline")
    with contextlib.suppress(OSError):
        if b"workbench.remote" not in words.read_bytes():
            return 0
        children = Path(f"/proc/{link.pid}/task/{link.pid}/children").read_text().split()
        for pid in (link.pid, *map(int, children)):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        wait_for_end(run)
        return 1
    return 0


def _compare(run: RunFolder, scene: Scene) -> None:
    """Holds a run that is over against the other computer's and the undisturbed one's."""
    tally, problems = scene.tally, []
    tally.runs += 1
    remote = read_remote(run)
    there = scene.home / "runs" / (remote.run if remote else "none")
    logs = [
        path.read_bytes() for path in (run.events_path, there / "events.jsonl") if path.exists()
    ]
    digests = [hashlib.sha256(log).hexdigest() for log in logs]
    if len(digests) != 2 or digests[0] != digests[1]:
        problems.append(f"the logs differ: {[len(log) for log in logs]} bytes, {digests}")
    events = read_all(run.events_path)
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        problems.append("events are lost or doubled")
    started = [event for event in events if isinstance(event, RunStarted)]
    if len(started) != 1:
        problems.append(f"{len(started)} trainers instead of one")
    if outcome_of(run).kind != "completed":
        problems.append(outcome_of(run).sentence())
    else:
        problems += differences(run, scene.reference)
        left, right = (p.read_bytes() for p in (run.weights_path, there / "weights.npz"))
        if left != right:
            problems.append("the weights are not the file that is there")
    if len(list((scene.home / "parcels").iterdir())) != 1:
        problems.append("the pictures are there more than once, or not at all")
    tally.events += len(events)
    tally.steps += sum(
        event.step - event.first_step + 1 for event in events if hasattr(event, "losses")
    )
    tally.problems += [f"{run.name}: {words}" for words in problems]
    print(
        f"{run.name}: {len(events):,} events, {scene.line.cuts.total()} cuts "
        f"{dict(scene.line.cuts)}, {tally.kills} kills, {len(problems)} problems",
        flush=True,
    )


def _train_quietly(scene: Scene, *, title: str) -> None:
    """A run whose line is not cut."""
    run = create_run(scene.project, title=title)
    remember(place_of(run))
    start_trainer(run)
    while not _is_over(run, scene):
        time.sleep(_LOOK_S)
    _compare(run, scene)


def _look_at_pictures(scene: Scene) -> None:
    """One run more, whose bytes are counted: the pictures that are there are not sent again."""
    if scene.tally.problems:
        return
    parcels = [path.stat() for path in (scene.home / "parcels").iterdir()]
    parcel = next((data_home() / "cache" / "parcels").glob("*.zip")).stat().st_size
    before = scene.line.bytes_up
    _train_quietly(scene, title="Quiet")
    sent = scene.line.bytes_up - before
    if sent > parcel // 2:
        scene.tally.problems.append(f"{sent:,} bytes were sent; the pictures are {parcel:,}")
    if [path.stat() for path in (scene.home / "parcels").iterdir()] != parcels:
        scene.tally.problems.append("the pictures there were written again")
    print(f"a run more sends {sent:,} bytes; the packed pictures are {parcel:,}", flush=True)


def _look_for_qt(scene: Scene) -> None:
    names = [path.name.lower() for path in scene.home.glob("environments/*/lib/*/site-packages/*")]
    found = [name for name in names if "pyside" in name or "shiboken" in name or "pyqt" in name]
    packages = sum(name.endswith(".dist-info") for name in names)
    print(f"the environment there holds {packages} packages, of Qt: {found or 'none'}", flush=True)
    if found or not packages:
        scene.tally.problems.append(f"{packages} packages, of Qt: {found}")


def _try_hostile(folder: Path, scene: Scene) -> None:
    """Addresses that would be commands: on the command line and in project files."""
    tools, mark = folder / "tools", folder / "STARTED"
    tools.mkdir()
    for name in ("ssh", "ssh-keyscan"):
        program = tools / name
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {mark}\n')
        program.chmod(0o755)
    variables = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}
    project = folder / "hostile.workbench"
    for number, text in enumerate(_HOSTILE):
        value = text.format(mark=mark)
        project.write_text(project_text(replace(scene.project, target=Choice("this_computer"))))
        _run_train(project, ["--target", f"ssh:{value}"], variables)
        for name in ("host", "user", "key_file", "home", "python", "target"):
            params = {"host": "127.0.0.1", name: value if name != "key_file" else f"-{value}"}
            project.write_text(project_text(replace(scene.project, target=Choice("ssh", params))))
            if name in {"host", "user"}:
                _run_train(project, [], variables)
        if mark.exists():
            words = mark.read_text()[:200]
            scene.tally.problems.append(f"hostile address {number} started something: {words}")
            mark.unlink()
    print(f"{len(_HOSTILE)} hostile addresses, each as text, host and user: tried", flush=True)


def _run_train(project: Path, words: list[str], variables: dict[str, str]) -> None:
    argv = [sys.executable, "-m", "workbench", "train", str(project), "--epochs", "1", *words]
    done = subprocess.run(
        [*argv, "--json"], env=variables, capture_output=True, timeout=120, check=False
    )
    if done.returncode == 0:
        raise RuntimeError(f"a hostile address was trained on: {argv}")


def main() -> int:
    """Runs the proof and prints its verdict."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cuts", type=int, default=200)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=1_500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fresh", action="store_true", help="make the environment there too")
    options = parser.parse_args()
    missing = why_not()
    if missing:
        print(f"remote: cannot be run here: {missing}")
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # with all that has to be tidied up
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.environ["WORKBENCH_HOME"] = str(Path(folder) / "here")
        scene = prove(
            Path(folder), cuts=options.cuts, kills=options.kills, fresh=options.fresh,
            epochs=options.epochs, seed=options.seed,
        )  # fmt: skip
    tally = scene.tally
    for problem in tally.problems:
        print(problem)
    print(
        f"remote: {scene.line.cuts.total()} cuts {dict(scene.line.cuts)} and {tally.kills} kills in "
        f"{tally.runs} runs, {tally.events:,} events, {tally.steps:,} steps, "
        f"{time.monotonic() - begun:,.0f} s: {len(tally.problems)} problems"
    )
    is_enough = scene.line.cuts.total() >= options.cuts and tally.kills >= options.kills
    return 0 if not tally.problems and is_enough else 1


if __name__ == "__main__":
    sys.exit(main())
