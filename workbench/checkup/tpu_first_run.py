"""The first run on a TPU, step by step: each step is real work on the target, and reports at
which level of evidence it ran.

L0  the versions that are installed
L3  the same loop on several replicas of a processor
L4  on another computer, over a line
L5  on a TPU

Nothing here ran on a TPU while it was written. What needs a chip and has none is reported as
not run; what ran on processors is labeled so.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.assets import resource_path
from workbench.checkup.parity import (
    agreement_of,
    history_of,
    train_pair,
    train_to_end,
    wait_for_end,
)
from workbench.core.format import bytes_text
from workbench.core.projects.project import HERE, Choice, Project
from workbench.core.projects.project_file import parse_project
from workbench.core.projects.texts import target_text
from workbench.errors import RunError, WorkbenchError
from workbench.hardware.tpu_host import TpuHost, packages_problem
from workbench.parts import installed_version
from workbench.processes.child import Child, end_words
from workbench.protocol.events import Batch, CheckpointKept, RunEvent, RunStarted
from workbench.runs.control import request_pause, request_stop, send_command
from workbench.runs.environment import trainer_environment
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.link import has_mirror
from workbench.runs.log.event_log import EventReader, first_of, read_all
from workbench.runs.start import start_trainer
from workbench.targets import all_targets
from workbench.targets.tpu import SPEC as TPU

LEVELS = {
    "L0": "checked, nothing computed",
    "L3": "computed on simulated devices of a CPU",
    "L4": "on another computer",
    "L5": "on a TPU",
}
NO_CHIP = "not run: no TPU here"
NOT_FROM_HERE = "not run: replicas can only be checked on that computer itself"
_PACKAGES = ("tensorflow", "tensorflow-cpu", "tensorflow-tpu", "libtpu", "keras")
_AGREEING_STEPS = 20
_CHECK_S = 600.0
"""A TPU's first compilation takes minutes."""


@dataclass(frozen=True)
class Step:
    """What one step of the checklist has shown.

    Attributes:
        name: The step, as the help page calls it.
        level: L0 to L5, of what ran; of what would have run where it did not.
        ran: Whether it ran.
        ok: Whether it went as it must; None where it did not run.
        result: What was seen, in words.
        seconds: How long it took.
    """

    name: str
    level: str
    ran: bool
    ok: bool | None
    result: str
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


@dataclass
class FirstRun:
    """Walks the checklist.

    Args:
        target: Where; a processor's replicas rehearse it.
        folder: For the runs that are made; new or empty.
        wait: Called again and again while a trainer works; waits a moment, or raises.
    """

    target: Choice
    folder: Path
    wait: Callable[[], None]
    _whole: RunFolder | None = field(default=None, init=False)
    _paused: RunFolder | None = field(default=None, init=False)

    def walk(self) -> Iterator[Step]:
        """Runs one step after the other; a failed one does not keep the next from its try."""
        yield self._step("versions", "L0", self._versions)
        yield self._step("chips", "L5", self._chips)
        level = self._level()
        yield self._step("two steps", level, self._two_steps)
        yield self._step("agreement", level, self._agreement)
        yield self._step("uninterrupted run", level, self._undisturbed)
        yield self._step("pause", level, self._pause)
        yield self._step("replicas agree after load", level, self._replicas)
        yield self._step("resume", level, self._resume)
        yield self._step("kill and resume", level, self._kill)
        yield self._step("memory", "L5", self._memory)

    def _level(self) -> str:
        if self.target.key == TPU.key:
            return "L5"
        return "L4" if all_targets()[self.target.key].is_remote(self.target.params) else "L3"

    def _step(self, name: str, level: str, do: Callable[[], str]) -> Step:
        if level == "L5" and not TpuHost().chips():
            return Step(name, level, ran=False, ok=None, result=NO_CHIP)
        if level == "L4" and do == self._replicas:
            return Step(name, level, ran=False, ok=None, result=NOT_FROM_HERE)
        begun = time.monotonic()
        try:
            ok, result = True, do()
        except WorkbenchError as error:
            ok, result = False, str(error)
        seconds = round(time.monotonic() - begun, 2)
        return Step(name, level, ran=True, ok=ok, result=result, seconds=seconds)

    def _versions(self) -> str:
        found = {name: installed_version(name) for name in _PACKAGES}
        words = ", ".join(f"{name} {version}" for name, version in found.items() if version)
        problem = packages_problem()
        if self.target.key == TPU.key and problem is not None:
            raise problem
        return words if problem is None else f"{words}; enough to rehearse, not for a TPU"

    def _chips(self) -> str:
        host = TpuHost()
        problem = host.problem()
        if problem is not None:
            raise problem
        return f"{host.generation()}: {', '.join(map(str, host.chips()))}, free, permission granted"

    def _run(self, name: str, **recipe: Any) -> RunFolder:
        return create_run(toy_project(self.target, **recipe), path=self.folder / name, title=name)

    def _two_steps(self) -> str:
        run = self._run("two-steps", epochs=1, steps_per_epoch=2)
        train_to_end(run, self.wait)
        started, losses = first_of(run.events_path, RunStarted), history_of(run).losses
        if started is None or len(losses) != 2 or not np.isfinite(losses).all():
            raise RunError("Two steps did not give two losses.", received=str(losses.tolist()))
        return (
            f"{started.replicas} replicas, {started.precision}, losses {losses[0]:.4f} and "
            f"{losses[1]:.4f}; {started.plan.words}"
        )

    def _agreement(self) -> str:
        project = toy_project(self.target, precision="float32")
        pair = train_pair(project, (HERE, self.target), _AGREEING_STEPS, wait=self.wait)
        found = agreement_of(pair)
        if found.verdict != "agree":
            raise RunError(found.words)
        return found.words

    def _undisturbed(self) -> str:
        run = self._run("undisturbed")
        train_to_end(run, self.wait)
        self._whole = run
        history = history_of(run)
        return f"{len(history.losses):,} steps, final loss {history.losses[-1]:.6f}"

    def _pause(self) -> str:
        self._needed(self._whole)
        run = self._run("paused")
        start_trainer(run)
        self._until(run, lambda event: isinstance(event, Batch))
        request_pause(run)
        wait_for_end(run, self.wait)
        finished = history_of(run).finished
        if finished is None or not finished.is_paused:
            raise RunError("The run ended before it could be paused.", where=str(run.path))
        self._paused = run
        return f"checkpoint at step {history_of(run).steps[-1]:,}"

    def _replicas(self) -> str:
        run = self._needed(self._paused)
        module = "workbench.worker.trainer.replica_check"
        words = [sys.executable, "-P", "-m", module, str(run.path)]
        environment = trainer_environment(run.project(), {})
        with Child(words, name="the check", environment=environment, order=b"") as child:
            lines = list(child.lines(deadline_s=_CHECK_S))
            return _replicas_in_words(lines, child.exit_code())

    def _resume(self) -> str:
        run = self._needed(self._paused)
        train_to_end(run, self.wait, resume=True)
        return self._compared(run)

    def _kill(self) -> str:
        self._needed(self._whole)
        run = self._run("killed")
        pid = start_trainer(run)
        self._until(run, lambda event: isinstance(event, CheckpointKept) and not event.problem)
        end_hard(run, pid)
        wait_for_end(run, self.wait)
        if history_of(run).finished is not None:
            raise RunError("The run ended before it could be killed.", where=str(run.path))
        train_to_end(run, self.wait, resume=True)
        return self._compared(run)

    def _memory(self) -> str:
        """What the chip reports for the small network; the estimate is made beside it by hand."""
        if self.target.key != TPU.key:
            return "the rehearsal used no chip"
        run = self._run("memory", epochs=4)
        start_trainer(run)
        self._until(run, lambda event: isinstance(event, CheckpointKept))
        request_pause(run)
        wait_for_end(run, self.wait)
        self._paused = run
        return self._replicas()

    def _needed(self, run: RunFolder | None) -> RunFolder:
        if run is None:
            raise RunError("A required earlier step failed.")
        return run

    def _until(self, run: RunFolder, is_it: Callable[[RunEvent], bool]) -> None:
        """Waits for an event of a run that has been started."""
        reader = EventReader(run.events_path)
        while True:
            is_alive = run.is_alive()
            events = reader.read_new()
            if any(map(is_it, events)):
                return
            if not events and not is_alive:
                error = history_of(run).finished
                words = error.error.what if error is not None and error.error else ""
                raise RunError(
                    "The training process ended too early.", where=str(run.path), received=words
                )
            try:
                self.wait()
            except BaseException:  # called off: no trainer is left behind
                request_stop(run)
                raise

    def _compared(self, run: RunFolder) -> str:
        """A run that was interrupted against the one that was not."""
        starts = [event for event in read_all(run.events_path) if isinstance(event, RunStarted)]
        at = starts[-1].resumed_at_step
        seqs = [event.seq for event in read_all(run.events_path)]
        if seqs != list(range(1, len(seqs) + 1)):
            raise RunError("The run log has a gap.", where=str(run.events_path))
        left, right = history_of(run).losses, history_of(self._needed(self._whole)).losses
        if at is None or len(left) != len(right):
            raise RunError(
                "The run did not resume at its last step.",
                received=f"{len(left):,} steps, resumed at {at}",
                expected=f"{len(right):,} steps",
            )
        if not np.array_equal(left, right, equal_nan=True):
            raise RunError(
                "The resumed run differs from the uninterrupted one.",
                where=f"step {int(np.flatnonzero(left != right)[0]) + 1:,}",
                received=f"losses up to {float(np.nanmax(np.abs(left - right))):.2g} different",
            )
        return (
            f"resumed at step {at:,}; all {len(left):,} losses identical to the uninterrupted run"
        )


def end_hard(run: RunFolder, pid: int) -> None:
    """Kills a run's trainer; on another computer by request: `pid` is the run mirror's."""
    if has_mirror(run):
        send_command(run, "kill")
        return
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _replicas_in_words(lines: list[bytes], exit_code: int) -> str:
    try:
        found = json.loads(lines[-1])
    except (IndexError, ValueError) as error:
        words = f"it {end_words(exit_code)}"
        raise RunError("The check failed.", received=words) from error
    if "error" in found:
        raise RunError(**found["error"])
    if found["differing"]:
        raise RunError(
            "The replicas differ from what was loaded.", received=", ".join(found["differing"][:5])
        )
    memory = f"; {bytes_text(found['memory_bytes'])} peak" if found["memory_bytes"] else ""
    return (
        f"{found['variables']:,} variables are identical to the file on all "
        f"{found['replicas']:,} replicas{memory}"
    )


def toy_project(target: Choice, **recipe: Any) -> Project:
    """A small network on the bundled images, the same everywhere."""
    path = resource_path("checkup/first_run.workbench")
    project = parse_project(path.read_text(encoding="utf-8"), path.name)
    return replace(
        project,
        title=f"First run on {target_text(target, all_targets())}",
        recipe=project.recipe.with_values(**recipe),
        target=target,
    )
