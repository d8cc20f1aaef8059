"""Checkpoints of a training: when they are taken, which weights, and their model card."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import msgspec

from workbench.core.training.progress_rules import ProgressRules
from workbench.errors import SaveError, WeightsError
from workbench.protocol.events import CheckpointKept, TestResult
from workbench.protocol.wire import error_parts
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.store.checkpoint import TrainerState, best_name, read_best
from workbench.worker.checkpoints.counters import TrainingCounters
from workbench.worker.checkpoints.prepared import PreparedTraining, TrainingJob
from workbench.worker.checkpoints.snapshot import snapshot, weights_of
from workbench.worker.checkpoints.writer import (
    CheckpointData,
    CheckpointWriter,
    KeptModel,
    Weights,
    are_finite,
)
from workbench.worker.execution.compiled import Compiled
from workbench.worker.model.build import assign_weights, read_weights

_PATIENCE_S = 120.0
_RETRY_S = 1.0


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
        self._run = job.run
        self._ready = ready
        self._compiled = ready.compiled
        self._position = counters
        self._rules = rules
        self._recipe = job.project.recipe
        self._keeps_best = self._recipe.keep == "best"
        self._events = job.events
        self._number = state.number if state else 0
        self._best_file = state.best_file if state else ""
        self._best: KeptModel | None = None
        self._keeper = CheckpointWriter(job.run, before=job.events.secure, report=self._log_outcome)

    def go_on(self, ready: PreparedTraining) -> None:
        """Called when the next phase begins, with what is trained in it."""
        self._ready, self._compiled = ready, ready.compiled

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
        with self._ready.ledger.spending("saving"):
            if self._keeps_best and is_best:
                self._best = KeptModel(self._finite_weights(), self._position.epochs_done)
            if self._keeper.is_due(is_epoch_end=True):
                self._keeper.write_soon(self._checkpoint(has_ended_epoch=True))

    def close(self) -> None:
        """Ends the writing in the background."""
        self._keeper.close()

    def keep_place(self) -> None:
        """Keeps from where to go on, at the end of a training that was stopped.

        Raises:
            SaveError: there is no room for it, also after waiting for some.
        """
        checkpoint = self._checkpoint()
        self._patiently(partial(self._keeper.write_now, checkpoint))

    def keep_end(self) -> None:
        """Keeps the end of a completed training, unless the last checkpoint is of it.

        Raises:
            SaveError: there is no room for it; what was kept before is unharmed.
        """
        counters, last = self._position, self._keeper.written
        if last is None or (last.step, last.epochs_done) != (counters.step, counters.epochs_done):
            self._keeper.write_now(self._checkpoint())

    def finish(self) -> KeptModel:
        """Puts the weights to keep into the network and writes them, untested.

        Raises:
            SaveError: there is no room for them, also after waiting for some.
            NotFiniteError: a weight is not a number.
        """
        model = self._best_model() if self._keeps_best else None
        if model is None:
            model = KeptModel(self._finite_weights(), self._position.epochs_done)
        # The last ones too: averages are kept, and the network still has what it trained with.
        assign_weights(self._compiled.built, model.weights)
        # Before the test, which may take a while: a kill then loses nothing.
        card = self._stamped(model.epoch)
        self._patiently(partial(self._keeper.keep_model, model.weights, card))
        return model

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
        return KeptModel(weights, self._position.best.epoch)

    def _checkpoint(self, *, has_ended_epoch: bool = False) -> CheckpointData:
        """A copy of all there is to keep now."""
        started = time.monotonic()
        new_best = self._new_best()
        model = new_best
        arrays = snapshot(self._compiled.state_variables())
        if has_ended_epoch and not self._keeps_best:
            model = KeptModel(self._finite_weights(arrays), self._position.epochs_done)
        self._number += 1
        state = self._position.to_state(
            self._number, self._ready, rules=self._rules.state(), best_file=self._best_file
        )
        return CheckpointData(
            state,
            {**arrays, **self._position.to_arrays()},
            best=new_best.weights if new_best else None,
            weights=model.weights if model else None,
            card=self._stamped(model.epoch) if model else None,
            copying_s=time.monotonic() - started,
        )

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
                if time.monotonic() > deadline or not self._run.request_path.exists():
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
        """Nothing."""

    def after_epoch(self, *, is_best: bool) -> None:
        """Nothing."""

    def close(self) -> None:
        """Nothing."""

    def keep_place(self) -> None:
        """Nothing."""

    def keep_end(self) -> None:
        """Nothing."""

    def keep_test(self, test: TestResult) -> None:
        """Nothing."""

    def finish(self) -> KeptModel:
        """Puts the weights that the chief keeps into the network: all test them."""
        model = self._receive_model()
        assign_weights(self._compiled.built, model.weights)
        return model
