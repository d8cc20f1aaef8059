"""Class names that may mislead: those that differ in case or spaces only, and their order."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from workbench.core.class_names import look_alikes
from workbench.core.format import plain_name
from workbench.core.params import ChoiceParam, Params
from workbench.core.specs import ArrayPart, FilePart, Inference, LoadedData, Option, Part
from workbench.pictures.folders import natural_key

LOOK_ALIKES = ChoiceParam(
    "look_alikes",
    "keep",
    "Classes whose names differ in case, spaces, invisible marks or the mark of a copy only.",
    title="Classes of nearly one name",
    choices=("keep", "merge"),
    titles={"keep": "separate", "merge": "one class"},
    is_advanced=True,
)
"""The parameter of sources that have the names of classes from elsewhere."""

_NAMED = 3
_ORDERED = 4


def with_look_alikes(loaded: LoadedData, names: Sequence[str], params: Params) -> LoadedData:
    """A data set with what was inferred of classes whose names look alike: they stay separate, or
    are one where the parameter says so.

    Args:
        loaded: The data set.
        names: Its classes, as its source names them.
        params: Its parameters.
    """
    groups = look_alikes(names) or _same_numbers(names)
    if not groups:
        return loaded
    is_merged = params.get(LOOK_ALIKES.key) == "merge"
    inferences = (*loaded.inferences, _inference(groups, is_merged=is_merged))
    loaded = replace(loaded, inferences=inferences)
    return _merged(loaded, names, groups) if is_merged else loaded


def _same_numbers(names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Groups of names that are the same number in several forms: 1, 01 and 1.0; none where some
    names are no numbers.
    """
    if not all(map(_NUMBER.fullmatch, names)):
        return ()
    groups: dict[Decimal, list[str]] = defaultdict(list)
    for name in names:
        groups[Decimal(name)].append(name)
    return tuple(tuple(group) for group in groups.values() if len(group) > 1)


_NUMBER = re.compile(r"[+-]?[0-9]{1,30}(\.[0-9]{0,30})?")


def _inference(groups: Sequence[Sequence[str]], *, is_merged: bool) -> Inference:
    pairs = [" and ".join(f"“{plain_name(name)}”" for name in group) for group in groups[:_NAMED]]
    more = f" and {len(groups) - _NAMED} more" if len(groups) > _NAMED else ""
    words = "; ".join(pairs) + more
    other = "keep" if is_merged else "merge"
    return Inference(
        "look_alikes",
        "Classes of nearly one name",
        LOOK_ALIKES.show("merge" if is_merged else "keep"),
        f"{words} differ in case, spaces, invisible marks, “copy” or the form of a number only",
        "They may be one class, written in two ways.",
        param=LOOK_ALIKES.key,
        options=(Option(other, LOOK_ALIKES.show(other)),),
        is_told=is_merged,
    )


def _merged(
    loaded: LoadedData, names: Sequence[str], groups: Sequence[Sequence[str]]
) -> LoadedData:
    """Each group as one class, with the name and the place of its first one."""
    first = {name: group[0] for group in groups for name in group}
    kept = list(dict.fromkeys(first.get(name, name) for name in names))
    numbers = np.array([kept.index(first.get(name, name)) for name in names], np.int64)
    shown = dict(zip(names, loaded.class_names, strict=True))

    return replace(
        loaded,
        class_names=tuple(shown[name] for name in kept),
        train=_relabeled(loaded.train, numbers),
        test=_relabeled(loaded.test, numbers) if loaded.test is not None else None,
        validation=_relabeled(loaded.validation, numbers)
        if loaded.validation is not None
        else None,
    )


def _relabeled(part: Part, numbers: np.ndarray[Any, np.dtype[np.int64]]) -> Part:
    """A part with other numbers of classes; files are in the order of the classes."""
    labels = numbers[part.labels]
    if isinstance(part, ArrayPart):
        return ArrayPart(part.pictures, labels)
    order = np.argsort(labels, kind="stable")
    return FilePart(tuple(part.paths[place] for place in order), labels[order])


def class_order(names: Sequence[str]) -> tuple[Inference, ...]:
    """The order of classes, where other programs have another one: none where all have the same."""
    by_code = sorted(names)
    if list(names) == by_code:
        return ()
    shown = ", ".join(plain_name(name) for name in names[:_ORDERED])
    other = ", ".join(plain_name(name) for name in by_code[:_ORDERED])
    order = Inference(
        "class_order",
        "The order of the classes",
        f"{shown}, …" if len(names) > _ORDERED else shown,
        f"{_order_words(names)}; Keras and scikit-learn sort by the codes of letters: "
        f"{other}{', …' if len(names) > _ORDERED else ''}",
    )
    return (order,)


def _order_words(names: Sequence[str]) -> str:
    """Words for the order of the classes."""
    if list(names) == sorted(names, key=natural_key):
        return "numbers by their value, without regard to case"
    return "as their folders or the source have it"
