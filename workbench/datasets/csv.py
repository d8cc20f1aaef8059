"""A CSV file with a line for each image: its path, its label, and perhaps its part."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from workbench.core.format import plain_name
from workbench.core.params import Params, PathParam
from workbench.core.specs import DatasetSpec, FilePart, LoadContext, LoadedData
from workbench.datasets._chosen_file import chosen_file
from workbench.datasets._class_parts import FIT
from workbench.datasets._label_values import MAX_CLASSES
from workbench.datasets._value_range import RANGE
from workbench.errors import DatasetError
from workbench.pictures.folders import is_picture, natural_key
from workbench.pictures.listed.table import EXPECTED, PARTS, Row, read_table

_CHECK_EVERY = 256
_PARTS = ("train", "test", "validation")


@dataclass
class _Found:
    """What the rows name.

    Attributes:
        files: Part and class of each image, in the order of the rows.
        bad_files: What cannot be used, with the reason.
        num_repeated: Rows that say again what an earlier one has said.
        differing: Lines that give an image another class or part than an earlier one.
    """

    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    bad_files: list[tuple[str, str]] = field(default_factory=list)
    num_repeated: int = 0
    differing: list[int] = field(default_factory=list)

    def add(self, line: int, file: str, entry: tuple[str, str]) -> None:
        """An image, its part and its class."""
        known = self.files.setdefault(file, entry)
        if known is not entry and known == entry:
            self.num_repeated += 1
        elif known is not entry:
            self.differing.append(line)

    def notes(self) -> list[str]:
        """What was left out, in sentences."""
        notes = []
        if self.num_repeated:
            notes.append(f"Lines that repeat an image, not used: {self.num_repeated:,}.")
        if self.differing:
            notes.append(
                "Lines that give an image another label or part than an earlier line, not used: "
                f"{len(self.differing):,} (the first is line {self.differing[0]:,})."
            )
        return notes


def _load(ctx: LoadContext, params: Params) -> LoadedData:
    path = chosen_file(
        str(params.get("path", "")),
        "a CSV file",
        expected=f"a CSV file with {EXPECTED}",
        for_folder="Choose the CSV file inside.",
    )
    ctx.progress(f"Reading {path.name}")
    table = read_table(path)
    found = _look(ctx, path, table.rows)
    names = _class_names(found, path)
    train, test, validation = (_part(found, part, names) for part in _PARTS)
    if not len(train):
        raise DatasetError(
            "The table has no training images.",
            where=str(path),
            received=f"{len(test):,} test and {len(validation):,} validation images",
            expected="images whose split is empty or train",
        )
    return LoadedData(
        class_names=tuple(map(plain_name, names)),
        train=train,
        test=test if len(test) else None,
        validation=validation if len(validation) else None,
        bad_files=tuple(found.bad_files),
        notes=(*table.notes, *found.notes()),
    )


def _look(ctx: LoadContext, path: Path, rows: Iterable[Row]) -> _Found:
    """Sorts the rows into parts; opens no file whose name is that of a picture."""
    found = _Found()
    for number, (line, name, label, split) in enumerate(rows):
        if number % _CHECK_EVERY == 0:
            ctx.check_cancelled()
        part = PARTS.get(split.casefold())
        if part is None:
            raise DatasetError(
                "The split column holds an unknown word.",
                where=f"{path}, line {line}",
                received=plain_name(split),
                expected="train, valid or test",
            )
        file = _file(path.parent, name)
        reason = _reason(file, name, label)
        if reason:
            found.bad_files.append((file or f"{path}, line {line}", reason))
        else:
            found.add(line, file, (part, label))
    return found


def _file(folder: Path, name: str) -> str:
    """The file that a cell names: relative to the table, also as Windows writes it."""
    if not name or "\0" in name:
        return ""
    path = os.path.normpath(os.path.join(folder, name))  # noqa: PTH118 - a hundred thousand Paths are slow
    if "\\" in name and not os.path.exists(path):  # noqa: PTH110 - as above
        return _file(folder, name.replace("\\", "/"))
    return path


def _reason(file: str, name: str, label: str) -> str:
    """Why a row cannot be used; "" where it can."""
    if not name:
        return "The line names no image."
    if not label:
        return "The line has no label."
    try:
        if not file or not os.path.isfile(file):  # noqa: PTH113 - as above
            return "There is no such image file."
        return "" if is_picture(file) else "This file is not an image."
    except (OSError, ValueError):
        return "There is no such image file."


def _class_names(found: _Found, path: Path) -> tuple[str, ...]:
    """The labels, naturally sorted."""
    labels = {label for _, label in found.files.values()}
    if 2 <= len(labels) <= MAX_CLASSES:
        return tuple(sorted(labels, key=lambda label: (natural_key(label), label)))
    if not found.files:
        what = "The table names no image that is there."
    elif len(labels) == 1:
        what = "There is only one class. A classifier needs at least two."
    else:
        what = "There are too many different labels."
    first = f"; the first: {found.bad_files[0][0]}" if found.bad_files else ""
    raise DatasetError(
        what,
        where=str(path),
        received=f"{len(found.files):,} images with {len(labels):,} labels, and "
        f"{len(found.bad_files):,} lines that cannot be used{first}"[:300],
        expected=f"images of 2 to {MAX_CLASSES:,} classes, with paths relative to the CSV file",
    )


def _part(found: _Found, part: str, names: tuple[str, ...]) -> FilePart:
    numbers = {name: number for number, name in enumerate(names)}
    chosen = [(file, label) for file, (own, label) in found.files.items() if own == part]
    labels = np.array([numbers[label] for _, label in chosen], np.int64)
    return FilePart(tuple(file for file, _ in chosen), labels)


SPEC = DatasetSpec(
    key="csv",
    title="CSV file",
    summary="A table with the path and the label of each image, and perhaps its part (train, "
    "valid or test).",
    params=(
        PathParam(
            "path",
            "",
            "Has a line for each image: its path, from the folder of the table, its label, and "
            "perhaps its part (train, valid or test).",
            title="File",
            patterns=("*.csv", "*.tsv"),
        ),
        FIT,
        RANGE,
    ),
    source_param="path",
    load=_load,
)
