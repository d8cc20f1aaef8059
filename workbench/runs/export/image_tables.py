"""Tables with a row for each image, as CSV: of classified images, and of an evaluation.

classified   file, class, label, probability, error, unknown; then the probability of each class.
             `class` is the actual one: the column is there where true classes are known. `label` is
             the most probable class; empty where `unknown` is the reason why the answer is
             "unknown".
evaluated    file, class, label, probability, loss; the largest loss first. A loss that is not
             finite is an empty cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.core.format import path_text
from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import Classified, Score
from workbench.protocol.trained.evaluate import ImageScores, ImageSet
from workbench.runs.export.tables import csv_cells, without_guard
from workbench.runs.log.scores import SET_IMAGES


@dataclass(frozen=True)
class ClassifiedColumns:
    """The columns of a table of classified images, the same in window and terminal.

    Attributes:
        class_names: The model's classes, in order of their names.
        has_truth: Whether there is a column for the actual class.
    """

    class_names: tuple[str, ...]
    has_truth: bool = False

    @classmethod
    def of(cls, class_names: Iterable[str], *, has_truth: bool = False) -> ClassifiedColumns:
        """The columns for the classes of a model."""
        return cls(tuple(sorted(class_names)), has_truth)

    @classmethod
    def of_header(cls, header: Sequence[str]) -> ClassifiedColumns:
        """Those of a table with this header, as it was read from the file."""
        names = [without_guard(name) for name in header]
        has_truth = names[1:2] == ["class"]
        found = cls(tuple(names[5 + has_truth :]), has_truth)
        if found.header() != names:
            raise ValueError("other columns")
        return found

    def header(self) -> list[str]:
        """The names of the columns."""
        truth = ["class"] if self.has_truth else []
        return ["file", *truth, "label", "probability", "error", "unknown", *self.class_names]

    def cells(self, answer: Classified) -> list[str]:
        """A row. `answer` has the scores of all classes, or an error."""
        by_name = {score.name: score.probability for score in answer.scores}
        names = self.class_names
        probabilities = [max(by_name.values(), default=None), *(by_name.get(n) for n in names)]
        first, *others = map(_number, probabilities)
        error = answer.error.what if answer.error is not None else ""
        truth = [answer.truth] if self.has_truth else []
        label = shown_label(answer)
        return [path_text(answer.file), *truth, label, first, error, answer.unknown, *others]

    def answer(self, cells: Sequence[str]) -> Classified:
        """What a row says, as it was read from the file; the scores of all classes, highest first.

        Raises:
            ValueError: it is no row of these columns.
        """
        if len(cells) != len(self.header()):
            raise ValueError(f"{len(cells)} cells, not {len(self.header())}")
        file, *rest = map(without_guard, cells)
        truth = rest.pop(0) if self.has_truth else ""
        label, _, error, unknown, *shares = rest
        pairs = zip(self.class_names, shares, strict=True)
        scores = [Score(name=name, probability=float(share)) for name, share in pairs if share]
        scores.sort(key=lambda score: (-score.probability, score.name != label))
        parts = ErrorParts(what=error) if error else None
        return Classified(
            file=file,
            label=scores[0].name if unknown and scores else label,
            unknown=unknown,
            scores=scores,
            error=parts,
            truth=truth,
        )


def shown_label(answer: Classified) -> str:
    """What is in the column `label`."""
    return "" if answer.unknown else answer.label


def evaluated_csv(images: ImageScores, class_names: Sequence[str], part: ImageSet = "test") -> str:
    """The table of an evaluation on a set of images. An image without a file has its number in
    that, for a test image as `workbench classify --test` takes it.
    """
    one = SET_IMAGES[part].removesuffix("s")
    lines = [csv_cells(["file", "class", "label", "probability", "loss"])]
    for place in largest_loss_first(images):
        name = images.files[place] if images.files else f"{one} {place}"
        classes = class_names[images.actual[place]], class_names[images.predicted[place]]
        numbers = _number(images.probability[place]), _number(images.loss[place])
        lines.append(csv_cells([name, *classes, *numbers]))
    return _text(lines)


def largest_loss_first(images: ImageScores) -> list[int]:
    """The places of the images, by loss; one that is not finite is the largest."""
    losses = np.array([np.inf if loss is None else loss for loss in images.loss])
    order: list[int] = np.argsort(-losses, kind="stable").tolist()
    return order


def _number(value: float | None) -> str:
    """Not below 0, where rounding has made it so: a cell may not begin like a formula."""
    return "" if value is None else f"{max(0.0, value):.6f}"


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
