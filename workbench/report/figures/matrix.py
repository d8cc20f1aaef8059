"""The confusion matrix: cells with counts for some classes, pixels for many."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image

from workbench.report.blocks import (
    Drawing,
    Label,
    Mark,
    Pixels,
    Rect,
    fitted,
    plain_name,
    text_width,
)

MOST_CELLS = 40
"""Classes up to which each cell is a rectangle with its name beside it."""

_MOST_COUNTS = 24
"""Classes up to which the cells hold their counts."""

_SIDE = 640.0
_MOST_CELL, _NAME_ROOM = 52.0, 150.0
_GREEN, _RED = (21, 128, 61), (198, 40, 40)
"""Colors of right and wrong on both themes: their strength is in the alpha channel."""

Counts = np.ndarray[Any, np.dtype[np.int64]]


def matrix_drawing(counts: Counts, names: Sequence[str]) -> Drawing:
    """Rows are true classes, columns predicted ones; the shade is the share of the row."""
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    clean = [plain_name(name) for name in names]
    if len(names) > MOST_CELLS:
        return _of_pixels(counts, shares)
    return _of_cells(counts, shares, clean)


def _of_cells(counts: Counts, shares: np.ndarray[Any, Any], names: Sequence[str]) -> Drawing:
    size = len(names)
    cell = min(_MOST_CELL, _SIDE / size)
    letters = min(13.0, max(7.0, cell * 0.62))
    room = min(_NAME_ROOM, max(text_width(name, letters) for name in names) + 6)
    left, top = room + 34, room * 0.75 + 36
    marks: list[Mark] = [
        Label(x=left, y=16, text="predicted", size=12, color="dim"),
        Label(x=14, y=top + size * cell, text="true class", size=12, color="dim", turn=-90),
    ]
    for number, name in enumerate(names):
        short = fitted(name, room, letters)
        middle = (number + 0.5) * cell
        row_y, column_x = top + middle + letters * 0.35, left + middle + letters * 0.35
        marks += [
            Label(x=left - 8, y=row_y, text=short, size=letters, anchor="end", title=name),
            Label(x=column_x, y=top - 8, text=short, size=letters, turn=-48, title=name),
        ]
    for row in range(size):
        for column in range(size):
            marks += _cell(counts, shares, names, (row, column), (left, top, cell))
    # The last names lean out to the right.
    return Drawing(
        width=left + size * cell + room * 0.72 + 8, height=top + size * cell + 4, marks=marks
    )


def _cell(
    counts: Counts,
    shares: np.ndarray[Any, Any],
    names: Sequence[str],
    at: tuple[int, int],
    frame: tuple[float, float, float],
) -> list[Mark]:
    (row, column), (left, top, cell) = at, frame
    number, share = int(counts[row, column]), float(shares[row, column])
    x, y = left + column * cell, top + row * cell
    marks: list[Mark] = [
        Rect(x=x, y=y, width=cell - 1, height=cell - 1, fill="background", radius=2)
    ]
    if not number:
        return marks
    words = f"{names[row]} predicted as {names[column]}: {number:,} ({share:.0%})"
    color = "good" if row == column else "bad"
    marks.append(
        Rect(
            x=x,
            y=y,
            width=cell - 1,
            height=cell - 1,
            fill=color,
            radius=2,
            opacity=round(0.1 + 0.62 * share, 3),
            title=words,
        )
    )
    if len(names) <= _MOST_COUNTS:
        text = f"{number:,}"
        size = min(13.0, (cell - 4) / max(text_width(text, 1.0), 1.0), cell * 0.5)
        middle = x + (cell - 1) / 2
        marks.append(
            Label(x=middle, y=y + cell / 2 + size * 0.35, text=text, size=size, anchor="middle")
        )
    return marks


def _of_pixels(counts: Counts, shares: np.ndarray[Any, Any]) -> Drawing:
    """Image with one pixel a cell; the diagonal in green, the others in red, empty ones clear."""
    size = len(counts)
    rgba = np.zeros((size, size, 4), np.uint8)
    rgba[..., :3] = _RED
    np.einsum("iij->ij", rgba)[:, :3] = _GREEN
    strength = np.where(counts > 0, 60 + 195 * np.sqrt(shares), 0)
    rgba[..., 3] = np.round(strength).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(rgba).save(file, "PNG", optimize=True)
    left, top = 64.0, 40.0
    marks: list[Mark] = [
        Label(x=left, y=14, text="predicted (number of the class)", size=12, color="dim"),
        Label(x=14, y=top + _SIDE, text="true class", size=12, color="dim", turn=-90),
        Rect(x=left, y=top, width=_SIDE, height=_SIDE, fill="background", stroke="line"),
        Pixels(x=left, y=top, width=_SIDE, height=_SIDE, png=file.getvalue()),
    ]
    for number in _ticks(size):
        at = (number - 0.5) * _SIDE / size
        text = f"{number:,}"
        marks += [
            Label(x=left - 8, y=top + at + 4, text=text, size=11, color="dim", anchor="end"),
            Label(x=left + at, y=top - 8, text=text, size=11, color="dim", anchor="middle"),
        ]
    return Drawing(width=left + _SIDE + 20, height=top + _SIDE + 8, marks=marks)


def _ticks(size: int) -> list[int]:
    step = next(each for each in (10, 20, 50, 100, 200, 500, 1_000, 5_000) if size / each <= 10)
    return [1, *range(step, size + 1, step)]
