"""A table of images: the one reader of data sets, of true classes, and of previews."""

from __future__ import annotations

import os
import posixpath
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from workbench.core.format import list_text, plain_name, plural
from workbench.core.specs import Inference, Option
from workbench.errors import DatasetError
from workbench.pictures.listed.cells import (
    Chosen,
    folder_column,
    has_unnamed_first,
    is_mark,
    joined_path,
    look_at_header,
    part_of_flag,
)
from workbench.pictures.listed.choose import Chooser
from workbench.pictures.listed.column import Column, is_yes, part_of_cell
from workbench.pictures.listed.files import Files, folded_name
from workbench.pictures.listed.given import Given
from workbench.pictures.listed.label_text import LabelTexts, several_labels
from workbench.pictures.listed.text import Line, Lines, read_lines, refused

_BLOCKS, _BLOCK_ROWS = 50, 1000
"""Rows from all over a large table by which its columns are found."""
_NOTED = 12
_PREVIEWED = 10
_AUTOMATIC = "auto"


class Row(NamedTuple):
    """An image of a table.

    Attributes:
        line: Number of the line.
        name: Its file, as it is written.
        label: Its class; "" where it has none.
        part: "train", "test" or "validation".
        problem: Why the line cannot be used; "" where it can.
    """

    line: int
    name: str
    label: str
    part: str
    problem: str = ""


@dataclass(frozen=True)
class Table:
    """The images that a table names.

    Attributes:
        rows: One for each line.
        files: Finds the file of a name.
        inferences: How it was read.
        notes: What is not used, in sentences.
    """

    rows: tuple[Row, ...]
    files: Files
    inferences: tuple[Inference, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Preview:
    """The first lines of a table.

    Attributes:
        header: Names of the columns; "" for those without.
        lines: Cells of the first lines.
        image, labels, split: Places of the columns that are read; -1 for none.
        problem: Why it cannot be read as it is.
    """

    header: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    image: int = -1
    labels: tuple[int, ...] = ()
    split: int = -1
    problem: DatasetError | None = None


def read_table(
    path: Path,
    given: Given | None = None,
    *,
    folders: Sequence[str] = (),
    classes: Collection[str] = (),
    check_cancelled: Callable[[], None] = lambda: None,
) -> Table:
    """Reads a table of images: encoding, delimiter, header, columns and folder are those that are
    given, or are inferred from its contents and from the files that are there.

    Args:
        path: The table.
        given: What a person has set.
        folders: Where paths may start besides the folder of the table.
        classes: Names that labels are known to have; none where they are not known.
        check_cancelled: Called while folders are listed.

    Raises:
        DatasetError: no table, no such columns, or too large.
    """
    given = given or Given()
    source = _Source(path, given, read_lines(path, given), folders, classes, check_cancelled)
    chosen = source.chosen
    rows = tuple(source.rows(chosen))
    inferences = (*source.lines.inferences, *source.inferences, *chosen.inferences)
    folder = (source.files.inference,) if source.files.inference else ()
    notes = (*source.lines.notes, *_unused(chosen))
    return Table(rows, source.files, (*inferences, *folder, *source.texts.inferences), notes)


def preview_table(
    path: Path, given: Given, check_cancelled: Callable[[], None] = lambda: None
) -> Preview:
    """The first lines of a table, with the columns that are taken; raises DatasetError where it has
    no lines.
    """
    lines = read_lines(path, given)
    source = _Source(path, given, lines, check_cancelled=check_cancelled)
    problem, chosen = None, Chosen(-1)
    try:
        chosen = source.chosen
    except DatasetError as error:
        problem = error
    shown = tuple(tuple(row) for _, row in source.body[:_PREVIEWED])
    header = tuple(each.name for each in source.columns)
    return Preview(header, shown, chosen.image, chosen.labels, chosen.split, problem)


def _unused(chosen: Chosen) -> list[str]:
    if not chosen.unused:
        return []
    names, more = list(chosen.unused[:_NOTED]), len(chosen.unused) - _NOTED
    names += [f"and {more} more"] if more > 0 else []
    return [f"Columns not used: {', '.join(names)}."]


@dataclass
class _Source:
    """One table while it is read."""

    path: Path
    given: Given
    lines: Lines
    folders: Sequence[str] = ()
    classes: Collection[str] = ()
    check_cancelled: Callable[[], None] = lambda: None
    inferences: list[Inference] = field(default_factory=list)

    def __post_init__(self) -> None:
        found = self.lines.lines
        self.width = max(Counter(len(row) for _, row in found[1:] or found).most_common(1)[0][0], 1)
        bases = [str(self.path.absolute().parent), *map(os.path.abspath, self.folders)]
        self.files = Files(bases, self.given.root, self.check_cancelled)
        self.body: Sequence[Line] = found
        self.columns: list[Column] = []
        self.texts = LabelTexts(self.path, self.given)
        self._read_header()

    # header --------------------------------------------------------------------------------

    def _read_header(self) -> None:
        """Whether the first line names the columns, and which columns there are."""
        first = self.lines.lines[0][1]
        plain = self._columns(self.lines.lines[1:] or self.lines.lines, [])
        has_header, evidence, doubt = look_at_header(first, plain, self.files)
        if self.given.header != _AUTOMATIC:
            has_header = self.given.header == "yes"
        if evidence and (doubt or self.given.header != _AUTOMATIC):
            self.inferences.append(_header_inference(has_header, evidence, doubt, self.given))
        if has_header and has_unnamed_first(first, plain, self.files):
            first = ["", *first]
        elif has_header and any(each.values for each in plain[len(first) :]):
            self.inferences.append(_more_cells(len(first), self.width))
        self.body = self.lines.lines[1:] if has_header else self.lines.lines
        if not self.body:
            raise refused(self.path, "a header without rows")
        if has_header:
            self.width = max(self.width, len(first))
        self.columns = self._columns(self.body, first if has_header else [])

    def _columns(self, lines: Sequence[Line], names: Sequence[str]) -> list[Column]:
        some = _sampled(lines)
        width = max(self.width, len(names))
        return [
            Column(
                number,
                names[number] if number < len(names) else "",
                [row[number] if number < len(row) else "" for _, row in some],
            )
            for number in range(width)
        ]

    # columns and rows ----------------------------------------------------------------------

    @property
    def chosen(self) -> Chosen:
        """The columns that are read; raises DatasetError."""
        chooser = Chooser(self.path, self.columns, self.given, self.files, self.classes)
        if self.width < 2 and not self._is_list_of_paths():
            raise refused(self.path, f"{self.width} column in most rows")
        image = chooser.image()
        names, folder = self.columns[image].cells, folder_column(self.columns, image, self.files)
        if folder >= 0:
            pairs = zip(self.columns[folder].cells, names, strict=True)
            names = [joined_path(*pair) for pair in pairs]
        self.files.settle(names)
        chosen = chooser.choose(image, names)
        if folder < 0:
            return chosen
        title, used = self.columns[folder].title, chosen.inferences
        said = Inference("folder_column", "The folder column", title, "with it, files are there")
        return replace(chosen, folder=folder, inferences=(*used, said))

    def _is_list_of_paths(self) -> bool:
        return self.columns[0].share_of_paths > 0.5

    def rows(self, chosen: Chosen) -> Iterator[Row]:
        """The images; raises DatasetError for a part of an unknown word, or several labels."""
        names = [self.columns[at].name or str(place) for place, at in enumerate(chosen.labels)]
        names = [name.removeprefix(chosen.label_prefix) for name in names]
        cells = [self._label(row, chosen, names) for _, row in self.body]
        only = self.columns[chosen.labels[0]] if len(chosen.labels) == 1 else None
        self.texts.header = only.name if only else ""
        known = self.texts.classes(cells, is_plain=len(chosen.labels) != 1)
        for (line, row), cell in zip(self.body, cells, strict=True):
            extra = any(row[self.width :])
            problem = f"The line has {len(row)} cells, not {self.width}." if extra else ""
            label, part = known[cell], self._part(line, row, chosen)
            yield Row(line, _name(row, chosen), label, part, problem)

    def _label(self, row: Sequence[str], chosen: Chosen, names: Sequence[str]) -> str:
        """The label as it is written."""
        if not chosen.labels:
            parts = _name(row, chosen).replace("\\", "/").split("/")
            return parts[-2] if len(parts) > 1 else ""
        if len(chosen.labels) == 1:
            return _cell(row, chosen.labels[0])
        ones = [n for n, at in zip(names, chosen.labels, strict=True) if is_yes(_cell(row, at))]
        if len(ones) > 1:
            raise several_labels(self.path, ", ".join(ones))
        return ones[0] if ones else ""

    def _part(self, line: int, row: Sequence[str], chosen: Chosen) -> str:
        if chosen.paths is not None:
            return chosen.paths.part_of(_name(row, chosen))
        if chosen.part_columns:
            marked = (part for at, part in chosen.part_columns if is_mark(_cell(row, at)))
            return next(marked, "train")
        if chosen.split < 0:
            return "train"
        word = _cell(row, chosen.split)
        if chosen.flag:
            return part_of_flag(chosen.flag, word)
        part = part_of_cell(word, has_test=chosen.has_test)
        if part is None:
            raise _unknown_part(self.path, line, word)
        return part


def _sampled(lines: Sequence[Line]) -> Sequence[Line]:
    """All lines, or blocks from all over a large table."""
    if len(lines) <= _BLOCKS * _BLOCK_ROWS:
        return lines
    starts = [len(lines) * block // _BLOCKS for block in range(_BLOCKS)]
    return [line for start in starts for line in lines[start : start + _BLOCK_ROWS]]


def _header_inference(has_header: bool, evidence: str, doubt: str, given: Given) -> Inference:  # noqa: FBT001 - a value
    value = "the first line" if has_header else "none"
    is_told = given.header != _AUTOMATIC
    options = (Option("no", "none"),) if has_header else (Option("yes", "the first line"),)
    return Inference("header", "The header", value, evidence, doubt, "header", options, is_told)


def _more_cells(named: int, width: int) -> Inference:
    """A doubt where lines hold more than the header names."""
    return Inference(
        "header_width",
        "The names of the columns",
        "those of the first cells of each line",
        f"{named} names for {width} cells",
        "Cells may be in the wrong columns, as where a text is cut at a delimiter.",
    )


def _cell(row: Sequence[str], number: int) -> str:
    return row[number] if 0 <= number < len(row) else ""


def _name(row: Sequence[str], chosen: Chosen) -> str:
    """The file of a line as it is written, in its folder where another column has that."""
    return joined_path(_cell(row, chosen.folder), _cell(row, chosen.image))


def _unknown_part(path: Path, line: int, word: str) -> DatasetError:
    return DatasetError(
        "The split column holds an unknown word.",
        where=f"{path}, line {line}",
        received=plain_name(word),
        expected="train, valid or test",
        fix=f'Correct it, or read the table without: "csv:{path.name}?split=none".',
    )


# labels --------------------------------------------------------------------------------------
# The true classes of images, from a table.


class ListedLabels:
    """Which class each image has, from a table that `read_table` reads.

    A path is relative to the table or to a folder that is classified, absolute, or only the name of
    the file, with or without its ending: only such a name also counts for images in other folders,
    unless its own image is among those that are classified.
    Paths are compared without regard to case and to how letters with marks are stored. An image or
    a name that has several labels counts for no image.

    Args:
        path: The table.
        folders: Those that are classified.
        given: How the table is to be read, as far as a person has set it.
        classes: The classes of the model.

    Attributes:
        sentences: How the table was read.

    Raises:
        DatasetError: it is no such table.
    """

    def __init__(
        self,
        path: Path,
        folders: Sequence[str] = (),
        given: Given | None = None,
        classes: Collection[str] = (),
    ) -> None:
        self._by_path, self._by_name = _Spelled(), _Spelled()
        bases = [str(path.absolute().parent), *map(os.path.abspath, folders)]
        inside = tuple(os.path.join(os.path.abspath(folder), "") for folder in folders)  # noqa: PTH100, PTH118
        table = read_table(path, given, folders=folders, classes=classes)
        rows = [row for row in table.rows if row.name and row.label and not row.problem]
        found = {row.name: table.files.file(row.name)[0] for row in rows if "\0" not in row.name}
        labels: dict[str, set[str]] = defaultdict(set)
        named = [(_image(row.name, found[row.name]), row) for row in rows if row.name in found]
        for image, row in named:
            labels[image].add(row.label)
        for image, row in named:
            label = row.label if len(labels[image]) == 1 else ""
            is_there = found[row.name].startswith(inside)
            self._add(row.name.replace("\\", "/"), label, bases, is_there=is_there)
            if found[row.name]:
                self._by_path.add(found[row.name], label, is_first=True)
        notes = [*table.notes, *_several({each for each in labels if len(labels[each]) > 1})]
        self.sentences = (*(each.sentence for each in table.inferences), *notes)

    def of(self, file: str) -> str:
        """The class of an image file; "" where the table has none."""
        found = self._by_path.find(os.path.abspath(file))  # noqa: PTH100 - a hundred thousand Paths are slow
        if found is not None:
            return found
        name = os.path.basename(file)  # noqa: PTH119 - as above
        stem = os.path.splitext(name)[0]  # noqa: PTH122 - as above
        return self._by_name.find(name) or self._by_name.find(stem) or ""

    def _add(self, name: str, label: str, bases: Sequence[str], *, is_there: bool) -> None:
        for base in bases:
            full = os.path.normpath(os.path.join(base, name))  # noqa: PTH118 - as above
            self._by_path.add(full, label, is_first=True)
        if "/" not in name and not is_there:
            self._by_name.add(name, label)


def _image(name: str, found: str) -> str:
    """The image of a line: its file, or else the path as it is written."""
    return found or posixpath.normpath(name.replace("\\", "/"))


def _several(images: Collection[str]) -> list[str]:
    """A sentence on images that lines give different classes."""
    if not images:
        return []
    some = list_text([plain_name(posixpath.basename(each)) for each in sorted(images)[:3]])
    count = plural(len(images), "image")
    return [f"Lines give {count} several classes, so these count for none: {some}."]


class _Spelled:
    """Labels by names: as they are written, then in any case and Unicode form."""

    def __init__(self) -> None:
        self._exact: dict[str, str] = {}
        self._folded: dict[str, str] = {}

    def add(self, name: str, label: str, *, is_first: bool = False) -> None:
        """A name that has another label already gets none, or keeps it where `is_first`."""
        if self._exact.setdefault(name, label) != label and not is_first:
            self._exact[name] = ""
        key = folded_name(name)
        if self._folded.setdefault(key, label) != label:
            self._folded[key] = ""

    def find(self, name: str) -> str | None:
        """The label of a name; None where it is not known."""
        if name in self._exact:
            return self._exact[name]
        return self._folded.get(folded_name(name))
