"""What else changes in a training when its batch size does: steps, images, learning rate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from workbench.core.format import count, rate_text, share
from workbench.core.training.fields.schedule import SCALES, SCALINGS
from workbench.core.training.recipe import TrainingRecipe

# batch speeds --------------------------------------------------------------------------------
# Choice of the batch size by speeds that were measured while a computer has other work.
#
# Other programs make a measurement too low, batches that were made in advance too high. Two rules
# find it: a larger batch is no slower, and its step takes no less time than that of a smaller one.

NEARLY = 0.93
"""Share of the best speed that is as good: a smaller batch learns more in an epoch."""

_SUSPECT = 0.15
"""Measurements differ by a few percent on an idle computer; what breaks a rule by more is measured
again.
"""

_UNCERTAIN = 0.3
"""What still differs by more, after it was measured again, decides nothing."""


@dataclass(frozen=True)
class BatchSpeeds:
    """Measured speeds, at least one size.

    Attributes:
        measured: Images/s of each batch size, above 0: one number for each time it was measured.
    """

    measured: Mapping[int, Sequence[float]]

    @property
    def speeds(self) -> dict[int, float]:
        """Images/s of each size, rising sizes: the median of its measurements."""
        return {size: median(self.measured[size]) for size in sorted(self.measured)}

    def spread(self, size: int) -> float:
        """How far the measurements of a size are apart, 0..1 of the highest."""
        speeds = self.measured[size]
        return 1 - min(speeds) / max(speeds)

    @property
    def suspects(self) -> list[int]:
        """Sizes to be measured again, rising: both of each pair that contradicts the rules."""
        pairs = _contradictions(self.speeds, _SUSPECT)
        return sorted({size for pair in pairs for size in pair})

    @property
    def fastest(self) -> int:
        """The size with the highest speed."""
        speeds = self.speeds
        return max(speeds, key=lambda size: speeds[size])

    @property
    def suggested(self) -> int:
        """The smallest size that is nearly as fast as the fastest."""
        speeds = self.speeds
        return min(size for size in speeds if speeds[size] >= NEARLY * speeds[self.fastest])

    @property
    def unsteadiness(self) -> float:
        """By how much speeds go down and up again with the batch size, or the measurements of a
        size that decides differ where no two agree; the larger of both, 0..1.
        """
        decide = (self._disagreement(self.fastest), self._disagreement(self.suggested))
        return max(_deepest_dip(self.speeds), *decide)

    def _disagreement(self, size: int) -> float:
        """How far apart the two measurements are that agree best; 0 for a single one."""
        line = sorted(self.measured[size])
        return min((1 - low / high for low, high in pairwise(line)), default=0.0)

    @property
    def is_uncertain(self) -> bool:
        """Whether the figures do not carry a suggestion."""
        return self.unsteadiness > _UNCERTAIN

    @property
    def words(self) -> str:
        """What was found, in sentences."""
        speed = f"{self.suggested:,}: {self.speeds[self.suggested]:,.0f} images/s, "
        if not self.is_uncertain:
            return f"{speed}{self._place_words()}."
        return (
            f"Uncertain, as this computer is busy: measured speeds go up and down by "
            f"{100 * self.unsteadiness:.0f}%. Search again when no other program is working. "
            f"So far {speed}{self._place_words()}."
        )

    def _place_words(self) -> str:
        suggested, fastest, speeds = self.suggested, self.fastest, self.speeds
        if suggested == fastest:
            return "the fastest"
        slower = math.ceil(100 * (1 - speeds[suggested] / speeds[fastest]))
        return f"within {slower}% of the fastest ({fastest:,})"


def _contradictions(speeds: Mapping[int, float], tolerance: float) -> list[tuple[int, int]]:
    """Pairs (smaller, larger) where the larger batch is slower, or its step takes less time."""
    sizes = sorted(speeds)
    pairs = [(a, b) for at, a in enumerate(sizes) for b in sizes[at + 1 :]]
    keep = 1 - tolerance
    return [
        (a, b)
        for a, b in pairs
        if speeds[b] < keep * speeds[a] or b / speeds[b] < keep * a / speeds[a]
    ]


def _deepest_dip(speeds: Mapping[int, float]) -> float:
    """How far a size is below both a smaller and a larger one, 0..1 of the lower of both."""
    line = [speeds[size] for size in sorted(speeds)]
    dips = (
        1 - line[at] / min(max(line[:at]), max(line[at + 1 :])) for at in range(1, len(line) - 1)
    )
    return max(0.0, max(dips, default=0.0))


# batch change --------------------------------------------------------------------------------


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
