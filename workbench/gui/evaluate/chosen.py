"""Which images of an evaluation are shown. Qt-free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from workbench.gui.common.confusion_matrix import ANY
from workbench.runs.store.image_scores import Numbers, ScoredImages


@dataclass(frozen=True)
class Chosen:
    """A choice of images.

    Attributes:
        actual, predicted: Numbers of classes; ANY for all.
        is_wrong: Those alone that were predicted as another class.
    """

    actual: int = ANY
    predicted: int = ANY
    is_wrong: bool = False

    def numbers(self, images: ScoredImages) -> Numbers:
        """The chosen images, the largest loss first."""
        found = images.worst_first
        if self.actual != ANY:
            found = found[images.actual[found] == self.actual]
        if self.predicted != ANY:
            found = found[images.predicted[found] == self.predicted]
        if self.is_wrong:
            found = found[images.actual[found] != images.predicted[found]]
        return np.asarray(found, np.int64)

    def words(self, names: Sequence[str]) -> str:
        """The choice in words."""
        actual = f"actual {names[self.actual]}" if self.actual != ANY else ""
        predicted = f"predicted {names[self.predicted]}" if self.predicted != ANY else ""
        if not actual and not predicted:
            return "Top losses" if self.is_wrong else "All images"
        words = ", ".join(filter(None, (actual, predicted)))
        return words[:1].upper() + words[1:]


TOP_LOSSES, ALL = Chosen(is_wrong=True), Chosen()
