"""Makes resources/data/fashion_mnist.zip out of Debian's dataset-fashion-mnist.

    apt-get install dataset-fashion-mnist && python packaging/make_fashion.py [--samples]

The zip holds xz members, so that several processors unpack at once: the training pictures in
four blocks, the test pictures, and both sets of labels. LZMA with four literal context bits
and no alignment packs these pictures best of what Python's library offers (raw pixels to
48 %; differences between neighbors, in any order, take more). `--samples` also writes the
sample pictures and the license.
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import zipfile
from pathlib import Path

import numpy as np

from workbench.datasets.fashion_mnist import BLOCKS, CLASS_NAMES, NUM_TEST, NUM_TRAIN
from workbench.pictures.png import write_png

SOURCE = Path("/usr/share/datasets/fashion-mnist")
RESOURCES = Path(__file__).resolve().parents[1] / "resources"
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 4, "lp": 0, "pb": 0}]
SAMPLES = {
    "sneaker": 1, "ankle_boot": 1, "sandal": 1, "bag": 1, "trouser": 1,
    "dress": 1, "pullover": 1, "coat": 1, "t_shirt": 1, "shirt": 1,
}  # fmt: skip


def read_idx(name: str) -> np.ndarray:
    """The bytes of an idx.gz file behind its header, in the shape the header holds."""
    data = gzip.decompress((SOURCE / name).read_bytes())
    rank = data[3]
    shape = np.frombuffer(data, ">u4", rank, 4).astype(int)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def write_data() -> None:
    """Writes the zip; its members have a fixed date, so that it comes out the same again."""
    train = read_idx("train-images-idx3-ubyte.gz")
    arrays = {f"train_pictures_{i}": part for i, part in enumerate(np.split(train, BLOCKS))}
    arrays["test_pictures"] = read_idx("t10k-images-idx3-ubyte.gz")
    arrays["train_labels"] = read_idx("train-labels-idx1-ubyte.gz")
    arrays["test_labels"] = read_idx("t10k-labels-idx1-ubyte.gz")
    assert (len(train), len(arrays["test_pictures"])) == (NUM_TRAIN, NUM_TEST)  # noqa: S101
    path = RESOURCES / "data" / "fashion_mnist.zip"
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as file:
        for name, array in arrays.items():
            packed = lzma.compress(array.tobytes(), check=lzma.CHECK_CRC32, filters=FILTERS)
            file.writestr(zipfile.ZipInfo(f"{name}.xz", (2017, 8, 25, 0, 0, 0)), packed)
            print(f"{name}: {array.nbytes:,} -> {len(packed):,} bytes", flush=True)
    print(f"{path.name}: {path.stat().st_size:,} bytes")


def write_samples() -> None:
    """Writes test pictures, one of each class, as PNG files named by class."""
    pictures = read_idx("t10k-images-idx3-ubyte.gz")
    labels = read_idx("t10k-labels-idx1-ubyte.gz")
    words = [name.lower().split("/")[0].replace("-", "_").replace(" ", "_") for name in CLASS_NAMES]
    for word, count in SAMPLES.items():
        for number, index in enumerate(np.flatnonzero(labels == words.index(word))[:count], 1):
            write_png(RESOURCES / "samples" / f"{word}_{number:02d}.png", pictures[index])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", action="store_true", help="only the sample pictures")
    if parser.parse_args().samples:
        write_samples()
    else:
        write_data()
