"""What follows from how training goes: the best epoch, an early end, a lower learning rate.

All three look at one value, the recipe's `keep_by`. Their memory is a plain dict, so that a
checkpoint can hold it.

The best epoch is that of the whole training, also where the head's is better than all of
fine-tuning. Patience and plateau belong to a phase: each compares with its own best epoch, since
fine-tuning may begin worse than the head has ended, and it begins at a rate of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from workbench.core.format import count, plural
from workbench.core.training.recipe import TrainingRecipe

# phases --------------------------------------------------------------------------------------
# The phases of a training: the head on frozen layers first, then fine-tuning.


@dataclass(frozen=True)
class Phase:
    """Consecutive epochs with one set of trainable layers: of the head, or of fine-tuning.

    Attributes:
        recipe: By which it is trained; its learning rate is that of this phase.
        first_epoch: Epochs before it.
        end_epoch: Epochs done when it is over.
        is_fine_tuning: Whether the layers marked for fine-tuning learn.
    """

    recipe: TrainingRecipe
    first_epoch: int
    end_epoch: int
    is_fine_tuning: bool = False

    def learns(self, training: str) -> bool:
        """Whether the weights of a layer with that value of `Node.training` change in it."""
        return training == "always" or (self.is_fine_tuning and training == "fine_tuning")


def phases_of(recipe: TrainingRecipe) -> tuple[Phase, ...]:
    """The phases of a training in their order, one or two."""
    head = Phase(recipe, 0, recipe.head_epochs)
    if not recipe.has_fine_tuning:
        return (head,)
    tuning = Phase(recipe.in_fine_tuning(), head.end_epoch, recipe.epochs, is_fine_tuning=True)
    return head, tuning


def phase_after(recipe: TrainingRecipe, epochs_done: int) -> Phase:
    """The phase that the next epoch belongs to; the last one when all are done."""
    phases = phases_of(recipe)
    return next((phase for phase in phases if epochs_done < phase.end_epoch), phases[-1])


# progress rules ------------------------------------------------------------------------------


class EpochValues(Protocol):
    """The means of one epoch; None is "not measured" or "not finite"."""

    @property
    def epoch(self) -> int: ...
    @property
    def loss(self) -> float | None: ...
    @property
    def accuracy(self) -> float | None: ...
    @property
    def val_loss(self) -> float | None: ...
    @property
    def val_accuracy(self) -> float | None: ...
    @property
    def top_k_accuracy(self) -> float | None: ...


E = TypeVar("E", bound=EpochValues)


@dataclass(frozen=True)
class Verdict:
    """What an epoch changes.

    Attributes:
        is_best: It is the best so far.
        stop_words: Why training ends here, or its phase; "" when it goes on.
        rate_scale: What the schedule's learning rates are multiplied with from now on.
        words: That the rate has just fallen, for the log; "" otherwise.
    """

    is_best: bool
    stop_words: str
    rate_scale: float
    words: str


Score = tuple[float, float]

WORST: Score = (-math.inf, -math.inf)


def _score(plain: Sequence[float | None] | None) -> Score:
    value, loss = plain or (None, None)
    return _or_worst(value), _or_worst(loss)


def _plain(score: Score) -> list[float | None]:
    return [None if math.isinf(part) else part for part in score]


def epoch_score(epoch: EpochValues, keep_by: str) -> Score:
    """The value that `keep_by` means, turned so that more is better; of equals, less loss.

    With few validation images many epochs are equal, the untrained first ones too: there
    the loss decides which has learned more. Without validation the training's own values are
    used. What is not a number is minus infinity.
    """
    # A log of a newer Workbench may name a value that this one does not define.
    value = _VALUES.get(keep_by, _accuracy)(epoch)
    loss = _loss(epoch)
    return WORST if value is None else (value, _or_worst(loss))


def _loss(epoch: EpochValues) -> float | None:
    """The loss of an epoch with its sign turned, as less is better; that of validation where
    measured.
    """
    loss = epoch.loss if epoch.val_accuracy is None else epoch.val_loss
    return None if loss is None else -loss


def _or_worst(value: float | None) -> float:
    return -math.inf if value is None else value


def _accuracy(epoch: EpochValues) -> float | None:
    return epoch.accuracy if epoch.val_accuracy is None else epoch.val_accuracy


def _top_k(epoch: EpochValues) -> float | None:
    return _accuracy(epoch) if epoch.top_k_accuracy is None else epoch.top_k_accuracy


_VALUES: Mapping[str, Callable[[EpochValues], float | None]] = {
    "val_accuracy": _accuracy,
    "val_loss": _loss,
    "top_k": _top_k,
    "loss": lambda epoch: None if epoch.loss is None else -epoch.loss,
}


class BestSoFar(Generic[E]):
    """Keeps the best of the epochs it is given, by the recipe's `keep_by`; of equals the first.

    Attributes:
        epoch: The best epoch; None before the first that has a value.
    """

    def __init__(self, keep_by: str) -> None:
        self.keep_by = keep_by
        self.epoch: E | None = None
        self._score = WORST
        self._is_validated = False

    def took(self, epoch: E) -> None:
        """Takes in a finished epoch; call once for each, in order. Once one was validated, the
        others are not compared with it, unless by the training loss.
        """
        score, best = epoch_score(epoch, self.keep_by), self.epoch
        is_validated, was = epoch.val_accuracy is not None, self._is_validated
        self._is_validated = was or is_validated
        is_alike = is_validated == was or self.keep_by == "loss" or best is None
        if (is_alike and score > self._score) or (not is_alike and is_validated):
            self.epoch, self._score = epoch, score


class ProgressRules:
    """Judges epoch by epoch. Call `begin` before the epochs of each phase.

    Args:
        recipe: Its `keep_by`, `early_stopping_patience`, and the plateau's values.
        state: From `state()` of rules that saw the epochs before.
        patience_from: The epoch from which the patience of early stopping is counted, where a run
            that it had ended goes on; 0 for the best epoch of the phase.

    Attributes:
        best_epoch: Number of the best epoch of all; 0 before the first.
        rate_scale: Factor upon the schedule's learning rates.
    """

    def __init__(
        self,
        recipe: TrainingRecipe,
        state: Mapping[str, Any] | None = None,
        *,
        patience_from: int = 0,
    ) -> None:
        state = state or {}
        self._patience_from = patience_from
        self._recipe = recipe
        self._peak_rate = recipe.peak_rate
        self._next_phase = ""
        best, number = state.get("best_score"), int(state.get("best_epoch", 0))
        self._best_score = _score(best)
        self.best_epoch = number
        # Checkpoints of earlier versions have one best epoch for both phases.
        self._phase_score = _score(state.get("phase_best_score", best))
        self._phase_best = int(state.get("phase_best_epoch", number))
        self._since_fall = int(state.get("since_fall", 0))
        self.rate_scale = float(state.get("rate_scale", 1.0))
        self._seen = int(state.get("seen", 0))

    def state(self) -> dict[str, Any]:
        """All that `__init__` needs to go on from here; values that JSON holds exactly."""
        return {
            "best_score": _plain(self._best_score),
            "best_epoch": self.best_epoch,
            "phase_best_score": _plain(self._phase_score),
            "phase_best_epoch": self._phase_best,
            "since_fall": self._since_fall,
            "rate_scale": self.rate_scale,
            "seen": self._seen,
        }

    def begin(self, phase: Phase) -> None:
        """Goes on with a phase; starts counting again unless they have seen an epoch of it."""
        self._next_phase = ""
        if phase.end_epoch < self._recipe.epochs:
            self._next_phase = f" Fine-tuning begins, with epoch {count(phase.end_epoch + 1)}."
        self._peak_rate = phase.recipe.peak_rate
        if self._seen <= phase.first_epoch:
            self._phase_score, self._phase_best = WORST, phase.first_epoch
            self._since_fall, self.rate_scale = 0, 1.0

    def took(self, epoch: EpochValues) -> Verdict:
        """Takes in a finished epoch; call once for each, in order."""
        self._seen = epoch.epoch
        if epoch.epoch % self._recipe.judged_every:
            return Verdict(is_best=False, stop_words="", rate_scale=self.rate_scale, words="")
        score = epoch_score(epoch, self._recipe.keep_by)
        is_best = score > self._best_score
        self._since_fall += 1
        if is_best:
            self._best_score, self.best_epoch = score, epoch.epoch
        if score > self._phase_score:
            self._phase_score, self._phase_best, self._since_fall = score, epoch.epoch, 0
        words = self._fall()
        return Verdict(is_best, self.stop_words, self.rate_scale, words)

    @property
    def stop_words(self) -> str:
        """Why the phase ends after the epochs seen so far; "" when it goes on."""
        patience = self._recipe.early_stopping_patience
        every = self._recipe.judged_every
        waited = self._seen // every - max(self._phase_best, self._patience_from) // every
        if patience is None or waited < patience:
            return ""
        values = plural(waited, "epoch" if every == 1 else "validation")
        return (
            f"Early stopping: {_titles(self._recipe)} has not improved for {values}. "
            f"Best epoch: {self.best_epoch:,}.{self._next_phase}"
        )

    def _fall(self) -> str:
        """Lowers the rate where it is time to; returns the message."""
        recipe = self._recipe
        is_over = self._since_fall >= recipe.plateau_patience
        if not (recipe.schedule_spec.follows_metric and is_over):
            return ""
        self._since_fall = 0
        self.rate_scale *= recipe.decay_factor
        return (
            f"Learning rate reduced to {self._peak_rate * self.rate_scale:.3g}: "
            f"{_titles(recipe)} has not improved for {recipe.plateau_patience:,} "
            f"{'epochs' if recipe.judged_every == 1 else 'validations'}."
        )


def _titles(recipe: TrainingRecipe) -> str:
    return {
        "val_accuracy": "validation accuracy" if recipe.validation != "none" else "accuracy",
        "val_loss": "validation loss" if recipe.validation != "none" else "loss",
        "top_k": f"top-{recipe.top_k} accuracy",
        "loss": "training loss",
    }[recipe.keep_by]
