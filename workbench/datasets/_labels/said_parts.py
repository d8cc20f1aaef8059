"""Parts of a data set that a feature or an array says: words such as train and test, or yes and no.

The words are those of split columns of tables.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.core.format import list_text, plain_name
from workbench.core.specs import Inference, Option
from workbench.errors import DatasetError
from workbench.pictures.listed.column import Column
from workbench.pictures.listed.flags import flag_of, part_of_flag, split_doubts
from workbench.pictures.listed.given import NONE
from workbench.pictures.listed.names import FOLDS, part_of_word

UNDIVIDED = Option(NONE, "none: all images are divided")
"""Offers that nothing says the parts."""

_NAMED = 3


@dataclass(frozen=True)
class SaidParts:
    """The feature or array that says the part of each image.

    Attributes:
        name: Its name; "" for none.
        parts: The part of each image, "" for none; those that were given where nothing says it.
        inferences: How it was found.
    """

    name: str
    parts: Sequence[str]
    inferences: tuple[Inference, ...] = ()


def column_of(name: str, cells: Sequence[str]) -> Column:
    """A feature as a column of a table: its name is what follows the last slash."""
    return Column(0, name.rsplit("/", 1)[-1], cells)


def may_say_parts(column: Column) -> bool:
    """Whether a column has a name for parts, or words for parts alone."""
    return bool(column.values) and (column.is_named_split or _has_parts_alone(column))


def _has_parts_alone(column: Column) -> bool:
    return column.is_split and column.label_rank is None and not column.is_flag


def said_parts(
    cells: Mapping[str, Sequence[str]],
    before: Sequence[str],
    labels: Sequence[str],
    given: str,
    *,
    where: str,
    noun: str,
) -> SaidParts:
    """The feature that divides the images, and their parts.

    Args:
        cells: What the features hold that may say the part, one for each image.
        before: The part that each image has otherwise.
        labels: The label of each image; none where they are not known.
        given: The feature that a person has chosen; "" for none.
        where: How messages name the source.
        noun: "feature" or "array".

    Raises:
        DatasetError: it holds other words than those of parts.
    """
    columns = {name: column_of(name, each) for name, each in cells.items()}
    named = [n for n, each in columns.items() if each.is_named_split and len(each.values) > 1]
    fit = [name for name in named if columns[name].is_split]
    fit += [n for n, each in columns.items() if n not in fit and _has_parts_alone(each)]
    chosen = [given] if given else fit or named[:1]
    for name in chosen:
        column = columns[name]
        if not column.is_split:
            return _strange(column, before, where, noun, is_told=bool(given))
        parts = _parts(column)
        if {"train"} < {*parts}:
            is_other = len({*before}) > 1 and parts != list(before)
            doubts = ["The names of the files say other parts."] if is_other else []
            found = _inference(column, parts, labels, noun, doubts)
            found = replace(found, value=plain_name(name), is_told=bool(given))
            return SaidParts(name, parts, (found,))
    return SaidParts("", before)


def _parts(column: Column) -> list[str]:
    """The parts that yes and no, or words, say."""
    flag, has_test = flag_of(column), column.has_test
    return [
        part_of_flag(flag, cell) if flag else part_of_word(cell, has_test=has_test) or "train"
        for cell in column.cells
    ]


def _inference(
    column: Column,
    parts: Sequence[str],
    labels: Sequence[str],
    noun: str,
    doubts: Sequence[str],
) -> Inference:
    flag = flag_of(column)
    more = split_doubts(column, flag, [(each,) for each in labels], has_test=column.has_test)
    words = ", ".join(f"{part} {n:,}" for part, n in sorted(Counter(parts).items()))
    evidence = f"it means {flag} by yes" if flag else "its words are parts"
    return Inference(
        f"split_{noun}", f"The split {noun}", column.title, f"{evidence}: {words}",
        " ".join([*doubts, *more]), "split", (UNDIVIDED,),
    )  # fmt: skip


def _strange(
    column: Column, before: Sequence[str], where: str, noun: str, *, is_told: bool
) -> SaidParts:
    """What is named like a split, or chosen for it, without words for parts alone."""
    unknown = [value for value in column.values if not part_of_word(value)]
    if is_told or len(unknown) < len(column.values):
        raise DatasetError(
            f"The split {noun} holds an unknown word.",
            where=f"{where}, {column.title}",
            received=plain_name(unknown[0]) if unknown else "no text",
            expected="train, valid or test",
            fix=f"Set the split {noun} to {NONE}, or to another one.",
        )
    words = list_text([plain_name(value) for value in unknown[:_NAMED]])
    is_fold = column.is_number and column.key in FOLDS
    doubt = "" if is_fold else "It may divide the images, but none of its words is a part."
    evidence = f"{column.title} holds {words}"
    found = Inference(f"split_{noun}", f"The split {noun}", "none", evidence, doubt)
    return SaidParts("", before, (found,))
