"""Arrays of labels as class numbers 0, 1, 2, ... and class names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.format import plain_name
from workbench.errors import DatasetError

Array = np.ndarray[Any, Any]

MAX_CLASSES = 10_000
"""More different labels than this are measurements, not classes."""

EXPECTED = "whole numbers (n,), one-hot rows (n, classes), or text (n,)"


@dataclass(frozen=True)
class Labels:
    """Class numbers of each part, and the classes' names."""

    parts: tuple[np.ndarray[Any, np.dtype[np.int64]], ...]
    class_names: tuple[str, ...]
    notes: tuple[str, ...] = ()


def read_labels(parts: list[Array], given_names: tuple[str, ...], where: str) -> Labels:
    """Labels of the training part and of the test part, if any, together, so that both number
    their classes alike; `given_names` are the class names out of the file, or empty.

    Raises:
        DatasetError: no labels of any known form, or more classes than names.
    """
    flat = [_flat(part, where) for part in parts]
    joined = np.concatenate(flat)
    if joined.dtype.kind in "SU":
        names, numbers = np.unique(joined, return_inverse=True)
        _check_count(len(names), where)
        return Labels(_cut(numbers, flat), tuple(plain_name(name) for name in names))
    joined = joined.astype(np.int64)
    if given_names:
        return Labels(_cut(joined, flat), _checked_names(joined, given_names, where))
    values, numbers = np.unique(joined, return_inverse=True)
    _check_count(len(values), where)
    width = int(parts[0].shape[1]) if parts[0].ndim == 2 else 0
    if values[0] >= 0 and width > 1:  # the width of one-hot rows is the number of classes
        return Labels(_cut(joined, flat), tuple(str(i) for i in range(width)))
    if np.array_equal(values, np.arange(len(values))):
        return Labels(_cut(joined, flat), tuple(str(value) for value in values))
    note = f"The labels are {_listed(values)}; they are used as class names."
    return Labels(_cut(numbers, flat), tuple(str(value) for value in values), (note,))


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
