"""Fashion-MNIST: 70,000 small gray images of clothes, complete, inside the application."""

from __future__ import annotations

import lzma
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from workbench.assets import data_path
from workbench.core.params import Params
from workbench.core.specs import DatasetSpec, LoadContext, LoadedData
from workbench.core.storage.foreign_file import open_foreign
from workbench.datasets._array_cache import cached_data
from workbench.errors import DatasetError

CLASS_NAMES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
    "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip
NUM_TRAIN, NUM_TEST = 60_000, 10_000
BLOCKS = 4
"""The training images are packed in this many blocks, unpacked side by side."""

Bytes = np.ndarray[Any, np.dtype[np.uint8]]


def _unpack(path: Path) -> dict[str, Bytes]:
    """All arrays of the bundled file; xz checks each block."""
    names = [f"train_pictures_{i}" for i in range(BLOCKS)]
    names += ["test_pictures", "train_labels", "test_labels"]
    try:
        with open_foreign(path) as opened, zipfile.ZipFile(opened) as file:
            packed = [file.read(f"{name}.xz") for name in names]
        with ThreadPoolExecutor(BLOCKS) as pool:
            blocks = [np.frombuffer(block, np.uint8) for block in pool.map(lzma.decompress, packed)]
        return {
            "x_train": np.concatenate(blocks[:BLOCKS]).reshape(NUM_TRAIN, 28, 28, 1),
            "x_test": blocks[BLOCKS].reshape(NUM_TEST, 28, 28, 1),
            "y_train": blocks[BLOCKS + 1].reshape(NUM_TRAIN),
            "y_test": blocks[BLOCKS + 2].reshape(NUM_TEST),
        }
    except (OSError, KeyError, ValueError, zipfile.BadZipFile, lzma.LZMAError) as error:
        raise DatasetError(
            "The bundled Fashion-MNIST images are damaged.",
            where=str(path),
            received=str(error),
            fix="Reinstall Workbench.",
        ) from error


def _load(ctx: LoadContext, params: Params) -> LoadedData:
    path = data_path("fashion_mnist.zip")

    def unpack() -> dict[str, Bytes]:
        ctx.progress("Unpacking Fashion-MNIST")
        return _unpack(path)

    return cached_data(ctx, "fashion_mnist", path, CLASS_NAMES, unpack)


SPEC = DatasetSpec(
    key="fashion_mnist",
    title="Fashion-MNIST",
    summary="70,000 grayscale images of clothing, 28 × 28, in ten classes. Included with "
    "Workbench.",
    license="MIT, Zalando SE 2017",
    license_file="fashion_mnist_LICENSE.txt",
    shape=(28, 28, 1),
    class_names=CLASS_NAMES,
    num_train=NUM_TRAIN,
    num_test=NUM_TEST,
    program="return keras.datasets.fashion_mnist.load_data()",
    load=_load,
)
