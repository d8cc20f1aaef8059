"""Checkpoints of a training: when they are taken, which weights, and their model card."""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import msgspec

from workbench.core.storage.own_file import make_private
from workbench.core.storage.save import is_full_disk
from workbench.core.training.progress_rules import ProgressRules
from workbench.errors import RunError, SaveError, WeightsError, os_errors_as
from workbench.protocol.events import CheckpointKept, RunFinished, TestResult
from workbench.protocol.wire import error_parts
from workbench.runs.control import take_request
from workbench.runs.folder import RunFolder
from workbench.runs.log.event_log import EventWriter
from workbench.runs.log.history import UNSAVED
from workbench.runs.log.pace import seconds_logged
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.state.outcome import resume_words
from workbench.runs.store.checkpoint import (
    TrainerState,
    best_name,
    has_checkpoint,
    keeps_final,
    read_best,
    remove_older,
)
from workbench.worker.checkpoints.training_state import (
    PreparedTraining,
    TrainingCounters,
    TrainingJob,
    given_checksum,
    snapshot_of_learned,
    weights_of,
)
from workbench.worker.checkpoints.writer import (
    CheckpointData,
    CheckpointWriter,
    KeptModel,
    Weights,
    are_finite,
)
from workbench.worker.execution.compiled import Compiled
from workbench.worker.model.build import assign_weights, read_weights

# final weights -------------------------------------------------------------------------------
# The weights of a training are written, whatever the disk is like: older checkpoints give way to
# them, and where that is not enough the trainer holds them in memory until there is room, or
# somebody names another folder.

_SPARE_BYTES = 32 * 1024
"""For the model card, which is as large as the network is deep, and what is logged meanwhile."""

_LOOK_S = 0.2
_AGAIN_S = 5.0

Write = Callable[[RunFolder], None]
"""Writes weights and model card into the folder of a run; raises SaveError."""


def write_weights(
    job: TrainingJob, write: Write, num_bytes: int, report: Callable[[SaveError], None]
) -> None:
    """Writes the weights into the folder of the run; returns when they are there.

    Args:
        job: The run.
        write: Does it.
        num_bytes: Size of the weights.
        report: Called once with why they cannot be written, before the wait.

    Raises:
        SaveError: the run's folder was removed, or a signal has ended the wait.
        RunError: they were written to another folder, on request.
    """
    for make_room in _rooms(job.run, num_bytes + _SPARE_BYTES):
        make_room()
        try:
            write(job.run)
        except SaveError as error:
            problem = error
            if not is_full_disk(error):
                break
        else:
            return
    report(problem)
    _wait(job, write, problem)


def _end_log(copy: RunFolder) -> None:
    """The log of the copy ends where the weights are: nothing more comes there."""
    card, seconds = copy.model_card(), seconds_logged(copy.events_path)
    with EventWriter(copy.events_path) as writer:
        writer.write(
            RunFinished(
                outcome="stopped",
                run=str(copy.path),
                seconds=seconds,
                epochs_done=card.epochs_done,
                kept=card.kept,
                best=card.best,
                reason="Saved here, as there was no room in the folder of the run.",
            )
        )


def _rooms(run: RunFolder, needed: int) -> Iterator[Callable[[], None]]:
    """What is given up, one after the other, for the weights, where they fit then: as long as
    possible there is something on the disk that a kill would leave.
    """
    yield lambda: None
    yield lambda: remove_older(run)
    old = [run.weights_path, run.card_path]
    if has_checkpoint(run) and _fits_without(needed, run, old):
        yield lambda: _remove(old)
    checkpoints = list(run.checkpoints_path.glob("*.npz"))
    if _fits_without(needed, run, checkpoints):
        yield lambda: _remove(checkpoints)


def _fits_without(needed: int, run: RunFolder, paths: Iterable[Path]) -> bool:
    """Whether so many bytes have room once some files are gone."""
    try:
        free = shutil.disk_usage(run.path).free
        return free + sum(path.stat().st_size for path in paths if path.exists()) >= needed
    except OSError:
        return False


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()


def _wait(job: TrainingJob, write: Write, problem: SaveError) -> None:
    """Tries again and again, and whenever that is requested. A stop gives no weights up: that one
    has come before them, or means to have them saved; a signal from now on does.
    """
    signals = job.stop.num_signals
    job.events.phase(
        UNSAVED, f"Weights held in memory, not saved: {problem.what} {problem.fix}".strip()
    )
    tried_at = time.monotonic()
    while not job.run.is_gone() and job.stop.num_signals == signals:
        time.sleep(_LOOK_S)
        request = take_request(job.run)
        if request is not None and request[0] == "save":
            _write_elsewhere(job, write, request[1])
        is_wanted = request is not None and request[0] == "again"
        if not is_wanted and time.monotonic() - tried_at < _AGAIN_S:
            continue
        tried_at = time.monotonic()
        with contextlib.suppress(SaveError):
            write(job.run)
            job.events.log_line("The weights are saved.")
            return
    raise problem


def _write_elsewhere(job: TrainingJob, write: Write, folder: Path) -> None:
    """Copies the run, without checkpoints, to a new folder and writes the weights there.

    Raises:
        RunError: that is done; so the run ends.
    """
    run = job.run
    names = ("checkpoints", "*.reserve", run.weights_path.name, run.card_path.name)
    left_out = shutil.ignore_patterns(*names, run.lock_path.name, "features", "tensorboard")
    is_made = False
    try:
        with os_errors_as(SaveError, "The run could not be copied.", folder):
            make_private(folder.parent)
            folder.mkdir(mode=0o700)  # there may be one by now
            is_made = True
            shutil.copytree(run.path, folder, ignore=left_out, symlinks=True, dirs_exist_ok=True)
        copy = RunFolder(folder)
        write(copy)
        _end_log(copy)
    except SaveError as error:
        if is_made:
            shutil.rmtree(folder, ignore_errors=True)
        job.events.log_line(str(error), level="error")
        return
    raise RunError(
        "The weights were saved in another folder, as there was no room in the run's own.",
        where=str(folder),
        fix=f"Use the run there, as in `workbench evaluate {folder}`.",
    )


# manager -------------------------------------------------------------------------------------

_PATIENCE_S = 120.0
_RETRY_S = 1.0

_MOST_LOST = 0.04
"""The share of all epochs that a kill may cost: at the latest then a checkpoint is made."""


class NotFiniteError(ArithmeticError):
    """A weight is NaN or infinite: there is nothing worth keeping."""


class CheckpointManager:
    """Keeps checkpoints while a training goes on, and its weights at the end.

    Args:
        job: The run that is written, its recipe, and its event log.
        ready: What is trained; the time that keeping takes is booked in its ledger.
        counters: Steps, epochs and scores so far.
        rules: What they have counted is kept.
        state: State of the checkpoint that the training resumes from.
    """

    def __init__(
        self,
        job: TrainingJob,
        ready: PreparedTraining,
        counters: TrainingCounters,
        rules: ProgressRules,
        state: TrainerState | None,
    ) -> None:
        self._job = job
        self._run = job.run
        self._ready = ready
        self._compiled = ready.compiled
        self._position = counters
        self._rules = rules
        self._recipe = job.project.recipe
        self._keeps_best = self._recipe.keep == "best"
        self._keeps_final = keeps_final()
        self._events = job.events
        self._number = state.number if state else 0
        self._best_file = state.best_file if state else ""
        self._taken_epochs = counters.epochs_done
        self._most_lost = max(1, int(_MOST_LOST * ready.sizes.epochs))
        self._given = given_checksum(ready.compiled)
        self._best: KeptModel | None = None
        self._keeper = CheckpointWriter(job.run, before=job.events.secure, report=self._log_outcome)

    def go_on(self, ready: PreparedTraining) -> None:
        """Called when the next phase begins, with what is trained in it."""
        self._ready, self._compiled = ready, ready.compiled
        self._given = given_checksum(ready.compiled)

    def after_phase(self) -> None:
        """At the end of a phase that another follows: keeps a checkpoint of both."""
        with self._ready.ledger.spending("saving"):
            self._keeper.write_soon(self._checkpoint(has_ended_epoch=True))

    def after_call(self) -> None:
        """Between two calls of an epoch: keeps a checkpoint when a minute is over."""
        if self._keeper.is_due(is_epoch_end=False):
            with self._ready.ledger.spending("saving"):
                self._keeper.write_soon(self._checkpoint())

    def after_epoch(self, *, is_best: bool) -> None:
        """At an epoch's end: keeps a checkpoint and the weights, if not just done.

        Raises:
            NotFiniteError: a weight is not a number.
        """
        # A completed run that keeps none needs none of its end: its weights are saved at once.
        is_end = self._position.epochs_done >= self._ready.sizes.epochs
        is_wanted = self._keeps_final or not is_end
        is_overdue = self._position.epochs_done - self._taken_epochs >= self._most_lost
        with self._ready.ledger.spending("saving"):
            if self._keeps_best and is_best:
                self._best = KeptModel(self._finite_weights(), self._position.epochs_done)
            if is_wanted and self._keeper.is_due(is_epoch_end=True, is_overdue=is_overdue):
                self._keeper.write_soon(self._checkpoint(has_ended_epoch=True))

    def close(self) -> None:
        """Ends the writing in the background."""
        self._keeper.close()

    def keep_place(self) -> None:
        """Keeps from where to go on, at the end of a training that was paused.

        Raises:
            SaveError: there is no room for it, also after waiting for some.
        """
        checkpoint = self._checkpoint()
        self._patiently(partial(self._keeper.write_now, checkpoint))

    def finish(self, *, is_completed: bool) -> KeptModel:
        """Keeps from where to go on, puts the weights to keep into the network and writes them,
        untested. On a full disk the weights come first: see `write_weights`.

        Raises:
            SaveError: the run's folder is gone.
            RunError: the weights were written to another folder, on request.
            NotFiniteError: a weight is not a number.
        """
        end = self._end() if self._keeps_final or not is_completed else None
        problem = self._tried(end)
        model = self._best_model() if self._keeps_best else None
        if model is None:
            model = KeptModel(self._finite_weights(), self._position.epochs_done)
        # The last ones too: averages are kept, and the network still has what it trained with.
        assign_weights(self._compiled.built, model.weights)
        # Before the test, which may take a while: a kill then loses nothing.
        write = partial(self._keeper.keep_model, model.weights, self._stamped(model.epoch))
        report = partial(self._log_outcome, self._position)
        write_weights(self._job, write, sum(each.nbytes for each in model.weights.values()), report)
        if problem is not None or not has_checkpoint(self._run):
            problem = self._tried(end)
        if problem is not None and not is_completed:
            self._events.log_line(
                f"The checkpoint of the end is missing: {problem.what} {resume_words(self._run)}",
                level="warning",
            )
        return model

    def _end(self) -> CheckpointData | None:
        """The state now; None where the last checkpoint is of it."""
        counters, last = self._position, self._keeper.written
        if last is not None and (last.step, last.epochs_done) == (
            counters.step,
            counters.epochs_done,
        ):
            return None
        return self._checkpoint()

    def _tried(self, end: CheckpointData | None) -> SaveError | None:
        """Writes a checkpoint, on a full disk for an older one; returns why it is not there."""
        if end is None:
            return None
        problem: SaveError | None = None
        for _ in range(2):
            try:
                self._keeper.write_now(end)
            except SaveError as error:
                problem = error
                if not is_full_disk(error):
                    break
                remove_older(self._run)
            else:
                return None
        self._log_outcome(end.state, problem)
        return problem

    def keep_test(self, test: TestResult) -> None:
        """Writes what the test said of the weights into their card.

        Raises:
            RunFolderError: the card is gone.
            SaveError: there is no room for it, also after waiting for some.
        """
        card = msgspec.structs.replace(self._run.model_card(), test=test)
        self._patiently(partial(write_card, self._run.path, card))

    def _finite_weights(self, arrays: Weights | None = None) -> Weights:
        """The weights as they are, those of a snapshot not copied once more.

        Raises:
            NotFiniteError: one is not a number.
        """
        if arrays is None or self._compiled.averaging.is_on:
            with self._compiled.averaging.applied():
                weights = read_weights(self._compiled.built)
        else:
            weights = weights_of(self._compiled, arrays)
        if not are_finite(weights):
            raise NotFiniteError
        return weights

    def _best_model(self) -> KeptModel | None:
        """The best epoch's weights; None where no epoch was finished."""
        if self._best is not None or self._position.best is None:
            return self._best
        try:
            weights = read_best(self._run, self._best_file)
        except WeightsError as error:
            self._events.log_line(
                f"The weights of the best epoch are lost; the last weights are saved: {error}",
                level="warning",
            )
            return None
        own = read_weights(self._compiled.built)
        given = {name: own[name] for name in self._compiled.given_weights}
        return KeptModel({**given, **weights}, self._position.best.epoch)

    def _checkpoint(self, *, has_ended_epoch: bool = False) -> CheckpointData:
        """A copy of all there is to keep now."""
        started = time.monotonic()
        new_best = self._new_best()
        arrays = snapshot_of_learned(self._compiled)
        model = self._model_to_write(arrays) if has_ended_epoch else None
        self._number += 1
        self._taken_epochs = self._position.epochs_done
        state = self._position.to_state(
            self._number,
            self._ready,
            rules=self._rules.state(),
            best_file=self._best_file,
            given=self._given,
        )
        return CheckpointData(
            state,
            {**arrays, **self._position.to_arrays()},
            best=self._learned(new_best.weights) if new_best else None,
            weights=model.weights if model else None,
            card=self._stamped(model.epoch) if model else None,
            copying_s=time.monotonic() - started,
        )

    def _model_to_write(self, arrays: Weights) -> KeptModel | None:
        """At an epoch's end: the weights to classify with; None where those on the disk are the
        same, or fresh enough.
        """
        is_due = self._keeper.is_model_due
        if self._keeps_best:
            best = self._best
            return best if best and is_due and best.epoch != self._keeper.model_epoch else None
        if is_due or not are_finite(arrays):
            return KeptModel(self._finite_weights(arrays), self._position.epochs_done)
        return None

    def _learned(self, weights: Weights) -> Weights:
        """Weights without those of frozen layers that come from a file again."""
        given = self._compiled.given_weights
        return {name: array for name, array in weights.items() if name not in given}

    def _new_best(self) -> KeptModel | None:
        """The best epoch's weights as long as they are not on the disk."""
        if self._best is None:
            return None
        self._best_file = best_name(self._best.epoch)
        return None if self._best_file == self._keeper.best_file else self._best

    def _stamped(self, kept_epoch: int) -> ModelCard:
        return msgspec.structs.replace(
            self._ready.card,
            epochs_done=self._position.epochs_done,
            kept_epoch=kept_epoch,
            best=self._position.best_epoch,
            kept=self._position.kept(self._recipe, kept_epoch),
        )

    def _log_outcome(self, state: TrainerState | TrainingCounters, error: SaveError | None) -> None:
        problem = error_parts(error) if error is not None else None
        event = CheckpointKept(step=state.step, epoch=state.epochs_done, problem=problem)
        self._events.log(event)

    def _patiently(self, write: Callable[[], None]) -> None:
        """Writes what the training ends with; waits for space where there is none."""
        deadline = time.monotonic() + _PATIENCE_S
        is_logged = False
        while True:
            try:
                write()
            except SaveError as error:
                if time.monotonic() > deadline or self._run.is_gone():
                    raise
                if not is_logged:
                    self._log_outcome(self._position, error)
                is_logged = True
                time.sleep(_RETRY_S)
            else:
                return


class NullCheckpointManager:
    """Writes nothing; has the interface of `CheckpointManager`, which the chief uses.

    Args:
        compiled: What is trained.
        receive_model: Waits for the weights that the chief keeps.
    """

    def __init__(self, compiled: Compiled, receive_model: Callable[[], KeptModel]) -> None:
        self._compiled = compiled
        self._receive_model = receive_model

    def go_on(self, ready: PreparedTraining) -> None:
        """Called when the next phase begins, with what is trained in it."""
        self._compiled = ready.compiled

    def after_call(self) -> None:
        """No-op: only the chief writes checkpoints."""

    def after_epoch(self, *, is_best: bool) -> None:
        """No-op: only the chief writes checkpoints."""

    def close(self) -> None:
        """No-op: only the chief writes checkpoints."""

    def keep_place(self) -> None:
        """No-op: only the chief writes checkpoints."""

    def keep_test(self, test: TestResult) -> None:
        """No-op: only the chief writes checkpoints."""

    def after_phase(self) -> None:
        """No-op: only the chief writes checkpoints."""

    def finish(self, *, is_completed: bool) -> KeptModel:  # noqa: ARG002 - as the other one
        """Puts the weights that the chief keeps into the network: all test them."""
        model = self._receive_model()
        assign_weights(self._compiled.built, model.weights)
        return model
