"""Decisions on a table's columns by their cells: header, yes and no, folders, parts in paths."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from workbench.core.format import list_text, plain_name
from workbench.core.outside_text import folded
from workbench.core.specs import Inference
from workbench.pictures.class_folders.tree import part_name, tokens
from workbench.pictures.listed.column import (
    FLAGS,
    IMAGES,
    LABEL_RANKS,
    SPLITS,
    WEAK_RANK,
    Column,
    is_image_name,
    is_yes,
    part_of_cell,
    part_of_word,
    squeezed,
)
from workbench.pictures.listed.files import Files

# evidence ------------------------------------------------------------------------------------
# What the cells of columns show beside those of the images: their folders.

AGREEING = 0.95  # of the cells that agree, at least


def folder_column(columns: Sequence[Column], image: int, files: Files) -> int:
    """The column with the folder of each image, where names alone name no files or several; -1 for
    none.
    """
    names = columns[image].cells
    if len(columns) < 2 or files.share_of(names, is_deep=False) * 2 >= 1:
        return -1
    alone = files.share_of_single(names)
    for each in columns:
        is_folder = each.number != image and len(each.values) * 2 <= max(each.num_filled, 4)
        if is_folder and not each.is_flag and each.num_filled == len(each.cells):
            joined = [joined_path(*pair) for pair in zip(each.cells, names, strict=True)]
            if files.share_of_single(joined) >= max(AGREEING, alone + 1 - AGREEING):
                return each.number
    return -1


def joined_path(folder: str, name: str) -> str:
    """A name in a folder, as a table of two columns gives it."""
    return f"{folder.rstrip('/')}/{name}" if folder and name else name


def folders_of(cells: Sequence[str]) -> list[list[str]]:
    """The folders of each path, from the outermost."""
    return [
        [part for part in cell.replace("\\", "/").split("/")[:-1] if part not in {"", ".", ".."}]
        for cell in cells
    ]


def agrees(column: Column, folders: Sequence[Sequence[str]]) -> bool:
    """Whether its values are the folders of the images."""
    cells = zip(column.cells, folders, strict=True)
    pairs = Counter((cell, each[-1]) for cell, each in cells if each)
    same = sum(n for (cell, folder), n in pairs.items() if folded(cell) == folded(folder))
    return pairs.total() * 2 > len(folders) and same >= AGREEING * pairs.total()


# flags ---------------------------------------------------------------------------------------
# Whether a split column of a table is one: columns of yes and no, parts that are no parts.

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


# header --------------------------------------------------------------------------------------
# Whether the first line of a table names its columns.

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


# indicators ----------------------------------------------------------------------------------
# Columns of yes and no that belong together: one-hot labels, columns named train and test.

_WINDOW = 300  # columns of zeros and ones among which one-hot columns are looked for
_LINES = 2000  # by which they are found
_MOST_ONES = 0.5  # of the lines with a 1 in one of them, at least: the others are not labeled

Marks = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
"""int64 (columns, lines): 1 where a column says yes."""


def one_hot(columns: Sequence[Column]) -> list[list[Column]]:
    """Rows of neighboring columns of yes and no of which each line has one yes: those named after a
    label first (animal_cat, animal_dog), then the longest.
    """
    runs: list[list[Column]] = [[]]
    for each in columns:
        is_one = each.is_indicator and not each.is_named_split
        if is_one and (not runs[-1] or runs[-1][-1].is_binary == each.is_binary):
            runs[-1].append(each)
        else:
            runs.append([each] if is_one else [])
    found = [group for run in runs for group in _exclusive(run[:_WINDOW])]
    return sorted(found, key=lambda group: (not prefix_of_label(group), -len(group)))


def _exclusive(run: Sequence[Column]) -> list[list[Column]]:
    """The longest part of a row of columns that sums to one in each line, and those beside it; the
    whole row may sum to none in some.
    """
    if len(run) < 2:
        return []
    ones = _marks(run, max(1, len(run[0].cells) // _LINES))
    if ones.sum(axis=0).max(initial=0) == 1 and ones.sum() >= _MOST_ONES * ones.shape[1]:
        return [list(run)]
    sums = np.concatenate([np.zeros((1, ones.shape[1]), np.int64), ones.cumsum(axis=0)])
    return [list(run[start:end]) for start, end in _groups(sums, 0, len(run))]


def _groups(sums: Marks, first: int, last: int) -> list[tuple[int, int]]:
    """First and last (exclusive) columns of the groups, by the sums of the columns before each."""
    for size in range(last - first, 1, -1):
        for start in range(first, last - size + 1):
            if ((sums[start + size] - sums[start]) == 1).all():
                before = _groups(sums, first, start)
                return [*before, (start, start + size), *_groups(sums, start + size, last)]
    return []


def without_classes(columns: Sequence[Column], groups: Sequence[Sequence[Column]]) -> list[Column]:
    """The columns without those that are one class of one-hot labels, though their names ("bird",
    "food") are those of labels, too. Of two columns, one named "label" is the label.
    """
    classes = {e.number for group in groups for e in group if len(group) > 2 or e.label_rank}
    return [each for each in columns if each.number not in classes]


def has_several(columns: Sequence[Column]) -> bool:
    """Whether a line has yes in several of the columns."""
    return bool(columns) and int(_marks(columns).sum(axis=0).max(initial=0)) > 1


def _marks(columns: Sequence[Column], step: int = 1) -> Marks:
    cells = [each.cells[::step] for each in columns]
    return np.array([[is_yes(cell) for cell in each] for each in cells], np.int64)


def prefix_of_label(columns: Sequence[Column]) -> str:
    """What the names of all columns begin with where it means a label ("animal_" of animal_cat,
    animal_dog), as pandas names them; "" for none.
    """
    prefix = columns[0].name.partition("_")[0] + "_"
    is_label = LABEL_RANKS.get(squeezed(prefix), WEAK_RANK) < WEAK_RANK
    is_shared = all(each.name.startswith(prefix) and each.name != prefix for each in columns)
    return prefix if is_label and is_shared else ""


def part_columns(columns: Sequence[Column]) -> tuple[tuple[int, str], ...]:
    """Places of columns named after two parts or more, with the parts, of which each line is marked
    in one; none where there are no such columns. Without a column for training its lines, which
    are most, have no mark.
    """
    marked = [each for each in columns if each.part and (each.is_flag or len(each.values) == 1)]
    parts = [each.part for each in marked]
    if len(set(parts)) < max(2, len(parts)):
        return ()
    cells = zip(*(each.cells for each in marked), strict=True)
    counts = Counter(sum(map(is_mark, line)) for line in cells)
    is_whole = counts.keys() == {1} if "train" in parts else counts[0] > counts[1]
    is_single = counts.keys() <= {0, 1}
    return tuple((each.number, each.part) for each in marked) if is_whole and is_single else ()


def is_mark(cell: str) -> bool:
    """Whether a cell of a column that is named after a part says that the line belongs to it."""
    return is_yes(cell, other=bool(cell))


# path parts ----------------------------------------------------------------------------------
# Which folder of the paths of a table, or which word of their file names, names the part.

_PARTS = {"train", "test", "validation", "evaluation"}
_FILE = -1  # the place of the file name


@dataclass(frozen=True)
class PathParts:
    """The words of paths that name parts.

    Attributes:
        place: Index of the folder in each path, from 0; negative from the end: -1 is the first
            word of the file name, -2 the folder of the file.
        has_test: Whether one of them is plainly the test part.
        words: Those that were found, for people.
    """

    place: int = 0
    has_test: bool = False
    words: tuple[str, ...] = ()

    @property
    def is_of_names(self) -> bool:
        """Whether the names of the files have the words, not their folders."""
        return self.place == _FILE

    def part_of(self, path: str) -> str:
        """The part of an image; "train" for a path without the word of a part."""
        pieces = _pieces(path)
        is_there = -len(pieces) <= self.place < len(pieces) - 1
        kind = _kind(pieces, self.place)[0] if is_there else ""
        if kind == "evaluation":
            return "validation" if self.has_test else "test"
        return kind or "train"


def path_parts(paths: Sequence[str]) -> PathParts | None:
    """The place at which all paths have the word of a part, train and another one; None where there
    is none. Folders go before file names, the outermost first.
    """
    pieces = [_pieces(path) for path in paths]
    least = min(map(len, pieces), default=0)
    for place in (*range(least - 1), *range(-least, _FILE), _FILE):
        kinds = _kinds(pieces, place)
        if "train" in kinds and len(kinds) > 1:
            return PathParts(place, "test" in kinds, tuple(sorted(kinds)))
    return None


def _kinds(pieces: Sequence[Sequence[str]], place: int) -> set[str]:
    """The kinds of parts at a place; none where a path has another word, or other words beside."""
    found = set()
    for each in pieces:
        kind, rest = _kind(each, place)
        if not kind:
            return set()
        found.add((kind, rest))
    return {kind for kind, _ in found} if len({rest for _, rest in found}) == 1 else set()


def _kind(pieces: Sequence[str], place: int) -> tuple[str, tuple[str, ...]]:
    """The part at a place and the other words there; "" for none."""
    name = pieces[place] if pieces else ""
    if place == _FILE:
        name = next(iter(tokens(name)), "")
    if not name:
        return "", ()
    found = part_name(name)
    if found and found.kind in _PARTS:
        return found.kind, found.rest
    return part_of_word(name) or "", ()


def _pieces(path: str) -> list[str]:
    """The folders of a path, from the outermost, and its file name."""
    pieces = path.replace("\\", "/").split("/")
    return [each for each in pieces[:-1] if each not in {"", ".", ".."}] + pieces[-1:]


# chosen --------------------------------------------------------------------------------------
# The columns of a table that are read, and how.


@dataclass(frozen=True)
class Chosen:
    """The columns that are read.

    Attributes:
        image: Place of the column with the files.
        folder: Place of the column with their folders, -1 for none.
        labels: Places of the columns with the label: one, or several of yes and no; none where the
            folder is the label.
        label_prefix: What the names of several begin with that is no part of the class.
        split: Place of the column with the part, -1 for none.
        flag: The part that a split column of yes and no means by yes; "" for a column of words.
        has_test: Whether a word of the split column is plainly the test part.
        part_columns: Places of columns with a mark for the images of a part, with the parts.
        paths: What in the paths names the part; None for nothing.
        unused: The titles of the other columns, with the reason where one is known.
        inferences: How they were found.
    """

    image: int
    folder: int = -1
    labels: tuple[int, ...] = ()
    label_prefix: str = ""
    split: int = -1
    flag: str = ""
    has_test: bool = False
    part_columns: tuple[tuple[int, str], ...] = ()
    paths: PathParts | None = None
    unused: tuple[str, ...] = ()
    inferences: tuple[Inference, ...] = ()
