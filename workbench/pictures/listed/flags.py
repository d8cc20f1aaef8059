"""Whether a split column of a table is one: columns of yes and no, parts that are no parts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from workbench.core.format import list_text, plain_name
from workbench.pictures.listed.column import Column
from workbench.pictures.listed.names import FLAGS, is_yes, part_of_cell

_MOST_SHOWN = 3
_Label = tuple[str, ...]


def flag_of(column: Column) -> str:
    """The part that yes means in a column of yes and no; "" for another column."""
    return column.part if column.is_flag else ""


def part_of_flag(flag: str, word: str) -> str:
    """The part of a line whose split column says yes or no.

    Args:
        flag: The part that yes means.
        word: What it says.
    """
    other = "test" if flag == "train" else "train"
    return flag if is_yes(word) else other


def split_doubts(
    column: Column, flag: str, labels: Sequence[_Label], *, has_test: bool
) -> list[str]:
    """Why a column that is taken for the parts may be something else, in sentences.

    Args:
        column: The column.
        flag: The part that yes means in it; "" for a column of words.
        labels: The cells of the label columns on its lines; none where they are not known.
        has_test: Whether one of its words is plainly the test part.
    """
    parts = [
        part_of_flag(flag, cell) if flag else part_of_cell(cell, has_test=has_test) or ""
        for cell in column.cells
    ]
    return list(_doubts(column, flag, parts, labels))


def _doubts(
    column: Column, flag: str, parts: Sequence[str], labels: Sequence[_Label]
) -> Iterator[str]:
    if flag and column.key not in FLAGS:
        yield f"“{plain_name(column.name)}” may say something else of the images than their part."
    counts = Counter(parts)
    if counts["validation"] > counts["train"]:
        yield "The validation part is larger than the training part."
    if flag and counts["test"] > counts["train"]:
        yield "The test part is larger than the training part."
    of_part: dict[_Label, set[str]] = defaultdict(set)
    for part, label in zip(parts, labels, strict=False):
        if any(label):
            of_part[label].add(part)
    absent = [label for label, found in of_part.items() if "train" not in found]
    if absent and counts["train"]:
        names = list_text([f"“{plain_name(', '.join(label))}”" for label in absent[:_MOST_SHOWN]])
        yield f"{names}: no training image."
