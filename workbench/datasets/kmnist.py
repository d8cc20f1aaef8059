"""Kuzushiji-MNIST: 70,000 cursive Japanese letters, in MNIST's own file format."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.params import Params
from workbench.core.specs import DatasetSpec, LoadContext, LoadedData
from workbench.core.storage.foreign_file import open_foreign
from workbench.datasets._array_cache import cached_data
from workbench.downloads.download import Download, keras_folder
from workbench.downloads.fetch import fetch
from workbench.errors import DatasetError

CLASS_NAMES = ("o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo")

_FOLDER = "http://codh.rois.ac.jp/kmnist/dataset/kmnist/"
_FILES = {
    "x_train": ("train-images-idx3-ubyte.gz", "bdb82020997e1d708af4cf47b453dcf7", 18_165_135),
    "y_train": ("train-labels-idx1-ubyte.gz", "e144d726b3acfaa3e44228e80efcd344", 29_497),
    "x_test": ("t10k-images-idx3-ubyte.gz", "5c965bf0a639b31b8f53240b1b52f4d7", 3_041_136),
    "y_test": ("t10k-labels-idx1-ubyte.gz", "7320c461ea6c1c855c0b718fb2a4b134", 5_120),
}
DOWNLOADS = {
    part: Download(
        "KMNIST", f"{_FOLDER}{name}", checksum, keras_name=f"kmnist-{name}", num_bytes=num_bytes
    )
    for part, (name, checksum, num_bytes) in _FILES.items()
}

_PROGRAM = f'''import gzip

folder = "{_FOLDER}"


def read(name):
    """An array of bytes in the format of MNIST: its header holds the shape."""
    path = keras.utils.get_file(f"kmnist-{{name}}", folder + name)
    with gzip.open(path) as file:
        data = file.read()
    shape = np.frombuffer(data, ">u4", data[3], 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


train = read("{_FILES["x_train"][0]}"), read("{_FILES["y_train"][0]}")
test = read("{_FILES["x_test"][0]}"), read("{_FILES["y_test"][0]}")
return train, test
'''

_MAX_BYTES = 64 * 2**20


def read_idx(path: Path) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """An idx.gz file of bytes, in the shape its header holds; raises DatasetError."""
    try:
        with open_foreign(path) as opened, gzip.open(opened) as file:
            data = file.read(_MAX_BYTES)
        rank = data[3]
        shape = tuple(int(n) for n in np.frombuffer(data, ">u4", rank, 4))
        return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)
    except (OSError, EOFError, zlib.error, ValueError, IndexError) as error:
        raise DatasetError(
            "The downloaded file is damaged.",
            where=str(path),
            received=str(error),
            fix="Delete it, so that it is downloaded again.",
        ) from error


def _load(ctx: LoadContext, params: Params) -> LoadedData:
    paths = {part: fetch(download, keras_folder(), ctx) for part, download in DOWNLOADS.items()}

    def unpack() -> Mapping[str, Any]:
        arrays = {part: read_idx(path) for part, path in paths.items()}
        return {part: x[..., None] if x.ndim > 1 else x for part, x in arrays.items()}

    return cached_data(ctx, "kmnist", paths["x_train"], CLASS_NAMES, unpack)


SPEC = DatasetSpec(
    key="kmnist",
    title="KMNIST",
    summary="70,000 cursive Japanese characters, grayscale, 28 × 28, in ten classes. Downloaded "
    "once (21.2 MB).",
    license="CC BY-SA 4.0, Center for Open Data in the Humanities",
    shape=(28, 28, 1),
    class_names=CLASS_NAMES,
    num_train=60_000,
    num_test=10_000,
    downloads=tuple(DOWNLOADS.values()),
    program=_PROGRAM,
    load=_load,
)
