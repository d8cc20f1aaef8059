"""An .npz file of numpy: arrays of images and labels."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from workbench.core.format import plain_name
from workbench.core.params import Params, PathParam
from workbench.core.specs import ArrayPart, DatasetSpec, Inference, LoadContext, LoadedData
from workbench.datasets._array_cache import cached_entry, save_array
from workbench.datasets._label_values import read_labels
from workbench.datasets._npz_file import Member, check_space, read_members, unpack_member
from workbench.datasets._picture_values import (
    find_axes,
    find_scales,
    scale_inferences,
    scale_notes,
    write_pictures,
)
from workbench.datasets._value_range import ARRAY_RANGE
from workbench.datasets.cifar10 import CLASS_NAMES as CIFAR10_NAMES
from workbench.errors import DatasetError
from workbench.pictures.portable.ranges import AUTO

_KEYS: tuple[tuple[str, str, str, str], ...] = (
    ("x_train", "y_train", "x_test", "y_test"),
    ("X_train", "y_train", "X_test", "y_test"),
    ("train_images", "train_labels", "test_images", "test_labels"),
    ("x", "y", "", ""),
    ("X", "y", "", ""),
    ("images", "labels", "", ""),
)
"""Names under which images and labels are looked for: training part, test part."""

_NAMES_KEYS = ("class_names", "label_names", "classes")

_CIFAR10_LABELS = "2b7cd2f24487317614016b72ffd53071c3062f592f0eb300c18a770d41ae1253"
"""sha256 of CIFAR-10's training labels as bytes: with their shape, they identify it."""

_EXPECTED = "x_train, y_train, x_test, y_test, or x, y"


def _load(ctx: LoadContext, params: Params) -> LoadedData:
    path = _path(str(params.get("path", "")))
    given = str(params.get("range", AUTO))
    name = "npz" if given == AUTO else f"npz-{hashlib.sha256(given.encode()).hexdigest()[:8]}"
    entry = cached_entry(ctx, name, path, partial(_fill, ctx, path, given))
    arrays, facts = entry.arrays, entry.facts
    test = ArrayPart(arrays["x_test"], arrays["y_test"]) if "x_test" in arrays else None
    return LoadedData(
        class_names=tuple(facts["class_names"]),
        train=ArrayPart(arrays["x_train"], arrays["y_train"]),
        test=test,
        notes=tuple(facts["notes"]),
        inferences=msgspec.convert(facts["inferences"], tuple[Inference, ...]),
    )


def _path(text: str) -> Path:
    if not text:
        raise DatasetError(
            "No file has been chosen yet.", expected="an .npz file", fix="Choose an .npz file."
        )
    path = Path(os.path.expanduser(text))  # noqa: PTH111 - keeps an unknown ~name as it is
    try:
        if path.is_file():
            return path
        is_folder = path.is_dir()
    except OSError as error:
        raise DatasetError(f"The file cannot be opened: {error.strerror}.", where=text) from None
    raise DatasetError(
        "This is a folder, not a file." if is_folder else "There is no such file.",
        where=str(path),
        expected="an .npz file written by numpy.savez",
        fix=f'For a folder of images use "folder:{text}".' if is_folder else "Check the path.",
    )


def _fill(ctx: LoadContext, path: Path, given: str, folder: Path) -> Mapping[str, Any]:
    """Unpacks `path` into a cache entry: images as uint8, labels as int64, names, notes."""
    members = read_members(path)
    chosen = _choose(members, path)
    _check_sizes(chosen, path)
    named = [members[key] for key in _NAMES_KEYS if key in members][:1]
    check_space(path, [*chosen, *chosen, *named], folder)  # as they are, and as images
    raw = folder / "raw"
    raw.mkdir()
    arrays = _unpack(path, [*chosen, *named], raw, ctx)
    given_names = _given_names(arrays[len(chosen) :], path)
    facts = _convert(arrays[: len(chosen)], given_names, folder, path, ctx, given=given)
    del arrays
    shutil.rmtree(raw)
    return facts


def _choose(members: Mapping[str, Member], path: Path) -> list[Member]:
    """Images and labels of the training part, then of the test part if there is one."""
    for keys in _KEYS:
        if keys[0] in members and keys[1] in members:
            has_test = keys[2] in members and keys[3] in members
            return [members[key] for key in (keys if has_test else keys[:2])]
    raise DatasetError(
        "The file does not contain images and labels under known names.",
        where=str(path),
        received=", ".join(member.words() for member in members.values())[:300] or "no arrays",
        expected=_EXPECTED,
        fix="Write it with numpy.savez_compressed(file, x_train=..., y_train=...).",
    )


def _check_sizes(chosen: list[Member], path: Path) -> None:
    """Rejects before unpacking what the headers already show to be wrong."""
    for pictures, labels in zip(chosen[::2], chosen[1::2], strict=True):
        where = f"{path}, {pictures.name}"
        find_axes(pictures.shape, where)
        if pictures.dtype.kind in "SU":
            raise DatasetError(
                "The images are text.", where=where, received=str(pictures.dtype),
                expected="numbers",
            )  # fmt: skip
        if labels.shape[:1] != pictures.shape[:1]:
            raise DatasetError(
                "The numbers of images and labels differ.",
                where=str(path),
                received=f"{pictures.words()} and {labels.words()}",
                expected="the same first number in both shapes",
            )


def _unpack(
    path: Path, members: list[Member], folder: Path, ctx: LoadContext
) -> list[np.ndarray[Any, Any]]:
    total = max(1, sum(member.data_bytes for member in members))
    done = 0

    def on_bytes(count: int) -> None:
        nonlocal done
        ctx.check_cancelled()
        done += count
        amount = f": {done / 1e6:,.0f} of {total / 1e6:,.0f} MB" if total >= 1e6 else ""
        ctx.progress(f"Unpacking {path.name}{amount}", done / total)

    return [
        unpack_member(path, member, folder / f"{number}.npy", on_bytes)
        for number, member in enumerate(members)
    ]


def _given_names(arrays: list[np.ndarray[Any, Any]], path: Path) -> tuple[str, ...]:
    if not arrays:
        return ()
    names = arrays[0]
    if names.ndim != 1 or names.dtype.kind not in "SU":
        raise DatasetError(
            "The class names are not a list of strings.",
            where=str(path),
            received=f"{names.dtype} {names.shape}",
            expected="text (classes,)",
        )
    return tuple(plain_name(name) for name in names)


def _convert(
    arrays: list[np.ndarray[Any, Any]],
    given_names: tuple[str, ...],
    folder: Path,
    path: Path,
    ctx: LoadContext,
    *,
    given: str,
) -> dict[str, Any]:
    ctx.progress("Reading the values")
    pictures = arrays[::2]
    axes = [find_axes(array.shape, str(path)) for array in pictures]
    _check_same_shape([axis.arrange(a[:1]) for axis, a in zip(axes, pictures, strict=True)], path)
    parts = dict(zip(("x_train", "x_test"), pictures, strict=False))
    scales = find_scales(parts, str(path), ctx, given)
    labels = read_labels(arrays[1::2], given_names, str(path))
    for part, array, axis, numbers in zip(
        ("train", "test"), pictures, axes, labels.parts, strict=False
    ):
        write_pictures(folder / f"x_{part}.npy", array, axis, scales[f"x_{part}"], ctx)
        save_array(folder, f"y_{part}", numbers)
    names = labels.class_names
    if not given_names and _is_cifar10(pictures[0].shape, labels.parts[0]):
        names = CIFAR10_NAMES
    if len(names) < 2:
        raise DatasetError(
            "There is only one class. A classifier needs at least two.",
            where=str(path),
            received=f"all {len(labels.parts[0]):,} labels are {names[0]}",
            expected="labels of at least two classes",
        )
    first = "The channels came first and were moved to the last axis."
    moved = [first] if any(axis.is_channels_first for axis in axes) else []
    notes = [note for note in (*scale_notes(scales), *labels.notes, *moved) if note]
    inferences = [asdict(each) for each in scale_inferences(scales, given)]
    return {"class_names": names, "notes": notes, "inferences": inferences}


def _check_same_shape(samples: list[np.ndarray[Any, Any]], path: Path) -> None:
    shapes = {sample.shape[1:] for sample in samples}
    if len(shapes) > 1:
        raise DatasetError(
            "Training and test images differ in size.",
            where=str(path),
            received=" and ".join(str(sample.shape[1:]) for sample in samples),
            expected="the same height, width and channels in both",
        )


def _is_cifar10(shape: tuple[int, ...], labels: np.ndarray[Any, Any]) -> bool:
    if shape not in {(50_000, 32, 32, 3), (50_000, 3, 32, 32)}:
        return False
    return hashlib.sha256(labels.astype(np.uint8).tobytes()).hexdigest() == _CIFAR10_LABELS


SPEC = DatasetSpec(
    key="npz",
    title="NumPy file (.npz)",
    summary="Arrays of images and labels in one file, such as x_train, y_train, x_test, y_test.",
    params=(
        PathParam(
            "path",
            "",
            "Contains x_train and y_train, and optionally x_test and y_test; or x and y.",
            title="File",
            patterns=("*.npz",),
        ),
        ARRAY_RANGE,
    ),
    source_param="path",
    has_numbered_labels=True,
    load=_load,
)
