"""A CSV file with a line for each image: its path, its label, and perhaps its part."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from workbench.core.format import list_text, plain_name
from workbench.core.outside_text import altered, unique
from workbench.core.params import Params, PathParam
from workbench.core.specs import (
    DatasetSpec,
    FilePart,
    Inference,
    LoadContext,
    LoadedData,
    least_classes,
)
from workbench.datasets._archives import chosen_file
from workbench.datasets._class_parts import FIT, RANGE
from workbench.datasets._labels.values import MAX_CLASSES
from workbench.errors import DatasetError
from workbench.pictures.folders import natural_key
from workbench.pictures.listed.given import TABLE_PARAMS, Given
from workbench.pictures.listed.table import Row, Table, read_table
from workbench.pictures.listed.text import EXPECTED

_CHECK_EVERY = 256
_PARTS = ("train", "test", "validation")
_MANY_LOST = 0.1  # of the lines with a label that cannot be used
_NAMED = 4


@dataclass
class _Found:
    """What the rows name.

    Attributes:
        files: Part and class of each image, in the order of the rows.
        bad_files: What cannot be used, with the reason.
        num_repeated: Rows that say again what an earlier one has said.
        differing: Lines that give an image another class or part than an earlier one.
        contradicted: The images of those lines.
        num_respelled: Files that were found in another spelling than the table's.
        num_lines: Lines of the table.
        lost: Lines by label whose image is not there or that are malformed.
        absent: Names of images that are not there.
        unnamed: Image files with numbers for names that are in no line, where the images are
            found by numbers.
    """

    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    bad_files: list[tuple[str, str]] = field(default_factory=list)
    num_repeated: int = 0
    differing: list[int] = field(default_factory=list)
    contradicted: set[str] = field(default_factory=set)
    num_respelled: int = 0
    num_lines: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    absent: list[str] = field(default_factory=list)
    unnamed: tuple[str, ...] = ()

    def add(self, line: int, file: str, entry: tuple[str, str]) -> None:
        """Takes an image, its part and its class."""
        known = self.files.setdefault(file, entry)
        if known is not entry and known == entry:
            self.num_repeated += 1
        elif known is not entry:
            self.differing.append(line)
            self.contradicted.add(file)

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
        if self.num_respelled:
            notes.append(
                "Files that are written in another case or Unicode form in the table: "
                f"{self.num_respelled:,}."
            )
        return notes

    def inferences(self) -> list[Inference]:
        """What many lines that differ or cannot be used are taken for, and shifted numbers."""
        return [*self._several_lines(), *self._lost_lines(), *self._shifted()]

    def _lost_lines(self) -> list[Inference]:
        """A doubt where a class is lost with its lines, or many lines are."""
        labels = {label for _, label in self.files.values()}
        gone = [plain_name(label) for label in self.lost if label and label not in labels]
        number = self.lost.total()
        if not gone and number <= _MANY_LOST * self.num_lines:
            return []
        more = [f"{len(gone) - _NAMED:,} more"] if len(gone) > _NAMED else []
        words = [*(f"“{name}”" for name in gone[:_NAMED]), *more]
        what = f"No line of {list_text(words)} can" if gone else "Many lines cannot"
        doubt = f"{what} be used: the table may be damaged, or the images are elsewhere."
        evidence = f"{len(self.bad_files):,} of {self.num_lines:,} lines cannot be used"
        return [Inference("lost_lines", "Lines that cannot be used", "left out", evidence, doubt)]

    def _shifted(self) -> list[Inference]:
        """A doubt where as many numbers have no file as files have no line."""
        if not self.unnamed or len(self.unnamed) != len(self.absent):
            return []
        files = list_text([plain_name(Path(file).name) for file in self.unnamed[:_NAMED]])
        cells = list_text([plain_name(name) for name in self.absent[:_NAMED]])
        evidence = f"{cells}: no file; {files}: no line"
        doubt = "The table may count from another number than the files: then all labels are wrong."
        return [Inference("shifted_numbers", "The numbers", "those of the files", evidence, doubt)]

    def _several_lines(self) -> list[Inference]:
        many, total = len(self.contradicted), len(self.files)
        if not many:
            return []
        evidence = (
            f"{many:,} of {total:,} images {'has' if many == 1 else 'have'} lines with different "
            f"labels or parts, the first of them is line {self.differing[0]:,}"
        )
        doubt = (
            "The first line alone counts: others may be wrong, or it is a list of objects or of "
            "several opinions."
        )
        return [
            Inference("several_lines", "Several lines of an image", "the first", evidence, doubt)
        ]


def _load(ctx: LoadContext, params: Params) -> LoadedData:
    path = chosen_file(
        str(params.get("path", "")),
        "a CSV file",
        expected=f"a CSV file with {EXPECTED}",
        for_folder="Choose the CSV file inside.",
    )
    ctx.progress(f"Reading {path.name}")
    table = read_table(path, Given.of(params), check_cancelled=ctx.check_cancelled)
    found = _look(ctx, path, table)
    names = _class_names(found, path, least_classes(ctx))
    train, test, validation = (_part(found, part, names) for part in _PARTS)
    if not len(train):
        raise DatasetError(
            "The table has no training images.",
            where=str(path),
            received=f"{len(test):,} test and {len(validation):,} validation images",
            expected="images whose split is empty or train",
        )
    return LoadedData(
        class_names=unique(names),
        train=train,
        test=test if len(test) else None,
        validation=validation if len(validation) else None,
        bad_files=tuple(found.bad_files),
        notes=(*table.notes, *found.notes(), *altered(names)),
        inferences=(*table.inferences, *found.inferences()),
    )


def _look(ctx: LoadContext, path: Path, table: Table) -> _Found:
    """Sorts the rows into parts; opens no file whose name is that of an image."""
    found = _Found()
    for number, row in enumerate(table.rows):
        if number % _CHECK_EVERY == 0:
            ctx.check_cancelled()
        file, reason = table.files.file(row.name)
        reason = row.problem or ("" if row.name else reason) or _no_label(row) or reason
        if reason:
            named = table.files.missing(row.name) if row.name else f"{path}, line {row.line}"
            found.bad_files.append((file or named, reason))
            if row.label or not file:
                found.lost[row.label] += 1
            if row.name and row.label and not file and not row.problem:
                found.absent.append(row.name)
        else:
            found.add(row.line, file, (row.part, row.label))
    found.num_respelled, found.num_lines = table.files.num_respelled, len(table.rows)
    if found.absent and all(name.isdecimal() for name in found.absent):
        found.unnamed = table.files.other_numbers(found.files)
    _refuse_many_labels(found, path)
    return found


def _no_label(row: Row) -> str:
    return "" if row.label else "The line has no label."


def _refuse_many_labels(found: _Found, path: Path) -> None:
    """Raises DatasetError where most images have lines with different labels."""
    if len(found.contradicted) * 2 <= len(found.files):
        return
    line = found.differing[0]
    raise DatasetError(
        "The table gives most images several labels.",
        where=f"{path}, line {line}",
        received=f"{len(found.contradicted):,} of {len(found.files):,} images with other lines",
        expected="one label and one part for each image",
        fix="Choose another column as the label, or write one line for each image.",
    )


def _class_names(found: _Found, path: Path, least: int) -> tuple[str, ...]:
    """The labels, naturally sorted."""
    labels = {label for _, label in found.files.values()}
    if least <= len(labels) <= MAX_CLASSES:
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
        *TABLE_PARAMS,
        FIT,
        RANGE,
    ),
    source_param="path",
    lists_files=True,
    load=_load,
)
