"""A table as text: which bytes, which encoding, which delimiter, which lines hold rows."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from workbench.core.specs import Inference, Option
from workbench.core.storage.foreign_file import open_foreign
from workbench.errors import DatasetError
from workbench.pictures.encodings import find_encoding
from workbench.pictures.listed.given import DELIMITERS, ENCODINGS, Given

MAX_BYTES = 256 * 2**20
MAX_ROWS = 2_000_000
MAX_COLUMNS = 1_024
MAX_CELLS = 40_000_000
MAX_ROW_CHARACTERS = 1 << 20
_LOOKED_AT = 50  # lines by which the delimiter is found
_SAMPLE_BYTES = 1 << 16
_ZIP = b"PK\x03\x04"
_QUOTED = 0.9  # of the cells in single quotes, if they are quotes

EXPECTED = "columns path and label, and perhaps split (train, valid or test)"

Line = tuple[int, list[str]]
"""Number of a line, and its cells without spaces around them."""


@dataclass(frozen=True)
class Lines:
    """The lines of a table that hold anything.

    Attributes:
        lines: With their numbers, the header among them.
        inferences: What the text was taken for.
        notes: What was left out, in sentences.
    """

    lines: list[Line]
    inferences: tuple[Inference, ...] = ()
    notes: tuple[str, ...] = ()


def read_lines(path: Path, given: Given) -> Lines:
    """Reads a text file into cells.

    Raises:
        DatasetError: the file cannot be read, is no text, or is too large.
    """
    text, inferences = _text(path, given)
    _refuse_large(text, path)
    text, delimiter = _announced(text)
    named = DELIMITERS[given.delimiter]
    kept, num_comments = _without_comments(text, named or delimiter)
    delimiter = named or delimiter or _delimiter(kept)
    if given.delimiter != "auto":
        inferences.append(_set("delimiter", "The delimiter", given.delimiter))
    notes = [f"Comment lines, not used: {num_comments:,}."] if num_comments else []
    kept, is_escaped = _with_doubled_quotes(kept, delimiter)
    notes += ['Quotes within quotes are read as they are escaped: \\".'] if is_escaped else []
    rows = [(number, list(map(_plain, row))) for number, row in _lines(kept, delimiter, path)]
    return Lines(_unquoted(rows), tuple(inferences), tuple(notes))


def _plain(cell: str) -> str:
    """A cell without the formula ="text" by which spreadsheets keep text as it is."""
    return cell[2:-1].strip() if len(cell) > 3 and cell[:2] == '="' and cell[-1] == '"' else cell


def _unquoted(lines: list[Line]) -> list[Line]:
    """The lines without single quotes around nearly all cells."""
    cells = [cell for _, row in lines[:_LOOKED_AT] for cell in row if cell]
    quoted = [cell for cell in cells if len(cell) > 1 and cell[0] == cell[-1] == "'"]
    if len(quoted) < _QUOTED * len(cells):
        return lines
    return [(number, [_bare(cell) for cell in row]) for number, row in lines]


def _bare(cell: str) -> str:
    return cell[1:-1].strip() if len(cell) > 1 and cell[0] == cell[-1] == "'" else cell


def _set(key: str, what: str, value: str) -> Inference:
    return Inference(key, what, value, param=key, is_told=True)


# encoding ----------------------------------------------------------------------------------


def _text(path: Path, given: Given) -> tuple[str, list[Inference]]:
    """The file as text, and what was inferred where its encoding is not plain."""
    data = _bytes(path)
    if given.encoding != "auto":
        text = data.decode(given.encoding, "replace").removeprefix("\ufeff")
        return text, [_set("encoding", "The encoding", ENCODINGS[given.encoding])]
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if data.startswith(mark):
            return data.decode(encoding, "replace"), []
    if data.startswith(_ZIP):
        fix = "Save the table as CSV from the program that wrote it."
        raise refused(path, "a workbook or archive (ZIP)", fix=fix)
    if b"\0" in data:
        return _of_wide(data, path)
    try:
        return data.decode("utf-8-sig"), []
    except UnicodeDecodeError:
        if damaged := _damaged_utf8(data):
            return damaged[0], [damaged[1]]
        encoding, inference = _encoding(data)
        return data.decode(encoding, "replace"), [inference]


def _bytes(path: Path) -> bytes:
    try:
        with open_foreign(path) as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise DatasetError(f"The file cannot be read: {error.strerror}.", where=str(path)) from None
    if len(data) > MAX_BYTES:
        raise refused(path, f"more than {MAX_BYTES:,} bytes", f"at most {MAX_BYTES:,} bytes")
    return data


def _of_wide(data: bytes, path: Path) -> tuple[str, list[Inference]]:
    """UTF-16 without a mark: every other byte of ASCII is zero."""
    for encoding, zeros, others in (("utf-16-le", 1, 0), ("utf-16-be", 0, 1)):
        half = len(data) // 2
        if half > 2 and data[zeros::2].count(0) > half * 0.6 and not data[others::2].count(0):
            inference = _encoding_inference(encoding, "every other byte is zero")
            return data.decode(encoding, "replace"), [inference]
    raise refused(path, "bytes that are no text")


def _encoding(data: bytes) -> tuple[str, Inference]:
    """The likeliest encoding of a text that is no UTF-8."""
    found = find_encoding(_BETWEEN.split(data), can_be_utf8=False)
    evidence = f"it is not UTF-8, and “{found.example}” is read so"
    return found.key, _encoding_inference(found.key, evidence, (*found.others, *found.ranked))


_BETWEEN = re.compile(rb'[\x00-\x20",;/]+')
"""Bytes between words, none of which is a second byte of an encoding of several bytes."""


def _damaged_utf8(data: bytes) -> tuple[str, Inference] | None:
    """UTF-8 with fewer words in an encoding of one byte a letter, as where lines of two programs
    are joined; None for another text.
    """
    words = [word for word in dict.fromkeys(_WORD.findall(data)) if not word.isascii()]
    plain = [word for word in words if _is_utf8(word)]
    wrong = [word for word in words if not _is_utf8(word)]
    # Characters of two bytes may be UTF-8 by accident, but hardly beside other letters or often.
    marks = sum(len(word) - len(word.decode()) for word in plain)
    is_certain = marks >= _CERTAIN_MARKS or any(re.search(rb"[A-Za-z]", word) for word in plain)
    if len(plain) <= len(wrong) or not is_certain or find_encoding(plain).key != "utf-8":
        return None
    ranked = find_encoding(wrong, can_be_utf8=False).ranked
    other = next((key for key in ranked if key not in _WIDE), "cp1252")
    text = "".join(
        piece.decode("utf-8" if _is_utf8(piece) else other, "replace")
        for line in data.splitlines(keepends=True)
        for piece in ([line] if _is_utf8(line) else _WORD_OR_REST.findall(line))
    )
    example = wrong[0].decode(other, "replace")
    evidence = f"but for {len(wrong):,} words, and “{example}” is read as {ENCODINGS[other]}"
    return text.removeprefix("\ufeff"), _encoding_inference("utf-8", evidence, (other,))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


_WORD = re.compile(rb"[A-Za-z\x80-\xff]+")
_WORD_OR_REST = re.compile(rb"[A-Za-z\x80-\xff]+|[^A-Za-z\x80-\xff]+")
_CERTAIN_MARKS = 6  # bytes beyond the first of letters in UTF-8: no accident
_WIDE = {"gb18030", "cp932", "cp949", "big5"}


def _encoding_inference(encoding: str, evidence: str, likely: Iterable[str] = ()) -> Inference:
    doubt = "A text does not name its encoding: compare the names of the classes."
    others = dict.fromkeys((*likely, *ENCODINGS))
    options = tuple(Option(key, ENCODINGS[key]) for key in others if key not in {"auto", encoding})
    value = ENCODINGS[encoding]
    return Inference("encoding", "The encoding", value, evidence, doubt, "encoding", options)


# lines -------------------------------------------------------------------------------------


def _announced(text: str) -> tuple[str, str]:
    """The text without Excel's line "sep=;", and the delimiter that it names."""
    found = re.match(r'"?sep=(.)"?[^\S\n\r]*(\r\n|\r|\n)', text, re.IGNORECASE)
    if found is None:
        return text, ""
    # An empty line in its place keeps the numbers of lines.
    return found[2] + text[found.end() :], found[1]


def _without_comments(text: str, delimiter: str) -> tuple[str, int]:
    """The text without lines that begin with "#", but for a header or rows that begin so."""
    if not re.search(r"(?m)^\s*#", text):
        return text, 0
    lines = text.splitlines(keepends=True)
    plain = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    delimiter = delimiter or _delimiter("".join(plain[:_LOOKED_AT]))
    widths = Counter(line.count(delimiter) for line in plain[:_LOOKED_AT])
    usual = widths.most_common(1)[0][0] if widths else 0
    kept, num_comments, is_first = [], 0, True
    has_quotes = '"' in text
    for line in lines:
        # Behind the first row such a line may belong to a quoted cell.
        is_marked = line.lstrip().startswith("#") and (is_first or not has_quotes)
        is_row = line.count(delimiter) == usual and usual > 0
        if is_marked and not is_row:
            kept.append(line[len(line.rstrip("\r\n")) :])
            num_comments += 1
            continue
        kept.append(line.lstrip()[1:].lstrip() if is_marked and is_first else line)
        is_first = is_first and not line.strip()
    return "".join(kept), num_comments


def _delimiter(text: str) -> str:
    """What gives most lines the same number of columns, two at least."""
    head = text[:_SAMPLE_BYTES].splitlines()[:_LOOKED_AT]

    def regularity(delimiter: str) -> tuple[int, int]:
        sizes = Counter(map(len, _cells(head, delimiter)))
        width, lines = max(((w, n) for w, n in sizes.items() if w > 1), default=(1, 0), key=_last)
        return lines, width

    try:
        best = max(",;\t|", key=regularity)
        return best if regularity(best)[0] or not regularity(" ")[0] else " "
    except csv.Error:
        return ","


def _last(pair: tuple[int, int]) -> int:
    return pair[1]


def _cells(lines: Iterable[str], delimiter: str) -> Iterable[list[str]]:
    if delimiter == " ":
        lines = (re.sub(r"[ \t]+(?=\r?$)", "", line) for line in lines)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True)


def _with_doubled_quotes(text: str, delimiter: str) -> tuple[str, bool]:
    """The text with quotes in quoted cells doubled, and whether a backslash was before them: where
    it is regular so, and not as it is.
    """
    if '\\"' not in text or _is_regular(text, delimiter):
        return text, False
    doubled = re.sub(r'(?<!\\)\\"', '""', text)
    return (doubled, True) if _is_regular(doubled, delimiter) else (text, False)


def _is_regular(text: str, delimiter: str) -> bool:
    """Whether all quoted cells end at a delimiter or at the end of a line."""
    source = io.StringIO(text, newline="")
    try:
        for _ in csv.reader(source, delimiter=delimiter, skipinitialspace=True, strict=True):
            pass
    except csv.Error:
        return False
    return True


class _RowLines:
    """The lines of a text, of which one row has no more than a row may have: a quoted cell may go
    over many.
    """

    def __init__(self, text: str, path: Path) -> None:
        self._source = io.StringIO(text, newline="")
        self._path = path
        self._size = 0

    def begin_row(self) -> None:
        """The next line belongs to another row."""
        self._size = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        line = next(self._source)
        self._size += len(line)
        if self._size > MAX_ROW_CHARACTERS:
            raise _long_row(self._path)
        return line


def _refuse_large(text: str, path: Path) -> None:
    """Before anything is made of its lines: one of commas would become as many cells."""
    if '"' not in text:  # else a cell may go over several lines
        num_rows = text.count("\n") - text.count("\n\n") - text.count("\n\r\n")
        if num_rows > MAX_ROWS + 1:
            raise refused(path, f"more than {MAX_ROWS:,} rows", f"at most {MAX_ROWS:,} rows")
    start = 0
    while len(text) - start > MAX_ROW_CHARACTERS:
        end = start + MAX_ROW_CHARACTERS
        found = max(text.rfind("\n", start, end), text.rfind("\r", start, end))
        if found < start:
            raise _long_row(path)
        start = found + 1


def _long_row(path: Path) -> DatasetError:
    most = f"{MAX_ROW_CHARACTERS:,} characters"
    return refused(path, f"a line of more than {most}", f"lines of at most {most}")


def _lines(text: str, delimiter: str, path: Path) -> list[Line]:
    """The lines that hold anything."""
    source = _RowLines(text, path)
    reader = csv.reader(source, delimiter=delimiter, skipinitialspace=True)
    found: list[Line] = []
    num_cells = 0
    try:
        for row in reader:
            source.begin_row()
            if any(cell.strip() for cell in row):
                found.append((reader.line_num, [cell.strip() for cell in row]))
                num_cells += len(row)
            for number, most, what in (
                (len(found), MAX_ROWS, "rows"),
                (len(row), MAX_COLUMNS, f"columns (line {reader.line_num:,})"),
                (num_cells, MAX_CELLS, "cells"),
            ):
                if number > most:
                    raise refused(path, f"more than {most:,} {what}", f"at most {most:,} {what}")
    except csv.Error as error:
        raise refused(path, f"line {reader.line_num}: {error}") from None
    if not found:
        raise refused(path, "an empty file")
    return found


def refused(path: Path, received: str, expected: str = EXPECTED, fix: str = "") -> DatasetError:
    """The file is not a table of images and labels."""
    return DatasetError(
        "The file is not a table of images and labels.",
        where=str(path),
        received="".join(c if c.isprintable() else "?" for c in received)[:400],
        expected=expected,
        fix=fix
        or "Write it as text, one image per line, for example photos/1.jpg,rose or "
        "photos/1.jpg,rose,train",
    )
