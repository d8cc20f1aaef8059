"""Whether the first line of a table names its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.pictures.listed.column import Column, is_image_name
from workbench.pictures.listed.files import Files
from workbench.pictures.listed.names import IMAGES, LABEL_RANKS, SPLITS, squeezed

_DOUBT = "It may be the first image."

Verdict = tuple[bool, str, str]
"""Whether it is a header, why, and why that may be wrong."""


def look_at_header(first: Sequence[str], below: Sequence[Column], files: Files) -> Verdict:
    """Decides by the plainest evidence.

    Args:
        first: The cells of the first line.
        below: The columns of all other lines.
        files: Finds the files of cells.
    """
    return next(_verdicts(first, below, files))


def _verdicts(first: Sequence[str], below: Sequence[Column], files: Files) -> Iterator[Verdict]:
    """The plainest first."""
    keys = {squeezed(cell) for cell in first} - {""}
    if any(map(is_image_name, first)):
        yield False, "the first line names an image", ""
    others = LABEL_RANKS.keys() | SPLITS
    if keys & IMAGES and (keys & others or len(first) == 1):
        yield True, "its names are known", ""
    if any(cell and files.direct(cell) for cell in first):
        yield False, "the first line names a file that is there", ""
    if any(each.share_of_paths > 0.5 and each.number < len(first) for each in below):
        yield True, "it names no image", ""
    numbers = [each for each in below if each.is_number and each.number < len(first)]
    if any(first[each.number] and not _is_number(first[each.number]) for each in numbers):
        yield True, "its cells are words above numbers", ""
    if keys & (IMAGES | LABEL_RANKS.keys()):
        yield True, "its names are known", ""
    known = {each for column in below for each in column.values if column.num_filled > 2}
    if any(cell in known for cell in first):
        yield False, "its cells are found below, too", ""
    yield True, "its cells are found in no other line", _DOUBT


def has_unnamed_first(first: Sequence[str], below: Sequence[Column], files: Files) -> bool:
    """Whether the names of a header that is one short begin at the second column, as R writes a
    table: the names of its rows have no name of their own. Else the rows have a cell too many.

    Args:
        first: The names.
        below: The columns of all other lines.
        files: Finds the files of cells.
    """
    if len(first) != len(below) - 1 or len(below) < 3 or not below[-1].values:
        return False
    in_place, moved = (_fit(first, below[start:], files) for start in (0, 1))
    if in_place != moved:
        return moved > in_place
    return len(below[0].values) == len(below[0].cells)


def _fit(names: Sequence[str], columns: Sequence[Column], files: Files) -> float:
    """How well columns hold what their names say: files where an image is named, none elsewhere."""
    fit = 0.0
    for name, column in zip(names, columns, strict=False):
        key = squeezed(name)
        if key in IMAGES:
            there = files.share_of(column.values, is_deep=True)
            fit += max(column.share_of_paths, there)
        elif key in LABEL_RANKS or key in SPLITS:
            fit -= column.share_of_paths
    return fit


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True
