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


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True
