"""Writes checkpoints, weights and model card of a training in a thread of its own.

A run that is killed goes on from the checkpoint, and still classifies with the last epoch
that it finished.
"""

from __future__ import annotations

import contextlib
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from workbench.errors import RunFolderError, SaveError
from workbench.protocol.trained.calibration import Calibration
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard, read_card, write_card
from workbench.runs.store.checkpoint import (
    TrainerState,
    remove_old_best,
    write_best,
    write_checkpoint,
)
from workbench.runs.store.image_features import thresholds_alone
from workbench.runs.store.weights_file import write_arrays

_INTERVAL_S = 60.0
_PAUSE_S = 0.2
_MODEL_PAUSE_S = 1.0
_PAUSE_PER_COST = 200.0
"""Seconds between two checkpoints for each second of computing that one needs: half a percent, and
as much again for the weights that classify.
"""

_BUSY_S = 2.0
"""How long a checkpoint that has to be made waits for the one that is being written."""

_RETRY_S = 2.0
_MAX_TEXT = 600

Weights = dict[str, np.ndarray[Any, Any]]


def are_finite(weights: Weights) -> bool:
    """True when no weight is NaN or infinite."""
    return all(
        bool(np.isfinite(array).all()) for array in weights.values() if array.dtype.kind == "f"
    )


@dataclass(frozen=True)
class KeptModel:
    """Weights that classify, and the epoch they are of."""

    weights: Weights
    epoch: int


@dataclass(frozen=True)
class CheckpointData:
    """What is written at one time.

    Attributes:
        state, arrays: The checkpoint.
        best: Weights of the state's best epoch, where they are not on the disk yet.
        weights, card: To classify with; None to leave those that are there.
        copying_s: Seconds that the training was paused for it.
    """

    state: TrainerState
    arrays: Weights
    best: Weights | None = None
    weights: Weights | None = None
    card: ModelCard | None = None
    copying_s: float = 0.0


class _Pace:
    """How often something is written: the rarer the more it costs."""

    def __init__(self, least_s: float) -> None:
        self._least_s = least_s
        self._at = time.monotonic()
        self.pause_s = least_s

    def took(self, cost_s: float) -> None:
        """Sets the pause before the next checkpoint by the cost of the last one, in seconds."""
        self.pause_s = min(_INTERVAL_S, max(self._least_s, _PAUSE_PER_COST * cost_s))

    def restart(self) -> None:
        """Restarts the clock: a checkpoint was just written, or tried to."""
        self._at = time.monotonic()

    @property
    def age_s(self) -> float:
        """Seconds since then."""
        return time.monotonic() - self._at


class CheckpointWriter:
    """Writes checkpoints one after another.

    Args:
        run: Where to.
        before: Called before each checkpoint: puts the event log on the disk, so that no
            checkpoint is ahead of its curve. May raise SaveError.
        report: Called in that thread with what was kept, and the error where it was not.

    Attributes:
        best_file: Name of the best epoch's file that was written last.
        written: State of the checkpoint that was written last; None before the first.
        model_epoch: Epoch of the weights that were written last to classify with.
    """

    def __init__(
        self,
        run: RunFolder,
        *,
        before: Callable[[], None],
        report: Callable[[TrainerState, SaveError | None], None],
    ) -> None:
        self._run = run
        self._before = before
        self._report = report
        self._wake = threading.Condition()
        self._waiting: CheckpointData | None = None
        self._is_busy = False
        self._is_closed = False
        self._pace = _Pace(_PAUSE_S)
        self._model_pace = _Pace(_MODEL_PAUSE_S)
        self._has_tried = False
        self._has_problem = False
        self.best_file = ""
        self.written: TrainerState | None = None
        self.model_epoch: int | None = None
        self._has_loosened_card = False
        self._thresholds: Calibration | None = None
        self._thread = threading.Thread(target=self._work, name="keeper", daemon=True)
        self._thread.start()

    def is_due(self, *, is_epoch_end: bool, is_overdue: bool = False) -> bool:
        """Whether a checkpoint should be made now: after a minute, at an epoch's end if there
        is none yet or the last one is not too fresh, and soon after one that could not be
        written. One that is overdue waits a moment for one that is being written.
        """
        if is_overdue and not self._has_problem:
            return self._is_idle_soon()
        if self._is_busy or self._waiting is not None:
            return False
        if is_epoch_end and not self._has_tried:
            return True
        if self._has_problem:
            return self._pace.age_s >= _RETRY_S
        pause_s = self._pace.pause_s
        return self._pace.age_s >= (pause_s if is_epoch_end else max(pause_s, _INTERVAL_S))

    @property
    def is_model_due(self) -> bool:
        """Whether weights that classify should be written with the next checkpoint."""
        is_first = self.model_epoch is None
        return is_first or self._has_problem or self._model_pace.age_s >= self._model_pace.pause_s

    def _is_idle_soon(self) -> bool:
        with self._wake:
            return self._wake.wait_for(
                lambda: not self._is_busy and self._waiting is None, timeout=_BUSY_S
            )

    def write_soon(self, checkpoint: CheckpointData) -> None:
        """Hands over what is to be written; returns at once."""
        with self._wake:
            self._waiting = checkpoint
            self._wake.notify_all()

    def close(self) -> None:
        """Writes what waits and ends the thread."""
        with self._wake:
            self._is_closed = True
            self._wake.notify_all()
        self._thread.join()

    def write_now(self, checkpoint: CheckpointData) -> None:
        """Writes and reports; call after `close`.

        Raises:
            SaveError: it could not be written; what was kept before is unharmed.
        """
        self._write(checkpoint)
        self._report(checkpoint.state, None)

    def keep_model(self, weights: Weights, card: ModelCard, run: RunFolder) -> None:
        """Writes the final weights, and a card that names them, into the folder of the run or of
        a copy of it; call after `close`.

        Raises:
            SaveError: they could not be written; those of an earlier epoch are unharmed.
        """
        if run == self._run:
            self._loosen_card()
        checksum = write_arrays(run.weights_path, weights)
        self._write_card(msgspec.structs.replace(card, checksum=checksum), run)

    def _work(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._waiting is not None or self._is_closed)
                checkpoint, self._waiting = self._waiting, None
                self._is_busy = checkpoint is not None
            if checkpoint is None:
                return
            state = checkpoint.state
            try:
                problem = self._try(checkpoint)
                self._has_problem = problem is not None
            finally:
                del checkpoint  # not held while the next one is made
                self._has_tried = True
                self._pace.restart()
                with self._wake:
                    self._is_busy = False
                    self._wake.notify_all()
            self._report(state, problem)

    def _try(self, checkpoint: CheckpointData) -> SaveError | None:
        try:
            self._write(checkpoint)
        except SaveError as error:
            return error
        except Exception as error:  # noqa: BLE001 - reported and tried again
            # Nothing checks this thread: an exception here would end all checkpointing, unnoticed.
            traceback.print_exception(error)
            return SaveError(
                "The checkpoint could not be created.",
                where=type(error).__name__,
                received=str(error).strip()[:_MAX_TEXT],
                fix="Workbench tries again soon; the run log has the details.",
            )
        return None

    def _write(self, checkpoint: CheckpointData) -> None:
        begun = time.thread_time()
        self._before()
        state = checkpoint.state
        best_file = self.best_file
        try:
            if checkpoint.best is not None and state.best is not None:
                best_file = write_best(self._run, state.best.epoch, checkpoint.best)
            write_checkpoint(self._run, state, checkpoint.arrays)
        except SaveError:
            # The best epoch's file of a checkpoint that is not there would only fill the disk.
            with contextlib.suppress(SaveError):
                remove_old_best(self._run)
            raise
        if checkpoint.best is not None:
            remove_old_best(self._run)
        self._pace.took(time.thread_time() - begun + checkpoint.copying_s)
        if checkpoint.weights is not None and checkpoint.card is not None:
            begun = time.thread_time()
            self._loosen_card()
            write_arrays(self._run.weights_path, checkpoint.weights)
            # The card names no checksum before the end: a kill between the two files must not
            # part them. The weights file checks itself.
            self._write_card(checkpoint.card)
            self.model_epoch = checkpoint.card.kept_epoch
            self._model_pace.took(time.thread_time() - begun)
            self._model_pace.restart()
        # Last of all: what fails on the way is brought once more by the next checkpoint.
        self.best_file = best_file
        self.written = state

    def _write_card(self, card: ModelCard, run: RunFolder | None = None) -> None:
        """Writes a card with the thresholds that people have chosen for the run."""
        write_card(
            (run or self._run).path, msgspec.structs.replace(card, calibration=self._thresholds)
        )

    def _loosen_card(self) -> None:
        """Removes the checksum from a card that an earlier trainer of this run has left: its
        weights are about to be replaced, and a kill would leave it with others. Of its
        calibration, the thresholds stay.
        """
        if self._has_loosened_card:
            return
        try:
            card = read_card(self._run.path)
        except RunFolderError:  # there is none, or none that could part from its weights
            card = None
        if card is not None:
            self._thresholds = thresholds_alone(card.calibration)
        if card is not None and card.checksum:
            write_card(self._run.path, msgspec.structs.replace(card, checksum=""))
        self._has_loosened_card = True
