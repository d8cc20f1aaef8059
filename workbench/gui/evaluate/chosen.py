"""Choice of the images of an evaluation that are shown. Qt-free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from workbench.gui.common.confusion_matrix import ANY
from workbench.runs.library.compare_images import ComparedImages
from workbench.runs.store.image_scores import Numbers, ScoredImages


@dataclass(frozen=True)
class OtherRun:
    """A run that the one shown is compared with: its folder, its name, what it has predicted."""

    path: Path
    title: str
    found: ComparedImages

    @property
    def num_relabeled(self) -> int:
        """Images whose actual class is another one there."""
        return int(self.found.is_relabeled.sum())


@dataclass(frozen=True)
class Chosen:
    """A choice of images.

    Attributes:
        actual, predicted: Numbers of classes; ANY for all.
        is_wrong: Those alone that were predicted as another class.
        change: Those alone that are right here and wrong in the other run ("gained"), or the
            reverse ("lost"), or whose actual class is another one there ("relabeled").
        name: Words for a choice by something else than classes, such as a slice; "" otherwise.
        only: Numbers of the images to choose from; None for all.
    """

    actual: int = ANY
    predicted: int = ANY
    is_wrong: bool = False
    change: Literal["", "gained", "lost", "relabeled"] = ""
    name: str = ""
    only: Numbers | None = field(default=None, compare=False)

    def numbers(self, images: ScoredImages, other: OtherRun | None = None) -> Numbers:
        """The chosen images, the largest loss first."""
        found = images.worst_first
        if self.only is not None:
            is_one = np.zeros(len(images), bool)
            is_one[self.only] = True
            found = found[is_one[found]]
        if self.actual != ANY:
            found = found[images.actual[found] == self.actual]
        if self.predicted != ANY:
            found = found[images.predicted[found] == self.predicted]
        if self.is_wrong:
            found = found[images.actual[found] != images.predicted[found]]
        if self.change and other is not None:
            marks = {
                "gained": other.found.is_gained,
                "lost": other.found.is_lost,
                "relabeled": other.found.is_relabeled,
            }
            found = found[marks[self.change][found]]
        return np.asarray(found, np.int64)

    def words(self, names: Sequence[str]) -> str:
        """The choice in words."""
        if self.name:
            return self.name
        if self.change == "relabeled":
            return "Labeled differently there"
        if self.change:
            here, there = ("Right", "wrong") if self.change == "gained" else ("Wrong", "right")
            return f"{here} here, {there} there"
        actual = f"actual {names[self.actual]}" if self.actual != ANY else ""
        predicted = f"predicted {names[self.predicted]}" if self.predicted != ANY else ""
        if not actual and not predicted:
            return "Wrong predictions" if self.is_wrong else "Top losses"
        words = ", ".join(filter(None, (actual, predicted)))
        return words[:1].upper() + words[1:]


WRONG, TOP_LOSSES = Chosen(is_wrong=True), Chosen()
GAINED, LOST = Chosen(change="gained"), Chosen(change="lost")
RELABELED = Chosen(change="relabeled")
