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
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from workbench.core.format import MAX_NAME, path_text, plain_name

# class names ---------------------------------------------------------------------------------
# One normal form of class names: what data sets, true classes, sorting and imports compare.
#
# The same class is written in several ways: letters with marks as one character or as two (macOS),
# with other spaces, invisible marks, capitals. Names are compared as they are, then in normal form,
# then without regard to case; a name that fits several is never matched. Qt-free.

Key = tuple[str, ...]
"""A class by the names of the folders that lead to it."""

_INVISIBLE = frozenset(
    "\N{COMBINING GRAPHEME JOINER}\N{HANGUL CHOSEONG FILLER}\N{HANGUL JUNGSEONG FILLER}"
    "\N{HANGUL FILLER}\N{HALFWIDTH HANGUL FILLER}\N{BRAILLE PATTERN BLANK}"
)
_SELECTORS = (("\ufe00", "\ufe0f"), ("\u180b", "\u180f"), ("\U000e0100", "\U000e01ef"))
"""First and last of the marks that choose between forms of the letter before them."""

_TAGS = ("\U000e0020", "\U000e007f")  # the flags of England and Wales differ in these alone


def normal(name: str) -> str:
    """A name in the form in which names are compared: composed letters (NFC), single spaces, no
    marks that cannot be seen.
    """
    return " ".join(unicodedata.normalize("NFC", without_invisible(name)).split())


def without_invisible(name: str) -> str:
    """A name without the marks that cannot be seen, or that turn the direction of writing."""
    return "".join(letter for letter in name if not _is_invisible(letter))


def folded(name: str) -> str:
    """The normal form without regard to case and to letters of other width, for a second try."""
    wide = unicodedata.normalize("NFKC", normal(name)).casefold()
    return normal(unicodedata.normalize("NFKC", wide))


def _is_invisible(letter: str) -> bool:
    if letter.isascii():
        return False
    if unicodedata.category(letter) == "Cf":  # joiners, direction marks, byte order marks
        return not _TAGS[0] <= letter <= _TAGS[1]
    return letter in _INVISIBLE or any(low <= letter <= high for low, high in _SELECTORS)


# telling apart -----------------------------------------------------------------------------


def unique(names: Sequence[str]) -> tuple[str, ...]:
    """The names as they are shown and stored, in the same order, each a different one.

    Names that would be shown alike get a number behind them: "rose", "rose (2)".
    """
    shown = [plain_name(name) for name in names]
    taken = set(shown)
    numbers: Counter[str] = Counter()
    for place, name in enumerate(shown):
        numbers[name] += 1
        if numbers[name] > 1:
            shown[place] = _numbered(name, numbers, taken)
            taken.add(shown[place])
    return tuple(shown)


def altered(names: Iterable[str]) -> tuple[str, ...]:
    """Notes on names that are shown otherwise than they are: cut, or with letters that are none."""
    names = [unicodedata.normalize("NFC", name) for name in names]
    groups = {
        f"of more than {MAX_NAME} letters are cut": lambda name: len(name) > MAX_NAME,
        "with letters that cannot be shown have “?” for them": _is_masked,
    }
    found = {
        words: [plain_name(name) for name in filter(is_so, names)]
        for words, is_so in groups.items()
    }
    return tuple(
        f"Names of classes {words}: {len(shown):,}, such as “{shown[0]}”."
        for words, shown in found.items()
        if shown
    )


def _is_masked(name: str) -> bool:
    cut = name[:MAX_NAME]
    return plain_name(cut).count("?") > cut.count("?")


def _numbered(name: str, numbers: Counter[str], taken: Collection[str]) -> str:
    """A name with the first free number behind it."""
    for number in count(numbers[name]):
        mark = f" ({number})"
        free = name[: MAX_NAME - len(mark)] + mark
        if free not in taken:
            break
    numbers[name] = number
    return free


def unique_paths(keys: Iterable[Key]) -> dict[Key, str]:
    """A name for each of some different keys: its last part, with as many parts before it as tell
    it apart; as `unique` where none do.
    """
    keys = list(keys)
    names = {key: key[-1] for key in keys}
    for length in range(2, max(map(len, keys), default=0) + 1):
        counts = Counter(folded(name) for name in names.values())
        names = {
            key: "/".join(key[-length:]) if counts[folded(name)] > 1 else name
            for key, name in names.items()
        }
    return dict(zip(names, unique(tuple(names.values())), strict=True))


_COPY = re.compile(r"([-_ ]*\b(copy|kopie|copie|copia)\b)?( ?\(\d+\))?$")
"""What file managers put behind the name of a copy: " - Copy", " copy (2)", " (1)"."""


def look_alikes(names: Iterable[str]) -> tuple[tuple[str, ...], ...]:
    """Groups of names that differ in case, spaces, invisible marks or the mark of a copy only."""
    forms = {name: folded(name) for name in names}
    known, groups = set(forms.values()), defaultdict(list)
    for name, form in forms.items():
        without = _COPY.sub("", form)
        groups[without if without in known else form].append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


# matching ----------------------------------------------------------------------------------


class KnownNames:
    """Finds names among those that are known.

    Args:
        names: The known ones.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._exact = dict.fromkeys(names)
        self._normal = _single(self._exact, normal)
        self._folded = _single(self._exact, folded)

    def find(self, name: str) -> str:
        """The known name that is meant; "" where none is, or more than one may be."""
        if name in self._exact:
            return name
        form = normal(name)
        if form in self._normal:
            return self._normal[form]
        return self._folded.get(folded(name), "")


def _single(names: Iterable[str], form: Callable[[str], str]) -> dict[str, str]:
    """Names by a form of theirs; "" for a form that several have."""
    found: dict[str, str] = {}
    for name in names:
        key = form(name)
        found[key] = "" if key in found else name
    found.pop("", None)
    return found


@dataclass(frozen=True)
class Matches:
    """Names that were looked for among known ones.

    Attributes:
        names: The known name that each stands for; without those that stand for none.
        unknown: Those that stand for none, in their order.
        notes: A sentence on those that were matched without regard to case.
    """

    names: Mapping[str, str]
    unknown: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


_NOTED = 5
"""Names that a note lists."""


def matched(given: Iterable[str], known: Iterable[str]) -> Matches:
    """Which of the known names each of the given ones stands for."""
    names = list(dict.fromkeys(given))
    finder = KnownNames(known)
    found = {name: meant for name in names if (meant := finder.find(name))}
    unknown = tuple(name for name in names if name not in found)
    other = [(name, meant) for name, meant in found.items() if normal(name) != normal(meant)]
    words = [f"“{plain_name(name)}” is taken as “{plain_name(meant)}”" for name, meant in other]
    more = f" and {len(words) - _NOTED} more" if len(words) > _NOTED else ""
    notes = (", ".join(words[:_NOTED]) + f"{more} (other case).",) if words else ()
    return Matches(found, unknown, notes)


# outside text --------------------------------------------------------------------------------

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
