"""Counters of a training: steps and epochs done, and the values of the current epoch."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec
import numpy as np

from workbench.core.training.recipe import TrainingRecipe
from workbench.protocol.events import BestEpoch, EpochFinished
from workbench.protocol.weights import KeptWeights
from workbench.runs.store.checkpoint import TrainerState
from workbench.worker.checkpoints.prepared import PreparedTraining
from workbench.worker.step.training_loop import Scores, StepResults

_LOSSES, _ACCURACIES = "epoch/losses", "epoch/accuracies"

Floats = np.ndarray[Any, np.dtype[np.float32]]


@dataclass
class TrainingCounters:
    """Counters of a training; all of it goes into checkpoints and comes back from them.

    Attributes:
        step: Steps done, or left out.
        epochs_done: Whole epochs done, validation included, or left out.
        best: The best epoch so far.
        scores: Validation scores of the best and the last epoch, by epoch.
        losses, accuracies: Batch values of the current epoch, one array (steps,) per call.
        epoch_training_s: Seconds spent in training calls of the current epoch.
        begun: `time.monotonic()` when this trainer began.
        seconds_before: Seconds that the trainers before this one have worked.
    """

    step: int = 0
    epochs_done: int = 0
    best: EpochFinished | None = None
    scores: dict[int, Scores] = field(default_factory=dict)
    losses: list[Floats] = field(default_factory=list)
    accuracies: list[Floats] = field(default_factory=list)
    epoch_training_s: float = 0.0
    begun: float = field(default_factory=time.monotonic)
    seconds_before: float = 0.0
    _epoch_before: float = 0.0
    _epoch_begun: float = field(default_factory=time.monotonic)

    @classmethod
    def of(
        cls, state: TrainerState, arrays: Mapping[str, Floats], begun: float
    ) -> TrainingCounters:
        """The counters of a checkpoint, from its state and its arrays by name."""
        return cls(
            step=state.step,
            epochs_done=state.epochs_done,
            best=state.best,
            scores={epoch: Scores(**values) for epoch, values in state.scores.items()},
            losses=[arrays[_LOSSES]],
            accuracies=[arrays[_ACCURACIES]],
            epoch_training_s=state.epoch_training_s,
            seconds_before=state.seconds,
            _epoch_before=state.epoch_seconds,
            begun=begun,
        )

    @property
    def seconds(self) -> float:
        """Since the run began, without the time between its trainers."""
        return self.seconds_before + time.monotonic() - self.begun

    @property
    def epoch_seconds(self) -> float:
        """Since the epoch under way began, without the time between trainers."""
        return self._epoch_before + time.monotonic() - self._epoch_begun

    @property
    def steps_of_epoch(self) -> int:
        """Steps done of the epoch under way."""
        return sum(map(len, self.losses))

    @property
    def best_epoch(self) -> BestEpoch | None:
        """The best epoch as it is written in the last event and the model card."""
        return BestEpoch.of(self.best) if self.best is not None else None

    def go_on(self) -> None:
        """Called when the steps begin: getting there is no part of the epoch."""
        self._epoch_begun = time.monotonic()

    def add(self, results: StepResults) -> None:
        """Adds the steps of one call."""
        self.step += len(results.losses)
        self.losses.append(results.losses)
        self.accuracies.append(results.accuracies)
        self.epoch_training_s += results.seconds

    def means(self) -> tuple[float, float]:
        """Mean loss and accuracy of the epoch under way; however its steps were called."""
        loss = np.concatenate(self.losses).mean(dtype=np.float64)
        return float(loss), float(np.concatenate(self.accuracies).mean(dtype=np.float64))

    def finish_epoch(self, epoch: EpochFinished, scores: Scores | None, *, is_best: bool) -> None:
        """Closes the epoch under way and opens the next."""
        self.epochs_done = epoch.epoch
        if is_best:
            self.best = epoch
        kept = {self.best.epoch if self.best else 0, epoch.epoch}
        if scores is not None:
            self.scores[epoch.epoch] = scores
        self.scores = {number: one for number, one in self.scores.items() if number in kept}
        self.losses, self.accuracies = [], []
        self.epoch_training_s = self._epoch_before = 0.0
        self._epoch_begun = time.monotonic()

    def skip_to(self, epochs: int, steps_per_epoch: int) -> None:
        """Leaves out the epochs up to a number: those of a head that early stopping has ended.
        Batches and learning rates follow from a step's number: fine-tuning has those that it has
        behind a head trained to its end.
        """
        self.epochs_done, self.step = epochs, epochs * steps_per_epoch
        self._epoch_begun = time.monotonic()

    def kept(self, recipe: TrainingRecipe, epoch: int) -> KeptWeights:
        """Which weights those are that are saved now as the ones of `epoch`."""
        is_best = recipe.keep == "best" and self.best is not None
        is_partial = not is_best and self.steps_of_epoch > 0
        scores = None if is_partial else self.scores.get(epoch)
        is_finite = scores is not None and math.isfinite(scores.accuracy)
        return KeptWeights(
            epoch=epoch,
            kind="best" if is_best else "last",
            is_partial=is_partial,
            is_averaged=bool(recipe.ema_decay),
            val_accuracy=float(scores.accuracy) if scores is not None and is_finite else None,
            is_chosen_on_test=is_best and recipe.validation == "test",
        )

    def to_state(
        self,
        number: int,
        ready: PreparedTraining,
        *,
        rules: dict[str, Any],
        best_file: str,
        given: str,
    ) -> TrainerState:
        """What a checkpoint holds beside its arrays."""
        return TrainerState(
            number=number,
            step=self.step,
            epochs_done=self.epochs_done,
            seconds=self.seconds,
            epoch_seconds=self.epoch_seconds,
            epoch_training_s=self.epoch_training_s,
            best=self.best,
            best_file=best_file,
            scores={epoch: _plain(scores) for epoch, scores in self.scores.items()},
            rules=rules,
            plan=ready.compiled.plan,
            machine=ready.machine,
            data=ready.data,
            given=given,
        )

    def to_arrays(self) -> dict[str, Floats]:
        """The values of the epoch under way."""
        empty = np.empty(0, np.float32)
        return {
            _LOSSES: np.concatenate([empty, *self.losses]),
            _ACCURACIES: np.concatenate([empty, *self.accuracies]),
        }


def _plain(scores: Scores) -> dict[str, Any]:
    """The numbers of scores; the confusion matrix is kept in its own file."""
    return dict(msgspec.to_builtins(replace(scores, confusion=None)))
