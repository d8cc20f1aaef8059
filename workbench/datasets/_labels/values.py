"""Arrays of labels as class numbers 0, 1, 2, ... and class names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.format import plain_name, plural
from workbench.core.outside_text import altered, normal, unique
from workbench.core.specs import Inference, Option
from workbench.datasets._class_parts import class_order
from workbench.datasets._labels.texts import (
    FIRST,
    LabelSettings,
    decode_labels,
    missing_labels,
    untrained,
)
from workbench.errors import DatasetError
from workbench.pictures.folders import natural_key

Array = np.ndarray[Any, Any]

MAX_CLASSES = 10_000
"""More different labels than this are measurements, not classes."""

_FEW = 10
"""Number of images from which on they do not have a class each."""
_FEW_RUNNING = 5
"""Number of images from which on labels that count them are no classes."""

EXPECTED = "whole numbers (n,), one-hot rows (n, classes), or text (n,)"


@dataclass(frozen=True)
class Labels:
    """Class numbers of each part, and the classes' names.

    Attributes:
        parts: The class numbers of the images that have a class.
        class_names: The names.
        kept: For each part, which images have a class: bool (n,).
        notes: What was taken, in sentences.
        inferences: What was inferred.
    """

    parts: tuple[np.ndarray[Any, np.dtype[np.int64]], ...]
    class_names: tuple[str, ...]
    kept: tuple[np.ndarray[Any, np.dtype[np.bool_]], ...] = ()
    notes: tuple[str, ...] = ()
    inferences: tuple[Inference, ...] = ()


@dataclass(frozen=True)
class _Classes:
    """A class number for each label, and the names."""

    numbers: Array
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    inferences: tuple[Inference, ...] = ()


def read_labels(
    parts: Mapping[str, Array],
    given_names: Array | None,
    where: str,
    settings: LabelSettings | None = None,
) -> Labels:
    """Labels of all parts together, so that all number their classes alike.

    Args:
        parts: The array of labels of each part, training first.
        given_names: The class names out of the file, if there are any.
        where: How messages name the file.
        settings: What a person has set.

    Raises:
        DatasetError: no labels of any known form, labels of several forms, or more classes than
            names.
    """
    settings = settings or LabelSettings()
    flat = [_flat(part, where) for part in parts.values()]
    widths = {int(each.shape[1]) for each in parts.values() if each.ndim == 2 and each.shape[1] > 1}
    texts, found = _decoded(
        [*flat, *([] if given_names is None else [given_names])], settings, where
    )
    names = () if given_names is None else unique(texts[-1].tolist())
    flat = _alike(dict(zip(parts, texts, strict=False)), where)
    _refuse_single(flat[0], where)
    joined = np.concatenate(flat)
    is_used, missing = _used(joined, names, settings)
    kept = np.split(is_used, np.cumsum([len(part) for part in flat])[:-1])
    if not kept[0].any():
        raise _no_labels(where)
    classes = _classes(joined[is_used], names, max(widths, default=0), where, settings)
    numbers = _cut(classes.numbers, [part[mask] for part, mask in zip(flat, kept, strict=True)])
    occurring = {part: np.unique(each).tolist() for part, each in zip(parts, numbers, strict=True)}
    inferences = (*found, *missing, *classes.inferences, *untrained(occurring, classes.names))
    empty = [part for part, mask in zip(parts, kept, strict=True) if not mask.any()]
    notes = [f"The {part} part has no labels and is not used." for part in empty]
    return Labels(numbers, classes.names, tuple(kept), (*classes.notes, *notes), inferences)


def _classes(
    joined: Array, names: tuple[str, ...], width: int, where: str, settings: LabelSettings
) -> _Classes:
    """Classes of text, of numbers of names, of columns of one-hot rows, or of other numbers."""
    if joined.dtype.kind == "U":
        return _of_texts(joined, names, where)
    joined = joined.astype(np.int64)
    if names:
        return _of_named(joined, names, where, settings.first)
    values, numbers = np.unique(joined, return_inverse=True)
    _check_count(len(values), where)
    if values[0] >= 0 and width > values[-1]:  # the width of one-hot rows is the number of classes
        return _Classes(joined, tuple(str(i) for i in range(width)))
    own = tuple(str(value) for value in values)
    if np.array_equal(values, np.arange(len(values))):
        return _Classes(joined, own)
    note = f"The labels are {_listed(values)}; they are used as class names."
    return _Classes(numbers, own, (note,))


def _decoded(
    arrays: list[Array], settings: LabelSettings, where: str
) -> tuple[list[Array], tuple[Inference, ...]]:
    """Labels and names whose bytes are text; all of them are decoded alike."""
    values = {each for array in arrays if array.dtype.kind == "S" for each in np.unique(array)}
    texts, found = decode_labels(map(bytes, values), settings, where) if values else ({}, ())
    decoded = [
        np.array([texts[each] for each in array.reshape(-1).tolist()], np.str_).reshape(array.shape)
        if array.dtype.kind == "S"
        else array
        for array in arrays
    ]
    return decoded, found


def _alike(parts: Mapping[str, Array], where: str) -> list[Array]:
    """All parts as text, or all as numbers, as the training part is.

    Raises:
        DatasetError: one part has names and another one numbers.
    """
    if len({part.dtype.kind == "U" for part in parts.values()}) == 1:
        return list(parts.values())
    try:
        return [part.astype(np.int64) for part in parts.values()]
    except ValueError:
        words = [f"{part}: {_listed(np.unique(each))}" for part, each in parts.items()]
        raise DatasetError(
            "The labels of one part are text, and those of another are numbers.",
            where=where,
            received="; ".join(map(plain_name, words)),
            expected="labels of one form in all parts",
            fix="Write the labels of all parts in the same way.",
        ) from None


def _used(
    joined: Array, names: Sequence[str], settings: LabelSettings
) -> tuple[Array, tuple[Inference, ...]]:
    """Which labels are classes: not those that mean a missing one."""
    values, numbers, counts = np.unique(joined, return_inverse=True, return_counts=True)
    forms = [normal(each) if isinstance(each, str) else int(each) for each in values.tolist()]
    total: Counter[str | int] = Counter()
    for form, count in zip(forms, counts.tolist(), strict=True):
        total[form] += count
    absent, found = missing_labels(total, settings, known={*map(normal, names)})
    return np.array([form not in absent for form in forms], bool)[numbers.reshape(-1)], found


def _no_labels(where: str) -> DatasetError:
    return DatasetError(
        "No training image has a label.",
        where=where,
        received="labels that all mean a missing one",
        expected="labels of at least two classes",
        fix="Choose another array as the labels, or set which labels are missing.",
    )


def _of_texts(joined: Array, given_names: tuple[str, ...], where: str) -> _Classes:
    """Text in normal form, in the order of the names that the file gives, where all are there."""
    values, numbers = np.unique(joined, return_inverse=True)
    keys = [normal(each) for each in values.tolist()]
    shown = dict(zip(reversed(keys), reversed(values.tolist()), strict=True))
    found = sorted(shown, key=lambda each: (natural_key(each), each))
    _check_count(len(found), where)
    known = {normal(name): place for place, name in enumerate(given_names)}
    is_known = known.keys() >= set(found)
    found = sorted(found, key=known.__getitem__) if is_known else found
    names = unique([normal(plain_name(shown[key])) for key in found])
    places = {key: place for place, key in enumerate(found)}
    own = np.array([places[key] for key in keys], np.int64)
    inferences = () if is_known else class_order(names)
    notes = altered(shown[key] for key in found)
    return _Classes(own[numbers.reshape(-1)], names, notes, (*inferences, *_damaged(names)))


def _damaged(names: Sequence[str]) -> tuple[Inference, ...]:
    """A doubt about names with the mark of letters that were lost before."""
    lost = [name for name in names if "\N{REPLACEMENT CHARACTER}" in name]
    doubt = "Letters were lost when the file was written: different labels may have become one."
    return (Inference("encoding", "Letters that were lost", lost[0], "", doubt),) if lost else ()


def _of_named(joined: Array, names: tuple[str, ...], where: str, first: str) -> _Classes:
    """Numbers of given names. They count from 1 where that is set, or where there is one number
    more than names that count from 0.
    """
    low, high = int(joined.min()), int(joined.max())
    start = int(first) if first != "auto" else int(low >= 1 and high == len(names))
    checked = _checked_names(joined - start, names, where, start)
    value = f"counted from {start}"
    if first != "auto":
        told = Inference("label_start", _START, value, param=FIRST.key, is_told=True)
        return _Classes(joined - start, checked, (), (told,))
    evidence = f"labels from {low} to {high}, and {plural(len(names), 'class name')}"
    unused = f"No image has the first class, “{names[0]}”."
    if low < 1:
        return _Classes(joined, checked)
    doubt = unused if low > start else ""
    options = () if start else (Option("1", "counted from 1"),)
    found = Inference("label_start", _START, value, evidence, doubt, FIRST.key, options)
    return _Classes(joined - start, checked, (), (found,))


_START = "The labels"


def _refuse_single(labels: Array, where: str) -> None:
    """Refuses as many different labels as images: they number the images."""
    is_running = labels.dtype.kind == "i" and np.array_equal(labels, np.arange(len(labels)))
    least = _FEW_RUNNING if is_running else _FEW
    if len(labels) >= least and len(np.unique(labels)) == len(labels):
        raise DatasetError(
            "Each image has a label of its own.",
            where=where,
            received=f"{len(labels):,} different labels of {len(labels):,} images",
            expected="labels that several images have",
            fix="Choose another array as the labels.",
        )


def _flat(labels: Array, where: str) -> Array:
    """One label per image: text, or whole numbers."""
    kind = labels.dtype.kind
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim == 1 and kind in "SU":
        return labels
    if labels.ndim in {1, 2} and kind in "buif" and len(labels):
        numbers = np.asarray(labels)
        is_whole = kind != "f" or bool(np.all(np.isfinite(numbers) & (numbers % 1 == 0)))
        if is_whole and labels.ndim == 1:
            return numbers.astype(np.int64)
        if is_whole and _is_one_hot(numbers):
            return np.asarray(numbers.argmax(axis=1), np.int64)
    raise _not_labels(labels, where)


def _not_labels(labels: Array, where: str) -> DatasetError:
    fix = "Choose another array as the labels."
    if labels.ndim == 2 and set(np.unique(labels[:10_000]).tolist()) <= {0, 1}:
        fix = (
            "Each row must hold one 1. Several labels an image are not supported: choose one "
            "column as the labels, or write one label for each image."
        )
    elif labels.dtype.kind == "f" and not np.isfinite(labels).all():
        number = int((~np.isfinite(labels)).sum())
        fix = f"{plural(number, 'label')} are NaN or infinite: leave out these images."
    elif labels.dtype.kind == "f" and labels.ndim == 1:
        fix = "Regression (predicting a number) is not supported: write whole numbers."
    return DatasetError(
        "These values are not labels.",
        where=where,
        received=f"{labels.dtype} {labels.shape}",
        expected=EXPECTED,
        fix=fix,
    )


def _is_one_hot(rows: Array) -> bool:
    is_binary = bool(np.all((rows == 0) | (rows == 1)))
    return is_binary and bool(np.all(rows.sum(axis=1, dtype=np.int64) == 1))


def _check_count(count: int, where: str) -> None:
    if count > MAX_CLASSES:
        raise DatasetError(
            "There are too many different labels.",
            where=where,
            received=f"{count:,} different labels",
            expected=f"at most {MAX_CLASSES:,}",
            fix="Regression (predicting a number) is not supported.",
        )


def _checked_names(
    labels: Array, names: tuple[str, ...], where: str, start: int = 0
) -> tuple[str, ...]:
    low, high = int(labels.min()) + start, int(labels.max()) + start
    if low < start or high >= len(names) + start:
        raise DatasetError(
            "The labels do not match class_names.",
            where=where,
            received=f"labels from {low} to {high}, and {len(names)} class names",
            expected=f"labels from {start} to {len(names) - 1 + start}",
            fix="Write one name for each label, or set what the labels count from, or which of "
            "them mean a missing one (missing=-1).",
        )
    return names


def _cut(joined: Array, parts: list[Array]) -> tuple[Array, ...]:
    ends = np.cumsum([len(part) for part in parts])[:-1]
    return tuple(np.split(joined.astype(np.int64).reshape(-1), ends))


def _listed(values: Array) -> str:
    texts = [str(value) for value in values]
    return ", ".join(texts if len(texts) <= 6 else [*texts[:3], "...", *texts[-2:]])
