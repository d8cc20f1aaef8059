"""Tables with a row for each image, as CSV: of classified images, and of an evaluation.

classified   file, label, probability, error, unknown; then the probability of each class, where
             all are known. `label` is the most probable class; empty where `unknown` is the reason
             why the answer is "unknown".
evaluated    file, class, label, probability, loss; the largest loss first. `class` is the actual
             one; a loss that is not finite is an empty cell.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from workbench.protocol.classify import Classified
from workbench.protocol.evaluate import ImageScores
from workbench.runs.export.tables import csv_cells


def classified_csv(answers: Sequence[Classified]) -> str:
    """The table of classified images."""
    names = _common_classes(answers)
    lines = [csv_cells(["file", "label", "probability", "error", "unknown", *names])]
    for answer in answers:
        by_name = {score.name: score.probability for score in answer.scores}
        probabilities = [max(by_name.values(), default=None), *(by_name.get(n) for n in names)]
        first, *others = map(_number, probabilities)
        error = answer.error.what if answer.error is not None else ""
        label = "" if answer.unknown else answer.label
        lines.append(csv_cells([answer.file, label, first, error, answer.unknown, *others]))
    return _text(lines)


def evaluated_csv(images: ImageScores, class_names: Sequence[str]) -> str:
    """The table of an evaluation. An image without a file has its number in the data set's part,
    as `workbench classify --test` takes it.
    """
    lines = [csv_cells(["file", "class", "label", "probability", "loss"])]
    for place in largest_loss_first(images):
        name = images.files[place] if images.files else f"test image {place}"
        classes = class_names[images.actual[place]], class_names[images.predicted[place]]
        numbers = _number(images.probability[place]), _number(images.loss[place])
        lines.append(csv_cells([name, *classes, *numbers]))
    return _text(lines)


def largest_loss_first(images: ImageScores) -> list[int]:
    """The places of the images, by loss; one that is not finite is the largest."""
    losses = np.array([np.inf if loss is None else loss for loss in images.loss])
    order: list[int] = np.argsort(-losses, kind="stable").tolist()
    return order


def _common_classes(answers: Sequence[Classified]) -> list[str]:
    """The classes, where each image that could be read has a probability for every one."""
    found = [{score.name for score in answer.scores} for answer in answers if answer.scores]
    return sorted(found[0]) if found and all(names == found[0] for names in found) else []


def _number(value: float | None) -> str:
    """Not below 0, where rounding has made it so: a cell may not begin like a formula."""
    return "" if value is None else f"{max(0.0, value):.6f}"


def _text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
