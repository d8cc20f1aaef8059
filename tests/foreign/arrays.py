"""Arrays of images and labels in .npz files, as people publish and keep them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tests.foreign.judged import Case, Written, pixels

Array = np.ndarray[Any, Any]

POLISH = ("łaba", "pies", "żaba")
FRENCH = ("chêne", "érable", "pin")

_COUNTS = {"train": 30, "test": 9, "validation": 12}
NAMES = ("0", "1", "2")


def _stack(part: str) -> tuple[Array, Array]:
    """uint8 images and labels of a part. Numbers stay small, so that values fit a byte."""
    labels = np.arange(_COUNTS[part]) % len(NAMES)
    images = [pixels(part, int(label), number) for number, label in enumerate(labels)]
    stacked = np.stack(images)
    stacked[:, 0, 0], stacked[:, 0, 1] = 0, 255  # black and white, as photos have them
    return stacked, labels


KEYS: Mapping[str, tuple[tuple[str, str], ...]] = {
    "x_train": (("x_train", "y_train"), ("x_test", "y_test")),
    "X_train": (("X_train", "Y_train"), ("X_test", "Y_test")),
    "train_x": (("train_x", "train_y"), ("test_x", "test_y")),
    "train_images": (("train_images", "train_labels"), ("test_images", "test_labels")),
    "medical": (
        ("train_images", "train_labels"),
        ("test_images", "test_labels"),
        ("val_images", "val_labels"),
    ),
    "three parts": (("x_train", "y_train"), ("x_test", "y_test"), ("x_val", "y_val")),
    "x_valid": (("x_train", "y_train"), ("x_test", "y_test"), ("x_valid", "y_valid")),
    "x, y": (("x", "y"),),
    "X, y": (("X", "y"),),
    "images, labels": (("images", "labels"),),
    "data, target": (("data", "target"),),
    "arr_0": (("arr_0", "arr_1"),),
    "arr_0 swapped": (("arr_1", "arr_0"),),
    "arr_0 to arr_3": (("arr_0", "arr_1"), ("arr_2", "arr_3")),
    "image, label": (("image", "label"),),
    "trainX": (("trainX", "trainY"), ("testX", "testY")),
    "Xtr": (("Xtr", "Ytr"), ("Xte", "Yte")),
    "only validation": (("x_train", "y_train"), ("x_val", "y_val")),
}

VALUES: Mapping[str, Callable[[Array], Array]] = {
    "uint8": lambda x: x,
    "0..1 float32": lambda x: (x / 255).astype(np.float32),
    "0..1 float64": lambda x: x / 255,
    "0..1 float16": lambda x: (x / 255).astype(np.float16),
    "-1..1": lambda x: (x / 127.5 - 1).astype(np.float32),
    "0..255 float": lambda x: x.astype(np.float32),
    "int64": lambda x: x.astype(np.int64),
    "uint16 full": lambda x: x.astype(np.uint16) * 257,
    "12 bits": lambda x: np.round(x * (4095 / 255)).astype(np.uint16),
    "10 bits": lambda x: np.round(x * (1023 / 255)).astype(np.uint16),
    "just above 1": lambda x: np.where(x == 255, 1.0001, x / 255).astype(np.float32),
    "just below 0": lambda x: np.where(x == 0, -0.002, x / 255).astype(np.float32),
    "channels first": lambda x: np.moveaxis(x, -1, 1),
    "channels first 0..1": lambda x: np.moveaxis(x / 255, -1, 1),
    "images last": lambda x: np.moveaxis(x, 0, -1),
    "fortran": np.asfortranarray,
    "standardized": lambda x: ((x - x.mean()) / x.std()).astype(np.float32),
    "0..100": lambda x: (x * (100 / 255)).astype(np.float32),
    "alpha": lambda x: np.concatenate([x, np.full_like(x[..., :1], 255)], axis=-1),
}

LABELS: Mapping[str, tuple[Callable[[Array], Array], tuple[str, ...]]] = {
    "int64": (lambda y: y, NAMES),
    "uint8": (lambda y: y.astype(np.uint8), NAMES),
    "(n, 1)": (lambda y: y[:, None], NAMES),
    "(1, n)": (lambda y: y[None], NAMES),
    "float": (lambda y: y.astype(np.float32), NAMES),
    "one-hot": (lambda y: np.eye(3)[y], NAMES),
    "one-hot bool": (lambda y: np.eye(3, dtype=bool)[y], NAMES),
    "from 1": (lambda y: y + 1, ("1", "2", "3")),
    "gaps": (lambda y: y * 10, ("0", "10", "20")),
    "text": (lambda y: np.array(["cat", "dog", "fox"])[y], ("cat", "dog", "fox")),
    "bytes": (lambda y: np.array([b"cat", b"dog", b"fox"])[y], ("cat", "dog", "fox")),
    "negative": (lambda y: y - 1, ("-1", "0", "1")),
    "text digits": (lambda y: np.array(["2", "10", "1"])[y], ("2", "10", "1")),
    "Central European bytes": (
        lambda y: np.array([name.encode("cp1250") for name in POLISH])[y],
        POLISH,
    ),
    "Western European bytes": (
        lambda y: np.array([name.encode("cp1252") for name in FRENCH])[y],
        FRENCH,
    ),
    "255": (lambda y: np.where(y == 2, 255, y), ("0", "1", "255")),
    "-999": (lambda y: np.where(y == 2, -999, y), ("0", "1", "-999")),
    "None": (lambda y: np.array(["cat", "dog", "None"])[y], ("cat", "dog", "None")),
    "two forms": (lambda y: np.array(["1", "1.0", "2"])[y], ("1", "1.0", "2")),
    "two spellings": (lambda y: np.array(["Cat", "cat", "dog"])[y], ("Cat", "cat", "dog")),
}


SPLITS: Mapping[str, Callable[[int, int], dict[str, Array]]] = {
    "split": lambda n, m: {"split": np.array(["train"] * n + ["test"] * m)},
    "set as bytes": lambda n, m: {"set": np.array([b"Training"] * n + [b"Test"] * m)},
    "is_train": lambda n, m: {"is_train": np.arange(n + m) < n},
    "is_test of numbers": lambda n, m: {"is_test": (np.arange(n + m) >= n).astype(np.uint8)},
    "places": lambda n, m: {"train_idx": np.arange(n), "test_idx": np.arange(n, n + m)},
    "masks": lambda n, m: {"train_mask": np.arange(n + m) < n, "test_mask": np.arange(n + m) >= n},
}
"""Arrays that say the part of each image, of so many training and test images."""


def cases() -> Iterator[Case]:
    """All files of arrays."""
    for name in KEYS:
        for values in ("uint8", "0..1 float32", "uint16 full"):
            yield _case(name, values, "int64")
    for values in VALUES:
        for name in ("x_train", "x, y"):
            yield _case(name, values, "int64")
        yield _case("x_train", ("uint8", values), "int64")
        yield _case("x_train", (values, "uint8"), "int64")
    for labels in LABELS:
        for name in ("x_train", "medical"):
            yield _case(name, "uint8", labels)
    for name in SPLITS:
        yield _divided(name)


def _case(keys: str, values: str | tuple[str, str], labels: str) -> Case:
    first, other = (values, values) if isinstance(values, str) else values

    def write(folder: Path) -> tuple[str, Mapping[str, Any], Written]:
        folder.mkdir(parents=True)
        change, names = LABELS[labels]
        written = Written(folder, names)
        arrays: dict[str, Array] = {}
        second = "validation" if keys == "only validation" else "test"
        for part, (x, y) in zip(("train", second, "validation"), KEYS[keys], strict=False):
            images, numbers = _stack(part)
            arrays[x] = VALUES[first if part == "train" else other](images)
            arrays[y] = change(numbers)
            written.images |= {(part, int(label), n) for n, label in enumerate(numbers)}
        np.savez(folder / "data.npz", **arrays)
        return "npz", {"path": str(folder / "data.npz")}, written

    return Case("arrays", f"{keys}: {first}, {other}, labels {labels}", write)


def _divided(split: str) -> Case:
    """Images of two parts in one array, with another one that says which is which."""

    def write(folder: Path) -> tuple[str, Mapping[str, Any], Written]:
        folder.mkdir(parents=True)
        written = Written(folder, NAMES)
        stacks = {part: _stack(part) for part in ("train", "test")}
        for part, (_, labels) in stacks.items():
            written.images |= {(part, int(label), n) for n, label in enumerate(labels)}
        images, labels = (np.concatenate(each) for each in zip(*stacks.values(), strict=True))
        said = SPLITS[split](_COUNTS["train"], _COUNTS["test"])
        np.savez(folder / "data.npz", images=images, labels=labels, **said)
        return "npz", {"path": str(folder / "data.npz")}, written

    return Case("arrays", f"parts by {split}", write)
