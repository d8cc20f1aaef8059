"""Tables with a row for each image, as CSV: of classified images, and of an evaluation.

classified   file, actual, predicted, probability, error, unknown; then the probability of each
             class. `actual` is there where true classes are known. `predicted` is the most probable
             class; empty where `unknown` is the reason why the answer is "unknown".
evaluated    file, actual, predicted, probability, loss; then the probability of each class. The
             largest loss first.

No column has the name of another one (`class_columns`). Numbers have all digits: they are read back
as they were.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.format import path_text
from workbench.core.outside_text import cell_text, csv_cells, text_of_cell
from workbench.core.storage.save import Sink, save_stream
from workbench.protocol.bases import ErrorParts
from workbench.protocol.classify import Classified, Score
from workbench.protocol.trained.evaluate import ImageSet
from workbench.runs.log.scores import SET_IMAGES

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
