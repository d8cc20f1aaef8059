"""A data set packed for another computer: one archive, the same for the same pictures.

index.json            class names, notes, files left out, and what each part is
train/pictures.npy    a part in memory: uint8 pictures, or
train/0000001.jpg     a part in files: each as it was, in their order
train/labels.npy      int64
train/pins.npy        int8: parts of the split that edits put images into, where there are any
split/...             what the split is decided on, where that is not the training part as it is
test/...              the same, where there is a test part
validation/...        the same, where there is a validation part

Whatever the source, the other computer loads the same arrays and the same bytes of the same
files, so it splits and decodes them as this one would.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import zipfile
from pathlib import Path
from typing import IO, Any, Literal

import msgspec
import numpy as np

from workbench.core.specs import (
    ELSEWHERE,
    ArrayPart,
    FilePart,
    LoadContext,
    LoadedData,
    Part,
    SplitBasis,
)
from workbench.core.storage.foreign_file import open_foreign, read_foreign
from workbench.errors import DatasetError, SaveError
from workbench.pictures.edited import changes_note

FORMAT = "workbench-parcel"
VERSION = 2

_IDS = np.dtype("S32")
_KNOWN = ("contents", "groups")
"""What of a SplitBasis goes along where it is known; other contents are those of the files."""

_DATE = (1980, 1, 1, 0, 0, 0)
_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,8}")
_MAX_INDEX_BYTES = 256 * 1024 * 1024
_LEVEL = 1  # a third less of small pictures' arrays, at the speed of a fast line
_CHECK_EVERY = 64


class _PartIndex(msgspec.Struct, frozen=True, kw_only=True):
    """What a part is: its pictures in one array, or in files with these endings."""

    kind: Literal["array", "files"]
    suffixes: list[str] = msgspec.field(default_factory=list)
    value_range: str = ""


class _BasisIndex(msgspec.Struct, frozen=True, kw_only=True):
    """What a split is decided on: names of its classes, and which ids are known."""

    class_names: list[str]
    known: list[str]


class _Index(msgspec.Struct, frozen=True, kw_only=True):
    """What index.json holds."""

    class_names: list[str]
    train: _PartIndex
    test: _PartIndex | None = None
    has_pins: bool = False
    basis: _BasisIndex | None = None
    validation: _PartIndex | None = None
    bad_files: list[tuple[str, str]] = msgspec.field(default_factory=list)
    notes: list[str] = msgspec.field(default_factory=list)
    format: str = FORMAT
    version: int = VERSION


def pack(loaded: LoadedData, path: Path, ctx: LoadContext) -> str:
    """Writes a data set into an archive; returns the archive's sha256.

    Raises:
        DatasetError: a file of it cannot be read.
        SaveError: the archive cannot be written.
    """
    index = _Index(
        class_names=list(loaded.class_names),
        train=_part_index(loaded.train),
        test=None if loaded.test is None else _part_index(loaded.test),
        validation=None if loaded.validation is None else _part_index(loaded.validation),
        bad_files=list(loaded.bad_files),
        notes=[*loaded.sentences, *changes_note(loaded)],
        has_pins=loaded.pins is not None,
        basis=_basis_index(loaded.basis),
    )
    try:
        with zipfile.ZipFile(path, "w", allowZip64=True) as archive:
            with _member(archive, "index.json", is_packed=True) as file:
                file.write(msgspec.json.encode(index))
            _pack_part(archive, "train", loaded.train, ctx)
            if loaded.pins is not None:
                _pack_array(archive, "train/pins.npy", loaded.pins)
            for name in ("labels", "places", *index.basis.known) if index.basis is not None else ():
                _pack_array(archive, f"split/{name}.npy", getattr(loaded.basis, name))
            if loaded.test is not None:
                _pack_part(archive, "test", loaded.test, ctx)
            if loaded.validation is not None:
                _pack_part(archive, "validation", loaded.validation, ctx)
        with open_foreign(path) as packed:
            return hashlib.file_digest(packed, "sha256").hexdigest()
    except OSError as error:
        raise SaveError(
            "The images could not be packed for the other computer.",
            where=str(path.parent),
            received=error.strerror or str(error),
            fix="Free some disk space on this computer.",
        ) from error


def unpacked(folder: Path) -> LoadedData:
    """The data set in the folder of an unpacked parcel.

    Raises:
        DatasetError: something of it is missing or damaged.
    """
    try:
        data = read_foreign(folder / "index.json", _MAX_INDEX_BYTES)
        index = msgspec.json.decode(data, type=_Index)
        if index.format != FORMAT or index.version != VERSION:
            raise _damaged(folder, f"{index.format} version {index.version}")
        train = _read_part(folder / "train", index.train)
        pins = folder / "train" / "pins.npy"
        return LoadedData(
            class_names=tuple(index.class_names),
            train=train,
            test=_read_optional(folder / "test", index.test),
            validation=_read_optional(folder / "validation", index.validation),
            bad_files=tuple(index.bad_files),
            notes=tuple(index.notes),
            pins=_read_array(pins, np.dtype(np.int8), len(train)) if index.has_pins else None,
            basis=_read_basis(folder / "split", index.basis, len(train)),
        )
    except (OSError, ValueError, EOFError) as error:  # msgspec's errors are ValueErrors
        raise _damaged(folder, str(error)) from error


def _part_index(part: Part) -> _PartIndex:
    if isinstance(part, ArrayPart):
        return _PartIndex(kind="array")
    suffixes = [_suffix(path) for path in part.paths]
    return _PartIndex(kind="files", suffixes=suffixes, value_range=part.value_range)


def _basis_index(basis: SplitBasis | None) -> _BasisIndex | None:
    if basis is None:
        return None
    known = [name for name in _KNOWN if getattr(basis, name) is not None]
    return _BasisIndex(class_names=list(basis.class_names), known=known)


def _suffix(path: str) -> str:
    ending = os.path.splitext(path)[1]  # noqa: PTH122 - a hundred thousand Paths are slow
    return ending if _SUFFIX.fullmatch(ending) else ""


def _member(archive: zipfile.ZipFile, name: str, *, is_packed: bool) -> IO[bytes]:
    """Opens a new member; its date is fixed, so that the checksum depends on its content alone."""
    info = zipfile.ZipInfo(name, date_time=_DATE)
    info.compress_type = zipfile.ZIP_DEFLATED if is_packed else zipfile.ZIP_STORED
    info._compresslevel = _LEVEL  # type: ignore[attr-defined]  # noqa: SLF001 - public in 3.13
    info.create_system = 3
    info.external_attr = 0o600 << 16
    return archive.open(info, "w", force_zip64=True)


def _pack_part(archive: zipfile.ZipFile, name: str, part: Part, ctx: LoadContext) -> None:
    _pack_array(archive, f"{name}/labels.npy", part.labels)
    if isinstance(part, ArrayPart):
        ctx.progress("Packing the images")
        _pack_array(archive, f"{name}/pictures.npy", part.pictures)
        return
    for number, path in enumerate(part.paths):
        if number % _CHECK_EVERY == 0:
            ctx.check_cancelled()
            ctx.progress("Packing the images", number / len(part.paths))
        _pack_file(archive, f"{name}/{number:07}{_suffix(path)}", path)


def _pack_array(archive: zipfile.ZipFile, name: str, array: np.ndarray[Any, Any]) -> None:
    with _member(archive, name, is_packed=True) as file:
        np.lib.format.write_array(file, np.ascontiguousarray(array), allow_pickle=False)


def _pack_file(archive: zipfile.ZipFile, name: str, path: str) -> None:
    try:
        source = open_foreign(path)  # its own errors, apart from writing's
    except OSError as error:
        raise DatasetError(
            "An image cannot be read.", where=path, received=error.strerror or str(error)
        ) from error
    with source, _member(archive, name, is_packed=False) as file:
        shutil.copyfileobj(source, file, 1 << 20)


def _read_optional(folder: Path, index: _PartIndex | None) -> Part | None:
    return None if index is None else _read_part(folder, index)


def _read_part(folder: Path, index: _PartIndex) -> Part:
    labels = np.load(folder / "labels.npy", allow_pickle=False)
    if labels.ndim != 1 or labels.dtype != np.int64:
        raise _damaged(folder, "labels of a wrong type")
    if index.kind == "array":
        pictures = np.load(folder / "pictures.npy", mmap_mode="r", allow_pickle=False)
        if pictures.dtype != np.uint8 or pictures.ndim != 4 or len(pictures) != len(labels):
            raise _damaged(folder, "images of a wrong type")
        return ArrayPart(pictures, labels)
    if len(index.suffixes) != len(labels):
        raise _damaged(folder, f"{len(index.suffixes)} files, {len(labels)} labels")
    names = [f"{n:07}{_checked(suffix)}" for n, suffix in enumerate(index.suffixes)]
    return FilePart(tuple(str(folder / name) for name in names), labels, index.value_range)


def _read_basis(folder: Path, index: _BasisIndex | None, num_train: int) -> SplitBasis | None:
    if index is None:
        return None
    labels = _read_array(folder / "labels.npy", np.dtype(np.int64))
    places = _read_array(folder / "places.npy", np.dtype(np.int64), num_train)
    count = len(labels)
    known = {
        name: _read_array(folder / f"{name}.npy", _IDS, count)
        for name in _KNOWN
        if name in index.known
    }
    basis = SplitBasis(tuple(index.class_names), labels, places, **known)
    ranges = ((basis.labels, 0, len(basis.class_names)), (basis.places, ELSEWHERE, count))
    if any(len(each) and not low <= each.min() <= each.max() < end for each, low, end in ranges):
        raise _damaged(folder, "a split of other images")
    return basis


def _read_array(path: Path, dtype: np.dtype[Any], count: int | None = None) -> Any:
    """An array of one axis, of so many entries where a number is given."""
    with open_foreign(path) as file:
        array = np.load(file, allow_pickle=False)
    if array.dtype != dtype or array.ndim != 1 or count not in {None, len(array)}:
        raise _damaged(path.parent, f"{path.stem} of a wrong type")
    return array


def _checked(suffix: str) -> str:
    if suffix and not _SUFFIX.fullmatch(suffix):
        raise ValueError(f"the file extension {suffix!r}")
    return suffix


def _damaged(folder: Path, received: str) -> DatasetError:
    return DatasetError(
        "The images that were sent here are incomplete or damaged.",
        where=str(folder),
        received=received[:300],
        fix="Delete that folder and start the training again: they are sent again.",
    )
