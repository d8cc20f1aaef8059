"""What it means to train a run for more epochs than were planned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.core.format import count, plural, rate_text
from workbench.core.training.learning_rates import rates_at
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.specs import Array

_SAMPLES = 256
"""Steps at which two plans are compared; schedules that differ do so nearly everywhere."""


@dataclass(frozen=True)
class LongerTraining:
    """A training that can go on after its last planned epoch.

    Attributes:
        recipe: By which it was trained, with the epochs that were planned.
        epochs_done: Whole epochs done, at least 1.
        step: Steps done.
        is_stopped_early: Early stopping ends it here.
    """

    recipe: TrainingRecipe
    epochs_done: int
    step: int
    is_stopped_early: bool = False

    @property
    def steps_per_epoch(self) -> int:
        """Steps of an epoch."""
        return max(1, self.step // max(1, self.epochs_done))

    def is_as_planned(self, epochs: int) -> bool:
        """Whether every step so far had the learning rate that it has in a training planned for
        `epochs` from its start.
        """
        steps = np.linspace(0, self.step - 1, min(self.step, _SAMPLES)).round()
        return bool((self._rates(steps, self.recipe.epochs) == self._rates(steps, epochs)).all())

    def words(self, epochs: int) -> list[str]:
        """What training to `epochs` in total means, in sentences."""
        return [
            *filter(None, (self.rate_words(epochs), self._patience_words())),
            self._kept_words(),
        ]

    def rate_words(self, epochs: int) -> str:
        """What becomes of the learning rate."""
        planned = f"a run planned for {plural(epochs, 'epoch')}"
        if self.is_as_planned(epochs):
            words = "The learning rate does not depend on the number of epochs"
            return (
                f"{words}."
                if self.is_stopped_early
                else f"{words}: the result is that of {planned}."
            )
        (last,) = self._rates(np.array([self.step - 1]), self.recipe.epochs)
        (following,) = self._rates(np.array([self.step]), epochs)
        return (
            f"The learning rate follows {self.recipe.schedule_spec.text} over "
            f"{plural(epochs, 'epoch')}: it continues at {rate_text(following)}, after "
            f"{rate_text(last)} in the last step. The result "
            f"differs from that of {planned}."
        )

    def _patience_words(self) -> str:
        patience = self.recipe.early_stopping_patience
        if not self.is_stopped_early or patience is None:
            return ""
        return (
            f"Early stopping ended it after {plural(self.epochs_done, 'epoch')}; its patience of "
            f"{plural(patience, 'epoch')} is counted from there."
        )

    def _kept_words(self) -> str:
        if self.recipe.keep == "best":
            return "The saved weights are replaced when an epoch is better than the best so far."
        return (
            f"The weights saved after epoch {count(self.epochs_done)} are replaced by later ones; "
            "export them first to keep them."
        )

    def _rates(self, steps: Array, epochs: int) -> Array:
        per_epoch = self.steps_per_epoch
        return rates_at(self.recipe, steps, epochs * per_epoch, per_epoch)
