"""A confusion matrix in a terminal: the whole matrix, or of many classes what is confused most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.core.evaluation.confusion import Confusion, most_confused
from workbench.core.format import count

MOST_COLUMNS = 20
"""Classes of a matrix that fits a terminal of 120 columns."""
MOST_PAIRS = 20
_NAME_WIDTH = 20


def confusion_lines(classes: Sequence[str], confusion: Confusion) -> Iterator[str]:
    """The lines of a matrix.

    Args:
        classes: Their names, in the order of rows and columns.
        confusion: The matrix.
    """
    if len(classes) > MOST_COLUMNS:
        yield from _most_confused(classes, confusion)
    else:
        yield from _matrix(classes, confusion)


def _matrix(classes: Sequence[str], confusion: Confusion) -> Iterator[str]:
    yield "confusion matrix (rows: actual, columns: predicted)"
    rows = confusion.dense().tolist()
    cells = [count(number) for row in rows for number in row]
    width = max(map(len, [*cells, str(len(classes))]), default=1) + 1
    yield " " * (_NAME_WIDTH + 4) + "".join(f"{n:>{width}}" for n in range(1, len(classes) + 1))
    for number, (name, row) in enumerate(zip(classes, rows, strict=True), start=1):
        numbers = "".join(f"{count(value):>{width}}" for value in row)
        yield f"{number:>3} {name[:_NAME_WIDTH]:{_NAME_WIDTH}}{numbers}"


def _most_confused(classes: Sequence[str], confusion: Confusion) -> Iterator[str]:
    yield "most confused (actual, predicted, images)"
    for pair in most_confused(confusion, MOST_PAIRS):
        names = f"{classes[pair.actual]:28} {classes[pair.predicted]:28}"
        yield f"{names} {count(pair.count):>9}"
