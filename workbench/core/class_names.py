"""One normal form of class names: what data sets, true classes, sorting and imports compare.

The same class is written in several ways: letters with marks as one character or as two (macOS),
with other spaces, invisible marks, capitals. Names are compared as they are, then in normal form,
then without regard to case; a name that fits several is never matched. Qt-free.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from workbench.core.format import MAX_NAME, plain_name

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
