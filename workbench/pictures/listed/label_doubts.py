"""Labels that are hardly classes as they are written.

Numbers and words for a missing label, one number in several forms, damaged letters, and letters of
two scripts that look alike.
"""

from __future__ import annotations

import contextlib
import html
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from workbench.core.format import list_text, plain_name
from workbench.core.specs import Inference

_MOST_SHOWN = 3
_NUMBER = re.compile(r"[-+]?\d+([.,]\d*)?")
_SENTINELS = {-1.0, -9.0, -99.0, -999.0, -9999.0}
_LARGE_SENTINELS = {99.0, 255.0, 999.0, 9999.0, 65535.0}
_ENTITY = re.compile(r"&(#\d+|#x[0-9a-f]+|[a-z]+\d*);", re.IGNORECASE)
_ALIKE = str.maketrans(
    "АВЕКМНОРСТУХЅІЈаеорсухѕіјԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧορν",
    "ABEKMHOPCTYXSIJaeopcyxsijdqwABEZHIKMNOPTYXopv",
)
"""Cyrillic and Greek letters, and the Latin ones that look the same."""


def suspected_missing(names: Sequence[str], *, has_missing: bool) -> list[str]:
    """Classes that may mean that a label is missing: "None" beside other such words, -1 or -99
    beside classes that are not negative, 99 or 255 far beyond running ones, one number beside
    words.

    Args:
        names: The classes.
        has_missing: Whether other words mean a missing label.
    """
    different = list(dict.fromkeys(names))
    numbers = {name: float(name.replace(",", ".")) for name in different if _is_number(name)}
    negative = [name for name, number in numbers.items() if number < 0]
    is_sentinel = len(negative) == 1 and numbers[negative[0]] in _SENTINELS
    found = negative if is_sentinel else []
    if len(numbers) == 1 and not found:
        found = list(numbers)
    if len(numbers) == len(different) and _ends_far_beyond(list(numbers.values())):
        found = [max(numbers, key=numbers.__getitem__)]
    found = found if len(different) > 2 else []
    return [*found, *(name for name in different if has_missing and name.lower() == "none")]


def _ends_far_beyond(numbers: Sequence[float]) -> bool:
    """Whether numbers run from 0 or 1 on but for the last, which is one for a missing value."""
    *running, last = sorted(set(numbers)) or [0.0]
    if len(running) < 2 or last not in _LARGE_SENTINELS or last <= 2 * len(running):
        return False
    return running[0] in {0, 1} and running == [running[0] + n for n in range(len(running))]


def _is_number(name: str) -> bool:
    return _NUMBER.fullmatch(name) is not None


def joined_labels(classes: Mapping[str, str]) -> list[Inference]:
    """What is said of labels that differ in spaces or marks that cannot be seen, and are one class.

    Args:
        classes: The class of each label.
    """
    texts: dict[str, set[str]] = defaultdict(set)
    for cell, name in classes.items():
        texts[name].add(unicodedata.normalize("NFC", cell))
    groups = [sorted(map(plain_name, group)) for group in texts.values() if len(group) > 1]
    if not groups:
        return []
    quoted = [", ".join(f"“{text}”" for text in group) for group in groups[:_MOST_SHOWN]]
    what = "Labels that differ in spaces or invisible marks"
    return [Inference("joined_labels", what, "one class", "; ".join(quoted))]


def spelling_doubts(names: Collection[str]) -> list[Inference]:
    """Doubts about how classes are written."""
    found = []
    if groups := _groups(names, _value):
        doubt = "The same number is written in several forms: they may be the same class."
        found.append(_inference("number_forms", groups, doubt))
    if groups := _groups(names, lambda name: name.translate(_ALIKE)):
        doubt = "They look alike in letters of two scripts: they may be the same class."
        found.append(_inference("alike_letters", groups, doubt))
    if damaged := sorted(filter(_is_damaged, names)):
        doubt = "Their letters may be damaged or in another encoding."
        found.append(_inference("damaged_labels", [[name] for name in damaged], doubt))
    return found


def _inference(key: str, groups: Iterable[Sequence[str]], doubt: str) -> Inference:
    shown = [", ".join(map(plain_name, group)) for group in groups]
    more = [f"{len(shown) - _MOST_SHOWN} more"] if len(shown) > _MOST_SHOWN else []
    words = list_text([*shown[:_MOST_SHOWN], *more])
    return Inference(key, "The spelling of labels", "as it is", words, doubt)


def _groups(names: Iterable[str], form: Callable[[str], str]) -> list[list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        groups[form(name)].append(name)
    return [group for group in groups.values() if len(group) > 1]


def _value(name: str) -> str:
    """A number without zeros in front and behind; another name as it is."""
    if not _is_number(name):
        return name
    sign, (whole, _, rest) = (
        "-" * (name[0] == "-"),
        name.lstrip("+-").replace(",", ".").partition("."),
    )
    whole, rest = whole.lstrip("0") or "0", rest.rstrip("0")
    return f"{sign}{whole}.{rest}" if rest else sign + whole


def _is_damaged(name: str) -> bool:
    """Whether letters were lost, are UTF-8 read as another encoding, or escaped."""
    is_escaped = _ENTITY.search(name) is not None and html.unescape(name) != name
    is_marked = len(name) > 1 and name[0] in "'=" and not name.endswith("'")
    return "\ufffd" in name or is_escaped or is_marked or _is_utf8_read_as_another(name)


def _is_utf8_read_as_another(name: str) -> bool:
    """Whether the bytes of Windows-1252 or Latin-1 that the name is read from are UTF-8."""
    for encoding in ("cp1252", "latin-1"):
        with contextlib.suppress(UnicodeError):
            return not name.isascii() and name.encode(encoding).decode() != name
    return False
