"""Weights as plain arrays in one file: no pickle, no HDF5, and a checksum over the content.

The file is an uncompressed `.npz` (NumPy reads it), whose zip comment holds the checksum.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from workbench.core.storage.save import Sink, save_stream
from workbench.errors import WeightsError

Arrays = Mapping[str, np.ndarray[Any, Any]]

_PREFIX = b"workbench sha256:"
_KINDS = "biufc"
_ZIP_FAULTS = (zipfile.BadZipFile, NotImplementedError, RuntimeError)
"""What zipfile raises on damaged archives; RuntimeError where a flipped bit claims encryption."""

_MAX_HEADER_BYTES = 10_000


def array_checksum(arrays: Arrays) -> str:
    """SHA-256 over names, types, shapes and values; the order does not matter."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        digest.update(f"{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def write_arrays(path: Path, arrays: Arrays) -> str:
    """Writes all arrays, whole or not at all, without a second copy in memory; returns the
    checksum.

    Args:
        path: File to write; an earlier one stays until the new one is complete.
        arrays: Plain numeric arrays by name; names may hold "/".

    Raises:
        SaveError: the file cannot be written.
        TypeError: an array that is not numeric (a fault of the caller).
    """
    for name, array in arrays.items():
        if np.asarray(array).dtype.kind not in _KINDS:
            raise TypeError(f"{name}: {np.asarray(array).dtype} is not a plain number type")
    checksum = array_checksum(arrays)

    def write(file: Sink) -> None:
        with zipfile.ZipFile(cast("IO[bytes]", file), "w", zipfile.ZIP_STORED) as archive:
            for name, array in arrays.items():
                # A fixed date: equal weights give equal files.
                member = zipfile.ZipInfo(f"{name}.npy")
                with archive.open(member, "w", force_zip64=True) as part:
                    np.lib.format.write_array(part, np.asarray(array), allow_pickle=False)
            archive.comment = _PREFIX + checksum.encode()

    save_stream(path, write)
    return checksum


def read_arrays(
    path: Path, *, checksum: str = "", data: bytes | None = None
) -> dict[str, np.ndarray[Any, Any]]:
    """Reads all arrays, and checks them, also against the `checksum` of a model card if given; of
    `data` where that is the file's content. Raises WeightsError: missing, damaged, not ours, or not
    the file that the card names.
    """
    try:
        with zipfile.ZipFile(path if data is None else io.BytesIO(data)) as archive:
            stored = archive.comment.removeprefix(_PREFIX).decode("ascii")
            arrays = {
                member.filename.removesuffix(".npy"): _read_member(archive, member)
                for member in archive.infolist()
            }
    except FileNotFoundError as error:
        raise WeightsError("The weights file is missing.", where=str(path)) from error
    except (OSError, ValueError, EOFError, *_ZIP_FAULTS) as error:
        raise _damaged(path, str(error) or type(error).__name__) from error
    actual = array_checksum(arrays)
    if actual != stored:
        raise _damaged(path, "the content does not match its checksum")
    if checksum and actual != checksum:
        raise WeightsError(
            "The weights do not match the model card.",
            where=str(path),
            received=f"checksum {actual[:12]}...",
            expected=f"checksum {checksum[:12]}...",
            fix="Copy the whole run folder again.",
        )
    return arrays


def read_array(path: Path, name: str) -> np.ndarray[Any, Any]:
    """One array, not held against the checksum (zip's own CRC is); raises WeightsError."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _read_member(archive, archive.getinfo(f"{name}.npy"))
    except (OSError, ValueError, KeyError, EOFError, *_ZIP_FAULTS) as error:
        raise _damaged(path, str(error) or type(error).__name__) from error


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray[Any, Any]:
    # Stored, so that no small file unpacks into a huge one.
    if member.compress_type != zipfile.ZIP_STORED or not member.filename.endswith(".npy"):
        raise ValueError(f"unexpected member {member.filename[:80]!r}")
    with archive.open(member) as file:
        data = file.read()
    return _array_from(data)


def _array_from(data: bytes) -> np.ndarray[Any, Any]:
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    read_header = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read_header is None:
        raise ValueError(f"unexpected array version {version}")
    shape, is_fortran, dtype = read_header(file, max_header_size=_MAX_HEADER_BYTES)
    if dtype.kind not in _KINDS:
        raise ValueError(f"unexpected array type {dtype}")
    if any(size < 0 for size in shape):
        raise ValueError("negative array size")
    values = np.frombuffer(data, dtype, offset=file.tell())
    return values.reshape(shape, order="F" if is_fortran else "C").copy()


def _damaged(path: Path, reason: str) -> WeightsError:
    return WeightsError(
        "The weights file is damaged.",
        where=str(path),
        received=reason,
        expected="a weights file written by Workbench",
        fix="Restore the run folder from a copy, or train again.",
    )
