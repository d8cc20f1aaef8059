"""What CIFAR-10 and CIFAR-100 share: an archive of pickled batches of 32 × 32 images."""

from __future__ import annotations

import io
import pickle
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from workbench.core.params import Params
from workbench.core.specs import DatasetSpec, LoadContext, LoadedData
from workbench.core.storage.foreign_file import open_foreign
from workbench.datasets._array_cache import cached_data
from workbench.downloads.download import Download, keras_folder
from workbench.downloads.fetch import fetch
from workbench.errors import DatasetError

# pickled batch -------------------------------------------------------------------------------
# Reading CIFAR's batches, which are pickles, without running what a pickle may run.
#
# A pickle can call any function. Two walls: the archive's checksum is that of the published
# file before anything is read; and this unpickler allows only what a numpy array of plain
# numbers needs. Any other name in the stream is an error.


def _reconstruct(subtype: type, shape: tuple[int, ...], typecode: bytes) -> Any:
    """Replaces numpy's function of that name: an empty array, to be given its state."""
    if subtype is not np.ndarray or shape not in {(0,), (1,)}:
        raise pickle.UnpicklingError("not an array")
    return np.ndarray.__new__(np.ndarray, (0,), "b")


def _dtype(text: Any, *flags: Any) -> np.dtype[Any]:
    """Plain numbers only: a type of Python objects could hold anything."""
    dtype = np.dtype(text.decode("ascii") if isinstance(text, bytes) else text)
    if dtype.kind not in "bui":
        raise pickle.UnpicklingError(f"an array of {dtype}")
    return dtype


def _encode(text: str, encoding: str = "latin1") -> bytes:
    """Python 3 writes bytes this way in old pickles."""
    if encoding not in {"latin1", "latin-1"}:
        raise pickle.UnpicklingError(f"text in {encoding}")
    return text.encode("latin1")


class _ArrayUnpickler(pickle.Unpickler):
    _known: ClassVar[dict[tuple[str, str], Callable[..., Any]]] = {
        ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
        ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
        ("numpy", "ndarray"): np.ndarray,
        ("numpy", "dtype"): _dtype,
        ("_codecs", "encode"): _encode,
    }

    def find_class(self, module_name: str, global_name: str) -> Any:
        known = self._known.get((module_name, global_name))
        if known is None:
            raise pickle.UnpicklingError(f"{module_name}.{global_name} is not allowed")
        return known


def read_batch(data: bytes, where: str) -> dict[str, Any]:
    """A pickled dictionary of arrays, lists, numbers and bytes, with text keys.

    Raises:
        DatasetError: anything else is in it.
    """
    try:
        batch = _ArrayUnpickler(io.BytesIO(data), encoding="bytes").load()
    except Exception as error:  # noqa: BLE001 - a damaged pickle fails in any way
        raise _refused(where, str(error)) from None
    if not isinstance(batch, dict):
        raise _refused(where, type(batch).__name__)
    return {k.decode("latin1") if isinstance(k, bytes) else str(k): v for k, v in batch.items()}


def _refused(where: str, received: str) -> DatasetError:
    return DatasetError(
        "This is not a batch of images.",
        where=where,
        received=received[:120],
        expected="a dictionary of arrays and lists of numbers",
        fix="Delete the downloaded archive, so that it is downloaded again.",
    )


# tar members ---------------------------------------------------------------------------------
# Members of a downloaded tar archive, read in memory by name; nothing is written to the disk.

MAX_MEMBER_BYTES = 256 * 2**20


def read_tar_members(path: Path, names: Collection[str]) -> dict[str, bytes]:
    """Regular files of a tar archive by their full names, read in memory; nothing is extracted.

    Raises:
        DatasetError: damaged, a member is missing, or larger than MAX_MEMBER_BYTES.
    """
    import tarfile  # noqa: PLC0415 - the window reads SPECs and never unpacks

    found: dict[str, bytes] = {}
    try:
        with open_foreign(path) as file, tarfile.open(fileobj=file, mode="r:*") as archive:
            for member in archive:
                if member.name not in names or not member.isreg():
                    continue
                if member.size > MAX_MEMBER_BYTES:
                    raise _bad_archive(path, f"{member.name} of {member.size:,} bytes")
                opened = archive.extractfile(member)
                found[member.name] = opened.read() if opened else b""
    except (tarfile.TarError, OSError, EOFError, zlib.error, ValueError) as error:
        raise _bad_archive(path, str(error)) from error
    missing = sorted(set(names) - found.keys())
    if missing:
        raise _bad_archive(path, "no " + ", ".join(missing))
    return found


def _bad_archive(path: Path, received: str) -> DatasetError:
    return DatasetError(
        "The downloaded archive is damaged.",
        where=str(path),
        received=received,
        fix="Delete it, so that it is downloaded again.",
    )


# cifar ---------------------------------------------------------------------------------------


def cifar_spec(
    *, download: Download, train: Sequence[str], test: str, labels_key: str, **more: Any
) -> DatasetSpec:
    """The SPEC of one of the two.

    Args:
        download: The archive.
        train: Member names of the training batches, in order.
        test: Member name of the test batch.
        labels_key: Key of the labels in each batch.
        more: As of DatasetSpec.
    """

    def load(ctx: LoadContext, params: Params) -> LoadedData:
        archive = fetch(download, keras_folder(), ctx)

        def unpack() -> Mapping[str, Any]:
            ctx.progress(f"Unpacking {download.title}")
            members = read_tar_members(archive, [*train, test])
            arrays = {}
            for part, names in (("train", train), ("test", [test])):
                batches = [_arrays(members[name], labels_key, name) for name in names]
                arrays[f"x_{part}"] = np.concatenate([x for x, _ in batches])
                arrays[f"y_{part}"] = np.concatenate([y for _, y in batches])
            return arrays

        return cached_data(ctx, "cifar", archive, more["class_names"], unpack)

    return DatasetSpec(
        title=download.title,
        license="none stated; the authors ask to be cited (Krizhevsky 2009)",
        shape=(32, 32, 3),
        num_train=50_000,
        num_test=10_000,
        downloads=(download,),
        program=f"return keras.datasets.{more['key']}.load_data()",
        load=load,
        **more,
    )


def _arrays(data: bytes, labels_key: str, where: str) -> tuple[Any, Any]:
    """Images (n, 32, 32, 3) and labels (n,) of one batch."""
    batch = read_batch(data, where)
    rows: Any = batch.get("data")
    labels = np.asarray(batch.get(labels_key), dtype=object)
    is_rows = isinstance(rows, np.ndarray) and rows.dtype == np.uint8 and rows.ndim == 2
    if not is_rows or rows.shape != (len(labels) if labels.ndim == 1 else -1, 3072):
        raise DatasetError(
            "The batch does not contain images and labels.",
            where=where,
            received=f"keys {', '.join(sorted(batch))}"[:200],
            expected=f"data of (n, 3072) bytes and n {labels_key}",
        )
    pictures = rows.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return np.ascontiguousarray(pictures), labels.astype(np.int64)
