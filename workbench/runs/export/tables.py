"""A run's curves as tables for other programs: CSV, or Parquet where pyarrow is installed.

FILE           a row a batch: run, step, epoch, loss, accuracy, learning_rate, seconds, images
FILE-epochs    a row an epoch: run, epoch, step, loss, accuracy, val_loss, val_accuracy,
               top_k_accuracy, learning_rate, seconds, images_per_second

Accuracies are shares from 0 to 1; seconds are those since the run began, pauses left out
(of an epoch: how long it took); an empty cell was not finite, or not measured.
"""

from __future__ import annotations

import importlib
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.calibration import NUM_BINS
from workbench.core.evaluation.confusion import Confusion, most_confused
from workbench.core.evaluation.ranking import Labels, curve_of, micro_curve
from workbench.core.evaluation.ranking import Scores as ScoreRows
from workbench.core.evaluation.significance import Slice
from workbench.core.format import path_text
from workbench.core.outside_text import cell_text, csv_cells, text_of_cell
from workbench.core.projects.data_edits import PART_NAMES
from workbench.core.storage.save import Sink, save_bytes, save_stream
from workbench.curves import CurveSpec, all_curves
from workbench.errors import RunFolderError, UsageError
from workbench.parts import PARQUET
from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import Classified, Score
from workbench.protocol.trained.calibration import Bins
from workbench.protocol.trained.evaluate import Evaluation, ImageSet
from workbench.protocol.trained.robustness import Robustness
from workbench.runs.folder import RunFolder
from workbench.runs.log.curve_columns import Column
from workbench.runs.log.event_log import EventReader
from workbench.runs.log.history import MetricHistory
from workbench.runs.log.texts import SET_IMAGES
from workbench.runs.store.image_features import ImageMap
from workbench.runs.store.notes import read_notes

# image tables --------------------------------------------------------------------------------
# Tables with a row for each image, as CSV: of classified images, and of an evaluation.
#
# classified   file, actual, predicted, probability, error, unknown; then the probability of each
#              class. `actual` is there where true classes are known. `predicted` is the most
#              probable
#              class; empty where `unknown` is the reason why the answer is "unknown".
# evaluated    file, actual, predicted, probability, loss; then the probability of each class. The
#              largest loss first.
#
# No column has the name of another one (`class_columns`). Numbers have all digits: they are read
# back as they were.

Numbers = np.ndarray[Any, np.dtype[np.integer[Any]]]
Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]


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
        """Columns of a table with this header, as it was read from the file."""
        names = [text_of_cell(name) for name in header]
        has_truth = names[1:2] == ["actual"]
        found = cls(tuple(names[5 + has_truth :]), has_truth)
        if found.header() != names:
            raise ValueError("other columns")
        return found

    def header(self) -> list[str]:
        """The names of the columns."""
        truth = ["actual"] if self.has_truth else []
        fixed = ["file", *truth, "predicted", "probability", "error", "unknown"]
        return [*fixed, *class_columns(fixed, self.class_names)]

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
        file, *rest = map(text_of_cell, cells)
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
    """What is in the column `predicted`."""
    return "" if answer.unknown else answer.label


def class_columns(fixed: Sequence[str], class_names: Sequence[str]) -> list[str]:
    """A name for the column of each class: its own, or, where that is taken by a column of `fixed`
    or by a class which a cell has the same text for, one such as "file (class)".
    """
    texts = list(map(cell_text, class_names))
    counts = Counter([*map(cell_text, fixed), *texts])
    taken = {text for text, number in counts.items() if number == 1} | set(fixed)
    names = []
    for name, text in zip(class_names, texts, strict=True):
        tries = chain([f"{name} (class)"], (f"{name} (class {n})" for n in itertools.count(2)))
        own = name if counts[text] == 1 else next(t for t in tries if cell_text(t) not in taken)
        taken.add(cell_text(own))
        names.append(own)
    return names


@dataclass(frozen=True)
class EvaluatedImages:
    """What the table of an evaluation has of each image, (n,).

    Attributes:
        files: Paths; empty for images that are in no files of their own.
        actual, predicted: Numbers of classes.
        loss: Cross-entropy of the probabilities.
        rows: The probability of each class (n, classes).
    """

    files: Sequence[str]
    actual: Numbers
    predicted: Numbers
    loss: Floats
    rows: Floats


def write_evaluated(
    path: Path, images: EvaluatedImages, class_names: Sequence[str], part: ImageSet
) -> None:
    """Writes the table of an evaluation on a set of images, whole or not at all. An image without a
    file has its number in that, for a test image as `workbench classify --test` takes it. Raises
    SaveError.
    """
    fixed = ["file", "actual", "predicted", "probability", "loss"]
    one = SET_IMAGES[part].removesuffix("s")

    def write(sink: Sink) -> None:
        sink.write(f"{csv_cells([*fixed, *class_columns(fixed, class_names)])}\n".encode())
        for place in np.argsort(-images.loss, kind="stable").tolist():
            actual, predicted = int(images.actual[place]), int(images.predicted[place])
            name = path_text(images.files[place]) if images.files else f"{one} {place}"
            shares = np.maximum(images.rows[place], 0).tolist()
            names = name, class_names[actual], class_names[predicted]
            numbers = map(_number, (shares[predicted], float(images.loss[place])))
            # Ten thousand numbers a row: no cell of them needs quotes.
            columns = ",".join(map(repr, shares))
            sink.write(f"{csv_cells([*names, *numbers])},{columns}\n".encode())

    save_stream(path, write)


def _number(value: float | None) -> str:
    """All digits; not below 0, where rounding has made it so: a cell may not begin like a formula.
    Empty where it is not known, or not finite.
    """
    return "" if value is None or not math.isfinite(value) else repr(max(0.0, float(value)))


# score tables --------------------------------------------------------------------------------
# Tables of the scores of an evaluation, as CSV.

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


# tables --------------------------------------------------------------------------------------

Table = Mapping[str, Column]

_ROWS_PER_PIECE = 50_000


def export_curves(run: RunFolder, path: Path) -> tuple[Path, ...]:
    """Writes both tables of a run, each whole or not at all; returns the files.

    Args:
        run: Any run that has begun; of one that still trains, what it has logged so far.
        path: File of the batch table; its suffix, .csv or .parquet, is the format.

    Raises:
        UsageError: another suffix, or Parquet without pyarrow.
        RunFolderError: the folder is no run, or nothing was trained yet.
        SaveError: a file could not be written.
    """
    encode = _encoder_for(path)
    title = read_notes(run).title or run.request().title
    history = _read(run)
    if not history.steps.size and not history.epochs:
        raise RunFolderError(
            "This run has no curves yet.", where=str(run.path), fix="Wait for its first batch."
        )
    epochs_path = path.with_name(f"{path.stem}-epochs{path.suffix}")
    save_bytes(path, encode(title, step_table(history)))
    save_bytes(epochs_path, encode(title, epoch_table(history)))
    return path, epochs_path


def can_write_parquet() -> bool:
    """Whether the optional package for Parquet files is installed; it is not imported."""
    return PARQUET.is_installed


def _encoder_for(path: Path) -> Callable[[str, Table], bytes]:
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return csv_bytes
    if suffix != ".parquet":
        raise UsageError(
            "Curves can be exported as CSV or Parquet.",
            received=path.name,
            expected="a file name that ends with .csv or .parquet",
        )
    require_parquet(path)
    return parquet_bytes


def require_parquet(path: Path) -> None:
    """Raises UsageError where a Parquet file cannot be written."""
    try:
        importlib.import_module("pyarrow")
    except ImportError as error:
        raise UsageError(
            "Parquet files need the package pyarrow, which is not installed.",
            received=path.name,
            fix=f"{PARQUET.install_words}, or export a .csv file.",
        ) from error


def _read(run: RunFolder) -> MetricHistory:
    history, reader = MetricHistory(), EventReader(run.events_path)
    while events := reader.read_new():
        history.add_all(events)
    return history


def step_table(history: MetricHistory) -> Table:
    """A row a batch; `images` counts the images seen up to it."""
    steps = history.steps.astype(np.int64)
    steps_per_epoch = history.steps_per_epoch
    batch_size = history.started.batch_size if history.started else 0
    curves = [curve for curve in all_curves().values() if curve.steps or curve.batch]
    return {
        "step": steps,
        "epoch": (steps - 1) // steps_per_epoch + 1 if steps_per_epoch else np.zeros_like(steps),
        **{curve.key: history.curves.values(curve) for curve in curves},
        "seconds": history.times.astype(np.float64),
        "images": steps * batch_size,
    }


def epoch_table(history: MetricHistory) -> Table:
    """A row an epoch: the curves that are validated too, the others, and how long it took."""
    columns, epochs = history.curves, history.epochs
    curves = all_curves().values()
    validated = [curve for curve in curves if curve.validation]
    others = [curve for curve in curves if not curve.validation]

    def trained(chosen: list[CurveSpec]) -> dict[str, Column]:
        return {curve.key: columns.epoch_values(curve) for curve in chosen if curve.epoch}

    return {
        "epoch": columns.epochs.astype(np.int64),
        "step": columns.epoch_steps.astype(np.int64),
        **trained(validated),
        **{c.validation_column: columns.epoch_values(c, is_validation=True) for c in validated},
        **trained(others),
        "seconds": np.array([epoch.seconds for epoch in epochs], np.float64),
        "images_per_second": np.array([epoch.images_per_second for epoch in epochs], np.float64),
    }


def csv_bytes(title: str, table: Table) -> bytes:
    """The table as CSV (RFC 4180), UTF-8, the title as the first column."""
    first = csv_cells([title])
    pieces = [f"run,{','.join(table)}\r\n"]
    columns = list(table.values())
    for start in range(0, len(columns[0]), _ROWS_PER_PIECE):
        texts = [_texts(column[start : start + _ROWS_PER_PIECE]) for column in columns]
        pieces += [f"{first},{','.join(row)}\r\n" for row in zip(*texts, strict=True)]
    return "".join(pieces).encode()


def _texts(column: Column) -> list[str]:
    if column.dtype.kind == "i":
        return [str(value) for value in column.tolist()]
    # As many digits as the type holds: a float32 has seven.
    digits = 9 if column.dtype.itemsize > 4 else 7
    finite = np.isfinite(column).tolist()
    values = zip(column.tolist(), finite, strict=True)
    return [f"{value:.{digits}g}" if is_finite else "" for value, is_finite in values]


def parquet_bytes(title: str, table: Table) -> bytes:
    """The table as Parquet, the title as a dictionary column; not finite is null."""
    arrow = importlib.import_module("pyarrow")
    parquet = importlib.import_module("pyarrow.parquet")
    rows = len(next(iter(table.values())))
    indices = arrow.array(np.zeros(rows, np.int32))
    columns = {"run": arrow.DictionaryArray.from_arrays(indices, arrow.array([title]))}
    for key, column in table.items():
        mask = None if column.dtype.kind == "i" else ~np.isfinite(column)
        columns[key] = arrow.array(column, mask=mask)
    sink = arrow.BufferOutputStream()
    parquet.write_table(arrow.table(columns), sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data
