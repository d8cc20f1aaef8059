"""Removes a training's disk space: full, read-only, limited. It goes on, reports it, and recovers.

`python -m tests.proofs.checkpoint_faults [--rounds N]` needs root for small tmpfs and read-only
mounts; without it only files limited in size are tried. In each round a run is disturbed while
it trains: the old checkpoint must stay readable, it must be reported to the user within 5 s, the run must
go on when the fault is over, and end as the undisturbed run does, to the bit. Ends with 1
when any of that fails.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.proofs._tiny_runs import (
    differences,
    history_of,
    tiny_project,
    wait_for_end,
    write_stripes,
)
from workbench.errors import WorkbenchError
from workbench.protocol.events import CheckpointKept
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.log.event_log import EventReader, read_all
from workbench.runs.start import reap, start_trainer
from workbench.runs.state.outcome import outcome_of
from workbench.runs.store.checkpoint import read_checkpoint

_REPORTED_WITHIN_S = 5.0
_PATIENCE_S = 240.0
_DISK_MB = 16

Fault = Callable[[RunFolder, int], contextlib.AbstractContextManager[None]]


@dataclass
class Round:
    """What was seen of one fault."""

    name: str
    reported_s: float = float("inf")
    words: str = ""
    recovered_s: float = float("inf")
    problems: list[str] = field(default_factory=list)

    def line(self) -> str:
        """One line for people."""
        return (
            f"{self.name}: reported after {self.reported_s:.1f} s ({self.words}), goes on "
            f"{self.recovered_s:.1f} s after the fault, {len(self.problems)} problems"
        )


@contextlib.contextmanager
def full_disk(run: RunFolder, pid: int) -> Iterator[None]:
    """Fills the run's disk to the last byte, and keeps it full."""
    ballast = run.path.parent / "ballast"
    with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(bytes(65_536))
    with ballast.open("ab", buffering=0) as file, contextlib.suppress(OSError):
        while True:
            file.write(b"0")
    try:
        yield
    finally:
        ballast.unlink()


@contextlib.contextmanager
def read_only_folder(run: RunFolder, pid: int) -> Iterator[None]:
    """Nothing can be made or replaced in the run's folder; open files can be written."""
    _mount("--bind", run.path, run.path)
    _mount("-o", "remount,ro,bind", run.path)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(run.path)], check=True)


@contextlib.contextmanager
def small_files(run: RunFolder, pid: int) -> Iterator[None]:
    """The trainer may write no file as large as its checkpoint."""
    old = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    limit = max(path.stat().st_size for path in run.checkpoints_path.glob("?.npz")) - 1_000
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, old[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, old)


def _mount(*arguments: str | Path) -> None:
    subprocess.run(["mount", *map(str, arguments)], check=True)


def disturb(run: RunFolder, fault: Fault, name: str, *, fault_s: float) -> Round:
    """Trains a run to its end, with one fault on the way."""
    seen = Round(name)
    pid = start_trainer(run)
    try:
        _wait(lambda: any(_kept(run)) or not run.is_alive(), "a checkpoint")
    except TimeoutError as error:
        raise TimeoutError(f"{error}: {outcome_of(run).sentence()}") from error
    reader = EventReader(run.events_path)
    while reader.read_new():
        pass
    with fault(run, pid):
        begun = time.monotonic()
        while (elapsed := time.monotonic() - begun) < fault_s:
            if seen.reported_s == float("inf") and (words := _reported(run, reader)):
                seen.reported_s, seen.words = elapsed, words
            _check_checkpoint(run, seen)
            time.sleep(0.05)
        if not run.is_alive() and history_of(run).finished is None:
            seen.problems.append(f"the trainer is gone: {outcome_of(run).sentence()}")
        before = sum(1 for _ in _kept(run))
    ended = time.monotonic()
    _wait(lambda: sum(1 for _ in _kept(run)) > before or not run.is_alive(), "a new checkpoint")
    seen.recovered_s = time.monotonic() - ended
    wait_for_end(run)
    if seen.reported_s > _REPORTED_WITHIN_S:
        seen.problems.append("it was not reported in time")
    return seen


def _reported(run: RunFolder, reader: EventReader) -> str:
    """What was reported to the user of a fault: by an event, or by the state of the run."""
    for event in reader.read_new():
        if isinstance(event, CheckpointKept) and event.problem is not None:
            return event.problem.what
    outcome = outcome_of(run)
    return outcome.sentence() if outcome.kind == "silent" else ""


def _kept(run: RunFolder) -> Iterator[CheckpointKept]:
    for event in read_all(run.events_path):
        if isinstance(event, CheckpointKept) and event.problem is None:
            yield event


def _check_checkpoint(run: RunFolder, seen: Round) -> None:
    try:
        checkpoint = read_checkpoint(run)
    except WorkbenchError as error:
        seen.problems.append(str(error))
        return
    if checkpoint is None and history_of(run).finished is None:
        seen.problems.append("there is no checkpoint any more")
    elif checkpoint is not None and checkpoint.notes:
        seen.problems += checkpoint.notes


def _wait(is_so: Callable[[], bool], words: str) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{words} did not come")
        time.sleep(0.05)


def remove(run: RunFolder) -> Round:
    """Removes a run's folder while it trains: the trainer must end, and hang nowhere."""
    seen = Round("removed folder")
    pid = start_trainer(run)
    _wait(lambda: any(_kept(run)), "a checkpoint")
    while run.path.exists():  # it may just be writing there
        shutil.rmtree(run.path, ignore_errors=True)
    begun = time.monotonic()
    outcome = outcome_of(run)
    seen.reported_s, seen.words = time.monotonic() - begun, outcome.sentence()
    deadline = begun + _PATIENCE_S
    while reap() and time.monotonic() < deadline:
        time.sleep(0.1)
    seen.recovered_s = time.monotonic() - begun
    if run.path.exists():
        seen.problems.append(f"something came back: {sorted(run.path.rglob('*'))}")
    if reap():
        seen.problems.append("the trainer does not end")
        os.kill(pid, 9)
    return seen


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A folder on a disk of its own, of a few megabytes."""
    disk = folder / "disk"
    disk.mkdir(exist_ok=True)
    _mount("-t", "tmpfs", "-o", f"size={_DISK_MB}m", "tmpfs", disk)
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


def prove(folder: Path, *, rounds: int, epochs: int, fault_s: float) -> list[Round]:
    """Every fault `rounds` times, each run held against the undisturbed one."""
    data = write_stripes(folder / "stripes.npz")
    project = tiny_project(data, number=1, epochs=epochs)
    reference = create_run(project, path=folder / "reference")
    start_trainer(reference)
    wait_for_end(reference)
    seen: list[Round] = []

    def one(home: Path, fault: Fault, name: str) -> None:
        run = create_run(project, path=home / f"{fault.__name__}-{len(seen)}")
        result = disturb(run, fault, name, fault_s=fault_s)
        result.problems += differences(run, reference)
        seen.append(result)

    for _ in range(rounds):
        one(folder, small_files, "files limited in size")
        if os.geteuid() == 0:
            one(folder, read_only_folder, "read-only folder")
            with small_disk(folder) as disk:
                one(disk, full_disk, "full disk")
        seen.append(remove(create_run(project, path=folder / f"removed-{len(seen)}")))
    return seen


def main() -> int:
    """Runs the proof and prints a line for each fault."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=400)
    parser.add_argument("--fault-s", type=float, default=12.0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WORKBENCH_HOME"] = str(Path(folder) / "home")
        seen = prove(
            Path(folder), rounds=options.rounds, epochs=options.epochs, fault_s=options.fault_s
        )
    for one in seen:
        print(one.line())
        for problem in one.problems[:5]:
            print(f"    {problem}")
    problems = sum(len(one.problems) for one in seen)
    slowest = max(one.reported_s for one in seen)
    print(
        f"checkpoint_faults: {len(seen)} faults, {problems} problems, "
        f"reported after {slowest:.1f} s at most"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
