"""Labels as they are written, as classes: lists, missing values, spellings."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workbench.core.class_names import look_alikes, normal
from workbench.core.format import list_text, plain_name, plural
from workbench.core.specs import Inference, Option
from workbench.errors import DatasetError
from workbench.pictures.listed.column import is_list
from workbench.pictures.listed.given import NONE, Given
from workbench.pictures.listed.label_doubts import joined_labels, spelling_doubts, suspected_missing
from workbench.pictures.listed.names import MISSING, squeezed

_LIKE_A_CLASS = 0.05  # of the lines with a word that means a missing label
_SEPARATORS = "|;,+&/"
_OF_LISTS = "|;"  # those that are hardly ever part of a name
_REFUSED = "|;,"  # those that are refused where the pieces occur alone or with others
_SEVERAL = {"tags", "keywords", "attributes", "findings", "multilabel", "multilabels"}
"""Names of columns whose words are labels of their own, as `squeezed` gives them."""
_MOST_SHOWN = 3


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
