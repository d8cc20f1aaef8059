"""Text that comes from files, folders, people and other computers, as it can stand in what this
program prints, lists and generates: the one place for each of these forms.

A name may hold new lines that imitate lines of the program, control characters that drive a
terminal, letters that cannot be seen or that turn the direction of writing, a formula for a
spreadsheet, or the marks of Markdown. Qt-free.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from workbench.core.class_names import without_invisible
from workbench.core.format import path_text

_JOINERS = "\u200c\u200d"  # part of Persian words, of Indic letters and emoji
_FORMULA_STARTS = ("=", "+", "-", "@", "\uff1d", "\uff0b", "\uff0d", "\uff20")
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\", "x": "", "u": "", "U": ""}
_ESCAPED = re.compile(r"\\([nrt\\]|x[0-9a-f]{2}|u(?!dc[89a-f])[0-9a-f]{4}|U[0-9a-f]{8})")
_BYTE = re.compile(r"\\udc[89a-f][0-9a-f]")
"""A byte of a path that is no text, as `path_text` writes it; stands so in tables, too."""
_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
_MARKS = re.compile(r"[\\`*_{}\[\]<>()#|~&$!]")


def is_shown(letter: str) -> bool:
    """Whether a character is seen as itself wherever it stands, and moves nothing."""
    return letter.isprintable() or letter in _JOINERS


def decoded(text: str) -> str:
    """The text with what Python has left undecoded of a path or an argument, as in the locale "C":
    as UTF-8 where it is that, else bytes as escapes.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        try:
            return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        except UnicodeEncodeError:
            return path_text(text)
    return text


def one_line(text: str) -> str:
    """The text in one line, for a terminal, a list or a plain file: line breaks as spaces, other
    characters that are not shown as U+FFFD.
    """
    spaced = _BREAKS.sub(" ", decoded(text))
    return "".join(c if is_shown(c) else "\N{REPLACEMENT CHARACTER}" for c in spaced)


def escaped(text: str) -> str:
    """The text with an escape for each character that is not shown, which Python, JSON and people
    read: a new line as backslash and n, U+202E as its number. Different texts stay different.
    """
    return "".join(c if is_shown(c) else _escape(c) for c in text)


def _escape(letter: str) -> str:
    return letter.encode("unicode_escape", "backslashreplace").decode()


def markdown_text(text: str) -> str:
    """The text as words of Markdown: nothing in it is a link, a picture, HTML or a heading."""
    return _MARKS.sub(r"\\\g<0>", one_line(text))


def markdown_code(text: str) -> str:
    """The text as code within a line of Markdown, with the backticks around it."""
    shown = one_line(text)
    fence = "`" * (max((len(run) for run in re.findall("`+", shown)), default=0) + 1)
    space = " " if shown[:1] == "`" or shown[-1:] == "`" else ""
    return f"{fence}{space}{shown}{space}{fence}"


def folder_letters(name: str) -> str:
    """A name without the letters that cannot be seen, or that turn the direction of writing; a
    joiner stays between letters that it may join.
    """
    parts = re.split(f"([{_JOINERS}]+)", name)
    ends = [part[-1:] + after[:1] for part, after in zip(parts[:-2:2], parts[2::2], strict=True)]
    joiners = [
        joiner if len(end) == 2 and not end.isascii() else ""
        for joiner, end in zip(parts[1::2], ends, strict=True)
    ]
    seen = [without_invisible(part) for part in parts[::2]]
    return seen[0] + "".join(j + s for j, s in zip(joiners, seen[1:], strict=True))


# tables for spreadsheets -------------------------------------------------------------------


def csv_cells(cells: Sequence[object]) -> str:
    """Cells as one line of a CSV table (RFC 4180) without its end: the only writer of such lines.

    Numbers are written with all their digits, None as nothing; of texts see `cell_text`.
    """
    line = io.StringIO()
    texts = [cell_text(cell) if isinstance(cell, str) else cell for cell in cells]
    csv.writer(line, lineterminator="").writerow(texts)
    return line.getvalue()


def tab_cells(cells: Sequence[str]) -> str:
    """Cells as one line with tabs between them, as spreadsheets take it from the clipboard."""
    return "\t".join(map(cell_text, cells))


def cell_text(text: str) -> str:
    """The text that a cell has for another one: what is not shown is escaped, and what a
    spreadsheet would run as a formula has an apostrophe before it.
    """
    if not text.isprintable() or "\\" in text:
        text = escaped(_doubled(text))
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def text_of_cell(cell: str) -> str:
    """The text that a cell has been written for by `cell_text`."""
    is_guarded = cell[:1] == "'" and cell[1:].startswith(_FORMULA_STARTS)
    return _ESCAPED.sub(_unescaped, cell[1:] if is_guarded else cell)


def _doubled(text: str) -> str:
    """The text with two backslashes for one that would be read back as an escape."""
    ends, paths = (*text[1:], ""), {found.start() for found in _BYTE.finditer(text)}
    return "".join(
        c * 2
        if c == "\\" and n not in paths and end and (end in _ESCAPES or not is_shown(end))
        else c
        for n, (c, end) in enumerate(zip(text, ends, strict=False))
    )


def _unescaped(found: re.Match[str]) -> str:
    letters = found[1]
    return chr(int(letters[1:], 16)) if letters[1:] else _ESCAPES[letters]
