"""Reading CIFAR's batches, which are pickles, without running what a pickle may run.

A pickle can call any function. Two walls: the archive's checksum is that of the published
file before anything is read; and this unpickler allows only what a numpy array of plain
numbers needs. Any other name in the stream is an error.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from workbench.errors import DatasetError


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
