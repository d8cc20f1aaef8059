"""Tables of the scores of an evaluation, as CSV."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from workbench.core.calibration.reliability import NUM_BINS
from workbench.core.confusion import Confusion, most_confused
from workbench.core.evaluation.ranking import Labels, curve_of, micro_curve
from workbench.core.evaluation.ranking import Scores as ScoreRows
from workbench.core.evaluation.slices import Slice
from workbench.core.format import path_text
from workbench.core.outside_text import csv_cells
from workbench.core.projects.data_edits import PART_NAMES
from workbench.protocol.trained.calibration import Bins
from workbench.protocol.trained.evaluate import Evaluation
from workbench.protocol.trained.robustness import Robustness
from workbench.runs.export.image_tables import class_columns
from workbench.runs.store.image_map import ImageMap

MEAN_OF_CLASSES = "(mean of the classes)"

MOST_COLUMNS = 1_000
"""Classes of a confusion matrix that is written as one."""


def confusion_csv(classes: Sequence[str], confusion: Confusion) -> str:
    """The confusion matrix: a row for each actual class, a column for each predicted one; of more
    classes than a spreadsheet shows well a row for each cell that is not 0.
    """
    if len(classes) > MOST_COLUMNS:
        cells = zip(confusion.actual, confusion.predicted, confusion.counts, strict=True)
        rows = ([classes[a], classes[p], str(number)] for a, p, number in cells)
        listed = map(csv_cells, [["actual", "predicted", "images"], *rows])
        return "".join(f"{line}\n" for line in listed)
    corner = "actual \\ predicted"
    lines = [csv_cells([corner, *class_columns([corner], classes)])]
    lines += [
        csv_cells([name, *map(str, counts)])
        for name, counts in zip(classes, confusion.rows(), strict=True)
    ]
    return "".join(f"{line}\n" for line in lines)


def class_scores_csv(result: Evaluation) -> str:
    """Precision, recall and F1 of each class, a row for each; the last one has their means over the
    classes that have images, of which that of the recalls is the balanced accuracy.
    """
    lines = [csv_cells(["class", "precision", "recall", "F1", "images"])]
    scores = result.per_class
    rows = [(each.name, each.precision, each.recall, each.f1, each.count) for each in scores]
    seen = [each for each in scores if each.count]
    if seen:
        columns = zip(*((each.precision, each.recall, each.f1) for each in seen), strict=True)
        means = (sum(column) / len(seen) for column in columns)
        rows.append((MEAN_OF_CLASSES, *means, sum(each.count for each in seen)))
    for name, *figures, images in rows:
        lines.append(csv_cells([name, *(f"{value:.6f}" for value in figures), str(images)]))
    return "".join(f"{line}\n" for line in lines)


def confused_pairs_csv(result: Evaluation) -> str:
    """The pairs of classes that are confused, a row for each, most images first."""
    matrix = result.matrix
    lines = [csv_cells(["actual", "predicted", "images", "of actual"])]
    for pair in most_confused(matrix, len(matrix.counts)):
        names = result.classes[pair.actual], result.classes[pair.predicted]
        part = pair.count / int(matrix.actual_totals[pair.actual])
        lines.append(csv_cells([*names, str(pair.count), f"{part:.6f}"]))
    return "".join(f"{line}\n" for line in lines)


def curves_csv(
    probabilities: ScoreRows, actual: Labels, number: int | None, most_rows: int = 100_000
) -> str:
    """A row for each threshold of a class, or of all pairs of image and class: the highest first,
    of very many some evenly spread.
    """
    if number is None:
        curve = micro_curve(probabilities, actual)
    else:
        curve = curve_of(probabilities[:, number], actual == number)
    size = len(curve.thresholds)
    places = np.unique(np.linspace(0, size - 1, min(size, most_rows)).round().astype(np.int64))
    heads = ("threshold", "true positives", "false positives", "recall", "false positive rate")
    lines = [csv_cells([*heads, "precision"])]
    columns = (
        curve.true_positives, curve.false_positives, curve.recall, curve.false_positive_rate,
        curve.precision,
    )  # fmt: skip
    for place in places.tolist():
        threshold = curve.thresholds[place]
        first = repr(float(threshold)) if np.isfinite(threshold) else ""
        lines.append(csv_cells([first, *(repr(column[place].item()) for column in columns)]))
    return "".join(f"{line}\n" for line in lines)


def slices_csv(by: str, slices: Sequence[Slice]) -> str:
    """Accuracy by slice, a row for each; `by` is what the images of one have in common."""
    lines = [csv_cells([by, "accuracy", "low 95%", "high 95%", "images", "few images"])]
    for each in slices:
        figures = (f"{value:.6f}" for value in (each.accuracy, *each.interval))
        few = "yes" if each.has_few else ""
        lines.append(csv_cells([each.name, *figures, str(each.count), few]))
    return "".join(f"{line}\n" for line in lines)


def reliability_csv(before: Bins, after: Bins) -> str:
    """A reliability diagram: a row for each bin of confidence, empty cells without images."""
    names = ("images", "confidence", "accuracy")
    heads = [f"{name} {state}" for state in ("uncalibrated", "calibrated") for name in names]
    lines = [csv_cells(["from", "to", *heads])]
    for number in range(NUM_BINS):
        ends = [f"{end / NUM_BINS:.4f}" for end in (number, number + 1)]
        lines.append(csv_cells([*ends, *_bin(before, number), *_bin(after, number)]))
    return "".join(f"{line}\n" for line in lines)


def _bin(bins: Bins, number: int) -> list[str]:
    images = bins.counts[number]
    shares = bins.confidence[number], bins.accuracy[number]
    return [str(images), *(f"{value:.6f}" if images else "" for value in shares)]


def robustness_csv(result: Robustness) -> str:
    """Accuracy on altered images: a row for each measurement, the unaltered images first, and a
    column for the strength of each alteration.
    """
    keys = list(dict.fromkeys(key for case in result.measured for key in case.strengths))
    lines = [csv_cells(["test", "level", *keys, "accuracy", "images"])]
    lines.append(csv_cells(["", "0", *("" for _ in keys), f"{result.accuracy}", f"{result.count}"]))
    lines += [
        csv_cells(
            [
                case.test,
                f"{case.level:g}",
                *(_strength(case.strengths.get(key)) for key in keys),
                f"{case.accuracy}",
                f"{result.count}",
            ]
        )
        for case in result.measured
    ]
    return "".join(f"{line}\n" for line in lines)


def _strength(value: float | None) -> Decimal | None:
    """A number, which may be below 0: as a text it would be taken for a formula."""
    return None if value is None else Decimal(f"{value:g}")


def image_map_csv(found: ImageMap, classes: Sequence[str]) -> str:
    """A map of images: a row for each; one that is in no file is meant by its place in the data
    set, such as "test:17".
    """
    lines = [csv_cells(["file", "label", "predicted", "x", "y", "part"])]
    images, places = found.images, found.points.tolist()
    for number, (x, y) in enumerate(places):
        place = images.place(number)
        name = path_text(images.file(number)) or f"{place.part}:{place.index}"
        labels = classes[images.actual[number]], classes[images.predicted[number]]
        part = PART_NAMES[found.role[number]]
        lines.append(csv_cells([name, *labels, Decimal(f"{x:.6g}"), Decimal(f"{y:.6g}"), part]))
    return "".join(f"{line}\n" for line in lines)
