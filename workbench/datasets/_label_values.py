"""Arrays of labels as class numbers 0, 1, 2, ... and class names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.class_names import look_alikes, normal
from workbench.core.format import plain_name
from workbench.core.specs import Inference
from workbench.errors import DatasetError

Array = np.ndarray[Any, Any]

MAX_CLASSES = 10_000
"""More different labels than this are measurements, not classes."""

_FEW = 10
"""From so many images on, they do not have a class each."""
_FEW_RUNNING = 5
"""The same for numbers that count the images."""

EXPECTED = "whole numbers (n,), one-hot rows (n, classes), or text (n,)"


@dataclass(frozen=True)
class Labels:
    """Class numbers of each part, and the classes' names."""

    parts: tuple[np.ndarray[Any, np.dtype[np.int64]], ...]
    class_names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    inferences: tuple[Inference, ...] = ()


def read_labels(parts: list[Array], given_names: tuple[str, ...], where: str) -> Labels:
    """Labels of the training part and of the test part, if any, together, so that both number
    their classes alike; `given_names` are the class names out of the file, or empty.

    Raises:
        DatasetError: no labels of any known form, or more classes than names.
    """
    flat = [_flat(part, where) for part in parts]
    _refuse_single(flat[0], where)
    joined = np.concatenate(flat)
    if joined.dtype.kind in "SU":
        return _of_texts(joined, flat, given_names, where)
    joined = joined.astype(np.int64)
    if given_names:
        return _of_named(joined, flat, given_names, where)
    values, numbers = np.unique(joined, return_inverse=True)
    _check_count(len(values), where)
    width = int(parts[0].shape[1]) if parts[0].ndim == 2 else 0
    if values[0] >= 0 and width > 1:  # the width of one-hot rows is the number of classes
        return Labels(_cut(joined, flat), tuple(str(i) for i in range(width)))
    if np.array_equal(values, np.arange(len(values))):
        return Labels(_cut(joined, flat), tuple(str(value) for value in values))
    note = f"The labels are {_listed(values)}; they are used as class names."
    found = (_missing(int((joined == -1).sum())),) if values[0] == -1 and len(values) > 2 else ()
    return Labels(_cut(numbers, flat), tuple(str(value) for value in values), (note,), found)


def _missing(number: int) -> Inference:
    doubt = "It often means that an image has no label: leave the class out in that case."
    return Inference("missing_labels", "The label -1", "a class", f"{number:,} images", doubt)


def _of_texts(joined: Array, flat: list[Array], given_names: tuple[str, ...], where: str) -> Labels:
    """Text in normal form, in the order of the names that the file gives, where all are there."""
    texts = [normal(plain_name(each)) for each in joined.tolist()]
    found = list(dict.fromkeys(normal(plain_name(each)) for each in np.unique(joined).tolist()))
    _check_count(len(found), where)
    known = {normal(name): place for place, name in enumerate(given_names)}
    if known.keys() >= set(found):
        found = sorted(found, key=known.__getitem__)
    places = {name: place for place, name in enumerate(found)}
    numbers = np.array([places[text] for text in texts], np.int64)
    return Labels(_cut(numbers, flat), tuple(found), inferences=_case(found))


def _case(names: list[str]) -> tuple[Inference, ...]:
    groups = look_alikes(names)
    shown = "; ".join(", ".join(group) for group in groups[:3])
    doubt = "They may be the same class, written in several ways: merge them in that case."
    inference = Inference("case", "Labels of other case", "classes of their own", shown, doubt)
    return (inference,) if groups else ()


def _of_named(joined: Array, flat: list[Array], given_names: tuple[str, ...], where: str) -> Labels:
    """Numbers of given names; those that count from 1 too, where there is no name for 0."""
    low, high = int(joined.min()), int(joined.max())
    if low == 1 and high == len(given_names):
        evidence = f"labels from 1 to {high} and as many class names"
        inference = Inference("label_start", "The labels", "counted from 1", evidence)
        return Labels(_cut(joined - 1, flat), given_names, inferences=(inference,))
    return Labels(_cut(joined, flat), _checked_names(joined, given_names, where))


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
    received = f"{labels.dtype} {labels.shape}"
    raise DatasetError(
        "These values are not labels.", where=where, received=received, expected=EXPECTED
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


def _checked_names(labels: Array, names: tuple[str, ...], where: str) -> tuple[str, ...]:
    low, high = int(labels.min()), int(labels.max())
    if low < 0 or high >= len(names):
        raise DatasetError(
            "The labels do not match class_names.",
            where=where,
            received=f"labels from {low} to {high}, and {len(names)} class names",
            expected=f"labels from 0 to {len(names) - 1}",
        )
    return names


def _cut(joined: Array, parts: list[Array]) -> tuple[Array, ...]:
    ends = np.cumsum([len(part) for part in parts])[:-1]
    return tuple(np.split(joined.astype(np.int64).reshape(-1), ends))


def _listed(values: Array) -> str:
    texts = [str(value) for value in values]
    return ", ".join(texts if len(texts) <= 6 else [*texts[:3], "...", *texts[-2:]])
