"""An .npz file of numpy: arrays of images and labels."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from workbench.core.params import Params, PathParam
from workbench.core.specs import ArrayPart, DatasetSpec, Inference, LoadContext, LoadedData
from workbench.datasets._array_cache import cached_entry, save_array
from workbench.datasets._class_parts import ARRAY_RANGE, LOOK_ALIKES, with_look_alikes
from workbench.datasets._labels.texts import (
    ENCODING,
    FIRST,
    MISSING_LABELS,
    LabelSettings,
    SaidParts,
)
from workbench.datasets._labels.values import read_labels
from workbench.datasets._npz_arrays import (
    AXES,
    IMAGES,
    LABELS,
    PARTS,
    SPLIT,
    Arrays,
    choose_arrays,
    meaning,
    num_labels,
    parts_of_images,
    shape_of_images,
)
from workbench.datasets._npz_file import Member, check_space, read_members, unpack_member
from workbench.datasets._picture_values import (
    axes_inferences,
    find_axes,
    find_scales,
    scale_inferences,
    scale_notes,
    write_pictures,
)
from workbench.datasets.cifar10 import CLASS_NAMES as CIFAR10_NAMES
from workbench.errors import DatasetError
from workbench.pictures.portable.ranges import AUTO

Array = np.ndarray[Any, Any]
_Pairs = Mapping[str, tuple[Array, Array]]
"""Images and labels of each part."""

_CIFAR10_LABELS = "2b7cd2f24487317614016b72ffd53071c3062f592f0eb300c18a770d41ae1253"
"""sha256 of CIFAR-10's training labels as bytes: with their shape, they identify it."""

_SETTINGS = ("images", "labels", "channels", "range", "encoding", "missing", "first_label", "split")
"""Parameters that change what is unpacked."""


def _load(ctx: LoadContext, params: Params) -> LoadedData:
    path = _path(str(params.get("path", "")))
    entry = cached_entry(ctx, _entry_name(params), path, partial(_fill, ctx, path, params))
    arrays, facts = entry.arrays, entry.facts
    parts = {
        part: ArrayPart(arrays[f"x_{part}"], arrays[f"y_{part}"])
        for part in PARTS
        if f"x_{part}" in arrays
    }
    names = tuple(facts["class_names"])
    loaded = LoadedData(
        class_names=names,
        train=parts["train"],
        test=parts.get("test"),
        validation=parts.get("validation"),
        notes=tuple(facts["notes"]),
        inferences=msgspec.convert(facts["inferences"], tuple[Inference, ...]),
    )
    return with_look_alikes(loaded, names, params)


def _entry_name(params: Params) -> str:
    """The name of the cache entry: other settings unpack something else."""
    defaults = {param.key: param.default for param in SPEC.params}
    given = {key: params.get(key, defaults[key]) for key in _SETTINGS}
    changed = repr({key: value for key, value in given.items() if value != defaults[key]})
    return "npz" if changed == "{}" else f"npz-{hashlib.sha256(changed.encode()).hexdigest()[:8]}"


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


def _fill(ctx: LoadContext, path: Path, params: Params, folder: Path) -> Mapping[str, Any]:
    """Unpacks `path` into a cache entry: images as uint8, labels as int64, names, notes."""
    found = choose_arrays(read_members(path), params, path)
    chosen = found.members
    _check_sizes(chosen, path, str(params.get("channels", "auto")))
    more = [*([found.names] if found.names else []), *found.splits]
    copies = 3 if found.splits else 2  # as they are, divided, and as images
    check_space(path, [*chosen * copies, *more], folder)
    raw = folder / "raw"
    raw.mkdir()
    arrays = _unpack(path, [*chosen, *more], raw, ctx)
    given_names = _given_names(arrays[len(chosen) : len(chosen) + bool(found.names)], path)
    pairs = zip(arrays[: len(chosen) : 2], arrays[1 : len(chosen) : 2], strict=True)
    parts: _Pairs = {
        part: _images_first(found, part, *pair)
        for part, pair in zip(found.parts, pairs, strict=True)
    }
    is_moved = any(shape_of_images(*pair) != pair[0].shape for pair in found.parts.values())
    moved = ["The images were the last axis and were moved to the first."] if is_moved else []
    splits = arrays[len(arrays) - len(found.splits) :]
    parts, said = _divided(parts, found, splits, path=path, params=params, folder=raw)
    facts = _convert(parts, given_names, folder, path, ctx, params=params)
    del arrays, pairs, parts, splits
    shutil.rmtree(raw)
    inferences = [asdict(each) for each in (*found.inferences, *said.inferences)]
    return {
        "class_names": facts["class_names"],
        "notes": [*facts["notes"], *moved, *found.unused(said.name)],
        "inferences": [*inferences, *facts["inferences"]],
    }


def _images_first(found: Arrays, part: str, images: Array, labels: Array) -> tuple[Array, Array]:
    """Images and labels with the number of images as the first axis."""
    shape = shape_of_images(*found.parts[part])
    images = images if images.shape == shape else np.moveaxis(images, -1, 0)
    return images, labels.reshape(-1) if labels.shape == (1, shape[0]) else labels


def _divided(
    parts: _Pairs,
    found: Arrays,
    splits: Sequence[Array],
    *,
    path: Path,
    params: Params,
    folder: Path,
) -> tuple[_Pairs, SaidParts]:
    """Images and labels of each part, where an array divides those of the only part."""
    if not found.splits:
        return parts, SaidParts("", ())
    images, labels = parts["train"]
    arrays = dict(zip(found.splits, splits, strict=True))
    said = parts_of_images(arrays, labels, str(params.get("split", "")), meaning, path)
    if not said.name:
        return parts, said
    own = np.array(said.parts)
    return {
        part: (_kept(images, own == part, folder / f"part-{part}.npy"), labels[own == part])
        for part in PARTS
        if (own == part).any()
    }, said


def _check_sizes(chosen: list[Member], path: Path, channels: str) -> None:
    """Rejects before unpacking what the headers already show to be wrong."""
    for pictures, labels in zip(chosen[::2], chosen[1::2], strict=True):
        where = f"{path}, {pictures.name}"
        shape = shape_of_images(pictures, labels)
        find_axes(shape, where, channels)
        if pictures.dtype.kind in "SU":
            raise DatasetError(
                "The images are text.", where=where, received=str(pictures.dtype),
                expected="numbers",
            )  # fmt: skip
        if num_labels(labels.shape) != shape[0]:
            raise DatasetError(
                "The numbers of images and labels differ.",
                where=str(path),
                received=f"{pictures.words()} and {labels.words()}",
                expected="the same first number in both shapes",
                fix="Choose the arrays that belong together "
                f'("npz:{path.name}?images=NAME&labels=NAME"), or write one label for each image.',
            )


def _unpack(path: Path, members: list[Member], folder: Path, ctx: LoadContext) -> list[Array]:
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


def _given_names(arrays: list[Array], path: Path) -> Array | None:
    if not arrays:
        return None
    names = arrays[0]
    if names.ndim != 1 or names.dtype.kind not in "SUiu":
        raise DatasetError(
            "The class names are not a list of strings.",
            where=str(path),
            received=f"{names.dtype} {names.shape}",
            expected="text (classes,)",
        )
    return names


def _convert(
    parts: _Pairs,
    given_names: Array | None,
    folder: Path,
    path: Path,
    ctx: LoadContext,
    *,
    params: Params,
) -> dict[str, Any]:
    ctx.progress("Reading the values")
    pictures = {part: images for part, (images, _) in parts.items()}
    channels = str(params.get("channels", "auto"))
    axes = {part: find_axes(each.shape, str(path), channels) for part, each in pictures.items()}
    _check_same_shape([axes[part].arrange(each[:1]) for part, each in pictures.items()], path)
    given = str(params.get("range", AUTO))
    arrays = {f"x_{part}": each for part, each in pictures.items()}
    scales = find_scales(arrays, str(path), ctx, given)
    numbers = {part: each for part, (_, each) in parts.items()}
    labels = read_labels(numbers, given_names, str(path), LabelSettings.of(params))
    for part, own, kept in zip(pictures, labels.parts, labels.kept, strict=True):
        if not kept.any():
            continue
        array = _kept(pictures[part], kept, folder / "raw" / f"kept-{part}.npy")
        write_pictures(folder / f"x_{part}.npy", array, axes[part], scales[f"x_{part}"], ctx)
        save_array(folder, f"y_{part}", own)
    names = labels.class_names
    if given_names is None and _is_cifar10(pictures["train"].shape, labels.parts[0]):
        names = CIFAR10_NAMES
    _refuse_one_class(names, len(labels.parts[0]), path)
    first = "The channels came first and were moved to the last axis."
    moved = [first] if any(axis.is_channels_first for axis in axes.values()) else []
    notes = [note for note in (*scale_notes(scales), *labels.notes, *moved) if note]
    found = (
        *axes_inferences(pictures["train"].shape, channels),
        *labels.inferences,
        *scale_inferences(scales, given),
    )
    return {"class_names": names, "notes": notes, "inferences": [asdict(each) for each in found]}


def _kept(array: Array, kept: Array, path: Path) -> Array:
    """The images that have a label, in a file of their own where some have none."""
    if kept.all():
        return array
    shape = (int(kept.sum()), *array.shape[1:])
    found = np.lib.format.open_memmap(path, mode="w+", dtype=array.dtype, shape=shape)
    for place, row in enumerate(np.flatnonzero(kept).tolist()):
        found[place] = array[row]
    return found


def _refuse_one_class(names: Sequence[str], num_labels: int, path: Path) -> None:
    if len(names) < 2:
        raise DatasetError(
            "There is only one class. A classifier needs at least two.",
            where=str(path),
            received=f"all {num_labels:,} labels are {names[0]}",
            expected="labels of at least two classes",
        )


def _check_same_shape(samples: list[Array], path: Path) -> None:
    shapes = {sample.shape[1:] for sample in samples}
    if len(shapes) > 1:
        raise DatasetError(
            "Training and test images differ in size.",
            where=str(path),
            received=" and ".join(str(sample.shape[1:]) for sample in samples),
            expected="the same height, width and channels in both",
        )


def _is_cifar10(shape: tuple[int, ...], labels: Array) -> bool:
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
            "Contains x_train and y_train, and optionally x_test, y_test, x_val and y_val; or x "
            "and y.",
            title="File",
            patterns=("*.npz",),
        ),
        IMAGES,
        LABELS,
        SPLIT,
        SPLIT,
        ENCODING,
        MISSING_LABELS,
        FIRST,
        LOOK_ALIKES,
        AXES,
        ARRAY_RANGE,
    ),
    source_param="path",
    has_numbered_labels=True,
    load=_load,
)
