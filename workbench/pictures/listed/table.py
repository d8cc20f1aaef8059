"""A table of pictures as text: which bytes, which delimiter, which columns."""

from __future__ import annotations

import codecs
import csv
import io
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import DatasetError
from workbench.pictures.folders import ENDINGS

MAX_BYTES = 256 * 2**20
MAX_ROWS = 5_000_000
_DELIMITERS = (",", ";", "\t", "|")
_LOOKED_AT = 50  # rows by which delimiter and columns are found

_NAMES = {
    "path": ("path", "file", "filename", "file_name", "filepath", "file_path", "image", "img",
             "image_path", "image_name", "picture", "photo"),
    "label": ("label", "class", "class_name", "classname", "category", "target", "species", "name"),
    "split": ("split", "set", "part", "subset", "partition", "fold"),
}  # fmt: skip
"""Names of the columns in a header, the best first."""

PARTS = {
    "": "train", "train": "train", "training": "train",
    "valid": "validation", "validation": "validation", "val": "validation", "dev": "validation",
    "test": "test", "testing": "test",
}  # fmt: skip
"""The parts by what a split column holds."""

EXPECTED = "columns path and label, and perhaps split (train, valid or test)"

Row = tuple[int, str, str, str]
"""Line number, path, label and split of a picture, as they are written."""


@dataclass(frozen=True)
class Table:
    """The pictures that a table names.

    Attributes:
        rows: One for each picture.
        notes: How it was read, where that is not plain.
    """

    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()


def read_table(path: Path) -> Table:
    """Reads a CSV file: delimiter, header and encoding are found by its contents.

    Raises:
        DatasetError: no table, no such columns, or too large.
    """
    text, note = _text(path)
    delimiter = _delimiter(text)
    lines = _lines(text, delimiter, path)
    columns, has_header = _columns([row for _, row in lines[:_LOOKED_AT]], path)
    rows = tuple(_row(number, row, columns) for number, row in lines[has_header:])
    if not rows:
        raise _refused(path, "a header without rows")
    return Table(rows, (note,) if note else ())


def _text(path: Path) -> tuple[str, str]:
    """The file as text, and a note where its encoding is a guess."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise DatasetError(f"The file cannot be read: {error.strerror}.", where=str(path)) from None
    if len(data) > MAX_BYTES:
        raise _refused(path, f"more than {MAX_BYTES:,} bytes", f"at most {MAX_BYTES:,} bytes")
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, "replace"), ""
    if b"\0" in data:
        raise _refused(path, "bytes that are no text")
    try:
        return data.decode("utf-8-sig"), ""
    except UnicodeDecodeError:
        note = f"{path.name} is not UTF-8 and was read as Windows-1252."
        return data.decode("cp1252", "replace"), note


def _delimiter(text: str) -> str:
    """What gives most lines the same number of columns, two at least."""
    head = text[: 1 << 16].splitlines()[:_LOOKED_AT]

    def regularity(delimiter: str) -> tuple[int, int]:
        sizes = Counter(map(len, csv.reader(head, delimiter=delimiter, skipinitialspace=True)))
        width, lines = max(((w, n) for w, n in sizes.items() if w > 1), default=(1, 0), key=_last)
        return lines, width

    try:
        return max(_DELIMITERS, key=regularity)
    except csv.Error:
        return _DELIMITERS[0]


def _last(pair: tuple[int, int]) -> int:
    return pair[1]


def _lines(text: str, delimiter: str, path: Path) -> list[tuple[int, list[str]]]:
    """The rows that hold anything, with the numbers of their lines."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    found: list[tuple[int, list[str]]] = []
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                found.append((reader.line_num, [cell.strip() for cell in row]))
            if len(found) > MAX_ROWS:
                raise _refused(path, f"more than {MAX_ROWS:,} rows", f"at most {MAX_ROWS:,} rows")
    except csv.Error as error:
        raise _refused(path, f"line {reader.line_num}: {error}") from None
    if not found:
        raise _refused(path, "an empty file")
    return found


def _columns(rows: Sequence[Sequence[str]], path: Path) -> tuple[dict[str, int], bool]:
    """The places of path, label and split (-1 for none), and whether the first row is a header."""
    named = _named(rows[0])
    if "path" in named and "label" in named:
        return {"split": -1, **named}, True
    width = Counter(map(len, rows)).most_common(1)[0][0]
    if width < 2:
        raise _refused(path, f"{width} column in most rows")
    sample = [row for row in rows[1:] or rows if len(row) >= width]
    place = max(range(width), key=lambda at: sum(_is_picture_path(row[at]) for row in sample))
    if not any(_is_picture_path(row[place]) for row in sample):
        raise _refused(path, f"the columns {', '.join(rows[0])}"[:200])
    has_header = not _is_picture_path(rows[0][place]) if len(rows[0]) > place else True
    others = [at for at in range(width) if at != place]
    split = next((at for at in others if _is_split(sample, at)), -1) if len(others) > 1 else -1
    label = next(at for at in others if at != split)
    return {"path": place, "label": label, "split": split}, has_header


def _named(header: Sequence[str]) -> dict[str, int]:
    """The columns that a header names."""
    places = {cell.casefold().replace(" ", "_"): at for at, cell in reversed([*enumerate(header)])}
    found: dict[str, int] = {}
    for column, names in _NAMES.items():
        place = next((places[name] for name in names if name in places), None)
        if place is not None:
            found[column] = place
    return found


def _is_picture_path(text: str) -> bool:
    return os.path.splitext(text)[1].lower() in ENDINGS  # noqa: PTH122 - text, no I/O


def _is_split(rows: Sequence[Sequence[str]], place: int) -> bool:
    values = {row[place].casefold() for row in rows}
    return values <= PARTS.keys() and bool(values - {""})


def _row(number: int, row: Sequence[str], columns: dict[str, int]) -> Row:
    path, label, split = (
        row[columns[name]] if 0 <= columns[name] < len(row) else ""
        for name in ("path", "label", "split")
    )
    return number, path, label, split


def _refused(path: Path, received: str, expected: str = EXPECTED) -> DatasetError:
    return DatasetError(
        "The file is not a table of images and labels.",
        where=str(path),
        received="".join(c if c.isprintable() else "?" for c in received),
        expected=expected,
        fix="Write it as text, one image per line, for example photos/1.jpg,rose or "
        "photos/1.jpg,rose,train",
    )
