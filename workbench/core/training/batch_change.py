"""What else changes in a training when its batch size does: steps, images, learning rate."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.core.format import count, rate_text, share
from workbench.core.training.fields.schedule import SCALES, SCALINGS
from workbench.core.training.recipe import TrainingRecipe


@dataclass(frozen=True)
class BatchChange:
    """A recipe with another batch size.

    Attributes:
        before: The recipe as it is.
        batch_size: The other size, at most `num_train`.
        num_train: Training images.
    """

    before: TrainingRecipe
    batch_size: int
    num_train: int

    @property
    def after(self) -> TrainingRecipe:
        """The recipe with the other size."""
        return self.before.with_values(batch_size=self.batch_size)

    def steps_per_epoch(self, recipe: TrainingRecipe) -> int:
        """Steps of an epoch of one of both recipes."""
        return recipe.steps_per_epoch or max(1, self.num_train // self._size(recipe))

    def images_per_epoch(self, recipe: TrainingRecipe) -> int:
        """Images that an epoch of one of both recipes trains on; some of them twice where it is
        more than one pass.
        """
        return self.steps_per_epoch(recipe) * self._size(recipe)

    def _size(self, recipe: TrainingRecipe) -> int:
        return min(recipe.batch_size, self.num_train)

    @property
    def words(self) -> list[str]:
        """The consequences in sentences; none where the size stays."""
        if self._size(self.after) == self._size(self.before):
            return []
        return [self._steps_words(), self._rate_words()]

    def _steps_words(self) -> str:
        before, after = self.before, self.after
        if before.steps_per_epoch is not None:
            return (
                f"Steps per epoch stays {count(before.steps_per_epoch)}, so an epoch trains on "
                f"{count(self.images_per_epoch(after))} images instead of "
                f"{count(self.images_per_epoch(before))} ({self._passes_words()})."
            )
        return (
            f"An epoch has {count(self.steps_per_epoch(after))} steps instead of "
            f"{count(self.steps_per_epoch(before))}."
        )

    def _passes_words(self) -> str:
        passes = self.images_per_epoch(self.after) / self.num_train
        if passes <= 1:
            return f"{share(passes, 0)} of the training set"
        return f"{passes:.3g} passes over the training set"

    def _rate_words(self) -> str:
        before, after = self.before, self.after
        if before.rate_scaling != "none":
            return (
                f"LR scaling ({SCALINGS[before.rate_scaling]}) changes the learning rate from "
                f"{rate_text(before.peak_rate)} to {rate_text(after.peak_rate)}."
            )
        scaling = before.optimizer_spec.rate_scaling
        times = self._size(after) / self._size(before)
        usual = before.learning_rate * SCALES[scaling](times)
        return (
            f"The learning rate stays {rate_text(before.learning_rate)}; {SCALINGS[scaling]} "
            f"scaling, usual for {before.optimizer_spec.text}, would make it {rate_text(usual)}."
        )
