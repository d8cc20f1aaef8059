"""Labels as they are written, as classes: lists, missing values, spellings."""

from __future__ import annotations

import contextlib
import html
import json
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.core.format import list_text, plain_name, plural
from workbench.core.outside_text import look_alikes, normal
from workbench.core.specs import Inference, Option
from workbench.errors import DatasetError
from workbench.pictures.listed.column import MISSING, is_list, squeezed
from workbench.pictures.listed.given import NONE, Given

# label doubts --------------------------------------------------------------------------------
# Labels that are hardly classes as they are written.
#
# Numbers and words for a missing label, one number in several forms, damaged letters, and letters
# of two scripts that look alike.

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


# label text ----------------------------------------------------------------------------------

_LIKE_A_CLASS = 0.05  # of the lines with a word that means a missing label
_SEPARATORS = "|;,+&/"
_OF_LISTS = "|;"  # those that are hardly ever part of a name
_REFUSED = "|;,"  # those that are refused where the pieces occur alone or with others
_SEVERAL = {"tags", "keywords", "attributes", "findings", "multilabel", "multilabels"}
"""Names of columns whose words are labels of their own, as `squeezed` gives them."""


@dataclass
class LabelTexts:
    """Turns the labels of one table into classes.

    Attributes:
        path: The table, for messages.
        given: What a person has set.
        header: The name of the column; "" where it has none.
        inferences: What was inferred, in sentences.
    """

    path: Path
    given: Given
    header: str = ""
    inferences: list[Inference] = field(default_factory=list)

    def classes(self, cells: Sequence[str], *, is_plain: bool = False) -> dict[str, str]:
        """The class of each label, "" where it is none.

        Args:
            cells: The label of each line.
            is_plain: They are names of columns or folders, and taken as they are.

        Raises:
            DatasetError: images have several labels.
        """
        counts = Counter(cells)
        found = {cell: normal(cell) for cell in counts}
        if is_plain:
            return found
        self.inferences += joined_labels(found)
        found = self._without_lists(found, counts)
        self._refuse_several(found)
        self._drop_missing(found, counts)
        merged = self._merge_case(found, counts)
        self.inferences += spelling_doubts({name for name in merged.values() if name})
        return merged

    def _without_lists(self, found: dict[str, str], counts: Counter[str]) -> dict[str, str]:
        """Lists of one item are that item, one-hot lists its place."""
        lists = {cell: items for cell in found if (items := list_items(cell)) is not None}
        filled = sum(number for cell, number in counts.items() if cell)
        if sum(counts[cell] for cell in lists) * 2 < filled:
            # Few may be names in brackets, but not where an item is a label of other lines.
            plain = {found[cell] for cell in found if cell not in lists}
            lists = {c: items for c, items in lists.items() if plain & {*map(_item, items)}}
        if not lists or self.given.label:
            return found
        lengths = {len(items) for items in lists.values()}
        if len(lengths) == 1 and lengths != {1} and all(map(_is_zeros_and_ones, lists.values())):
            several = [cell for cell, items in lists.items() if sum(map(float, items)) > 1]
            words = "one-hot lists"
            single = {cell: _place_of_one(items) for cell, items in lists.items()}
        else:
            several = [cell for cell, items in lists.items() if len(items) > 1]
            words = "lists of one item"
            single = {cell: _item(items[0]) if items else "" for cell, items in lists.items()}
        if several:
            raise several_labels(self.path, several[0])
        self.inferences.append(Inference("label_form", "The labels", words, "by their brackets"))
        return {**found, **single}

    def _refuse_several(self, found: Mapping[str, str]) -> None:
        """Refuses cells such as "cat|dog" whose pieces occur alone or with others; those that may
        be several labels or one raise a doubt.
        """
        if self.given.label:
            return
        for separator in _SEPARATORS:
            split = {cell: _pieces(cell, separator) for cell in found.values() if cell}
            joined = [cell for cell, pieces in split.items() if len(pieces) > 1]
            is_plain = separator in _OF_LISTS and _share_pieces(split)
            is_list = separator in _REFUSED and _are_several(split)
            if joined and (is_plain or is_list):
                raise several_labels(self.path, joined[0])
            if joined and (separator in _OF_LISTS or _share_pieces(split)):
                self._doubt_several(joined[0])
                return
        split = {cell: cell.split() for cell in found.values() if cell}
        joined = [cell for cell, pieces in split.items() if len(pieces) > 1]
        is_shared = squeezed(self.header) in _SEVERAL and _share_pieces(split)
        if joined and (is_shared or _are_several(split) or _hold_another(split)):
            self._doubt_several(joined[0])

    def _doubt_several(self, example: str) -> None:
        doubt = "Pieces of them occur alone or with others: they may be several labels an image."
        inference = Inference(
            "label_form",
            "The labels",
            "one for each text",
            f"such as “{plain_name(example)}”",
            doubt,
            "label" if self.header else "",
            (Option(self.header, "each text is a class"),) if self.header else (),
        )
        self.inferences.append(inference)

    def _drop_missing(self, found: dict[str, str], counts: Counter[str]) -> None:
        given = self.given.missing
        words = {word.strip().lower() for word in given.split(",")} if given else MISSING
        missing = [] if given == NONE else [cell for cell in found if found[cell].lower() in words]
        missing = [cell for cell in missing if cell]
        for cell in missing:
            found[cell] = ""
        if given:
            value = list_text(sorted(words)) if given != NONE else "none"
            self.inferences.append(
                Inference("missing_labels", _MISSING, value, param="missing", is_told=True)
            )
        else:
            suspects = suspected_missing([*filter(None, found.values())], has_missing=bool(missing))
            if missing or suspects:
                self.inferences.append(self._missing(missing, suspects, counts))

    def _missing(
        self, missing: Sequence[str], suspects: Sequence[str], counts: Counter[str]
    ) -> Inference:
        number = sum(counts[cell] for cell in missing)
        value = _quoted(missing) if missing else "none"
        is_large = number >= _LIKE_A_CLASS * counts.total() and number > 1
        doubts = ["It may be a class."] if is_large else []
        options = [Option(NONE, "no word: it is a class")] if missing else []
        if suspects:
            doubts.append(f"{_quoted(suspects)} may mean a missing label, too.")
            words = dict.fromkeys(normal(cell).lower() for cell in (*missing, *suspects))
            options.append(Option(",".join(words), _quoted(list(words))))
        evidence = f"{plural(number, 'line')} without a label, not used" if missing else ""
        return Inference(
            "missing_labels", _MISSING, value, evidence, " ".join(doubts), "missing", tuple(options)
        )

    def _merge_case(self, found: dict[str, str], counts: Counter[str]) -> dict[str, str]:
        """Classes that differ in case only: merged where that is set, else shown."""
        names = dict.fromkeys(name for name in found.values() if name)
        groups = look_alikes(names)
        sizes: dict[str, int] = defaultdict(int)
        for cell, name in found.items():
            sizes[name] += counts[cell]
        value = Inference("case", _CASE, "one class", param="merge_case", is_told=True)
        if self.given.merge_case:
            best = _spellings(groups, sizes)
            self.inferences += [value] if groups else []
            return {cell: best.get(name, name) for cell, name in found.items()}
        if groups:
            self.inferences.append(_case_inference(groups))
        return found


def _quoted(words: Sequence[str]) -> str:
    return list_text([f"“{plain_name(word)}”" for word in words[:_MOST_SHOWN]])


def _spellings(groups: Sequence[Sequence[str]], sizes: Mapping[str, int]) -> dict[str, str]:
    """One spelling for each group: of the style that is most frequent and that all groups have, or
    else the most frequent of the group.
    """
    styles = [
        {name for group in groups for name in group if style(name) == name} for style in _STYLES
    ]
    whole = [each for each in styles if all(set(group) & each for group in groups)]
    best = max(whole, key=lambda names: sum(sizes[name] for name in names), default=set())
    return {
        name: max(group, key=lambda each: (each in best, sizes[each]))
        for group in groups
        for name in group
    }


_STYLES = (str.lower, str.title, str.capitalize, str.upper)
_MISSING = "Words for a missing label"
_CASE = "Labels of other case"


def _case_inference(groups: Sequence[Sequence[str]]) -> Inference:
    shown = list_text([", ".join(map(plain_name, group)) for group in groups[:_MOST_SHOWN]])
    doubt = "They may be the same class, written in several ways."
    option = Option(value=True, title="merged")
    words = "classes of their own"
    return Inference("case", _CASE, words, shown, doubt, "merge_case", (option,))


def several_labels(path: Path, example: str) -> DatasetError:
    """Images have more than one class."""
    return DatasetError(
        "The table gives an image several labels.",
        where=str(path),
        received=plain_name(example),
        expected="one label for each image",
        fix="Classification with several labels an image is not supported. A column that is set "
        f'as the label ("csv:{path.name}?label=NAME") makes each combination a class.',
    )


def list_items(cell: str) -> list[Any] | None:
    """The items of a cell that is a list in brackets; None for another cell."""
    if not is_list(cell):
        return None
    try:
        items = json.loads(cell.replace("'", '"'))
    except ValueError:
        pieces = re.split(r"[,\s]+", cell.strip(" []{}()'\""))
        items = [piece.strip("'\"") for piece in pieces if piece]
    return items if isinstance(items, list) else None


def _item(item: object) -> str:
    return normal(str(item))


def _is_zeros_and_ones(items: Sequence[Any]) -> bool:
    return all(str(item) in {"0", "1", "0.0", "1.0", "0.", "1."} for item in items)


def _place_of_one(items: Sequence[Any]) -> str:
    ones = [place for place, item in enumerate(items) if float(item) == 1]
    return str(ones[0]) if ones else ""


def _pieces(cell: str, separator: str) -> list[str]:
    return [piece.strip() for piece in cell.split(separator) if piece.strip()]


def _share_pieces(split: Mapping[str, Sequence[str]]) -> bool:
    """Whether a piece of a cell occurs in another cell, too."""
    places = Counter(piece for pieces in split.values() for piece in set(pieces))
    return any(
        places[piece] > 1 for pieces in split.values() if len(pieces) > 1 for piece in pieces
    )


def _hold_another(split: Mapping[str, Sequence[str]]) -> bool:
    """Whether a cell has all words of another one, and more."""
    sets = {frozenset(pieces) for pieces in split.values()}
    places: dict[str, list[frozenset[str]]] = defaultdict(list)
    for each in sets:
        for piece in each:
            places[piece].append(each)
    return any(
        each < other
        for each in sets
        for other in places[min(each, key=lambda word: len(places[word]))]
    )


def _are_several(split: Mapping[str, Sequence[str]]) -> bool:
    """Whether cells are sets of pieces: each piece occurs alone or with several others, and there
    are fewer pieces than sets.
    """
    places = Counter(piece for pieces in split.values() for piece in set(pieces))
    alone = {pieces[0] for pieces in split.values() if len(pieces) == 1}
    joined = {piece for pieces in split.values() if len(pieces) > 1 for piece in pieces}
    is_shared = all(piece in alone or places[piece] > 1 for piece in joined)
    return is_shared and (len(places) < len(split) or joined <= alone)
