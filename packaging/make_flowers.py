"""Makes resources/data/flowers1000.zip out of TensorFlow's flower photos.

    python packaging/make_flowers.py [--source ../shared/data]

The source holds flowers/CLASS/NAME.jpg and flowers_LICENSE.txt, the list of the photographers.
200 photos of each class are taken in the order of the sha256 of their bytes, without those
that equal or resemble one taken before, or any one of another class. 40 of each class are the
test part: those of a photographer are all in the same part of a class, as photos of one place
and time often resemble each other. The zip is a folder as people have them:
train/CLASS/NAME.jpg and test/CLASS/NAME.jpg with the bytes unchanged, and the names of the
photographers.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from workbench.datasets.flowers1000 import CLASS_NAMES, NUM_TEST, NUM_TRAIN
from workbench.pictures.folders import natural_key

DATA = Path(__file__).resolve().parents[1] / "resources" / "data"
ARCHIVE, LICENSE = "flowers1000.zip", "flowers1000_LICENSE.txt"
PER_CLASS = (NUM_TRAIN + NUM_TEST) // len(CLASS_NAMES)
TEST_PER_CLASS = NUM_TEST // len(CLASS_NAMES)

LARGEST_DISTANCE = 12
"""Bits of 64 in which the perceptual hashes of photos may differ that count as one. Of all
3,610 photos, 59 pairs are as near; by eye, 34 of them show the same thing at the same time."""

_CREDIT = re.compile(r"(\S+) CC-BY by (?P<name>.*) - (?P<address>http\S+)")
_OTHER_CREDIT = re.compile(r"(\S+) CC-BY (?P<address>http\S+) - by (?P<name>.*)")
_DATE = (2016, 1, 1, 0, 0, 0)

_WORDS = """\
flowers1000.zip: 1,000 of the 3,670 flower photos of TensorFlow's tutorials (flower_photos.tgz).

Each photo is licensed under Creative Commons Attribution 2.0 Generic (CC BY 2.0):
https://creativecommons.org/licenses/by/2.0/
Changes: resized to a short side of 192 to 224 pixels, encoded as JPEG of quality 65, metadata
removed. The photographers, with thanks:

"""


@dataclass(frozen=True)
class Photo:
    """One photo: its class, file name, bytes, and who took it."""

    label: str
    name: str
    data: bytes
    photographer: str
    address: str

    @property
    def rank(self) -> str:
        """Where it comes in the order of choosing."""
        return hashlib.sha256(self.data).hexdigest()


def read_credits(path: Path) -> dict[str, tuple[str, str]]:
    """Photographer and address by CLASS/NAME.jpg."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [_CREDIT.fullmatch(line) or _OTHER_CREDIT.fullmatch(line) for line in lines]
    return {m[1]: (m["name"].strip(), m["address"]) for m in found if m}


def read_photos(source: Path) -> list[Photo]:
    """All photos of the source, in the order of choosing."""
    credited = read_credits(source / "flowers_LICENSE.txt")
    photos = [
        Photo(label, path.name, path.read_bytes(), *credited[f"{label}/{path.name}"])
        for label in CLASS_NAMES
        for path in (source / "flowers" / label).glob("*.jpg")
    ]
    return sorted(photos, key=lambda photo: (photo.rank, photo.label))


def perceptual_hashes(path: Path) -> np.ndarray:
    """64 bits of a photo and of its mirror image: which of the 8 × 8 lowest frequencies of its
    32 × 32 gray values are above their median (DCT, without the means of rows and columns).
    """
    with Image.open(path) as image:
        gray = image.convert("L").resize((32, 32), Image.Resampling.BOX)
    place = np.arange(32)
    waves = np.cos(np.pi * (2 * place + 1) * np.arange(1, 9)[:, None] / 64)
    values = np.asarray(gray, np.float64)
    found = [waves @ each @ waves.T for each in (values, values[:, ::-1])]
    return np.stack([(each > np.median(each)).ravel() for each in found])


def nearly_same(photos: list[Photo], source: Path) -> np.ndarray:
    """Whether one photo resembles another, as it is or mirrored: (photos, photos)."""
    paths = [source / "flowers" / photo.label / photo.name for photo in photos]
    bits = np.stack([perceptual_hashes(path) for path in paths]).astype(np.float32)
    plain = bits[:, 0]
    distances = [each @ (1 - plain).T + (1 - each) @ plain.T for each in (plain, bits[:, 1])]
    found = np.minimum(*distances) <= LARGEST_DISTANCE
    np.fill_diagonal(found, val=False)
    return found


def choose(photos: list[Photo], source: Path) -> list[Photo]:
    """PER_CLASS of each class, no two of which are nearly the same."""
    same = nearly_same(photos, source)
    chosen: list[int] = []
    for number, photo in enumerate(photos):
        if sum(photo.label == photos[other].label for other in chosen) == PER_CLASS:
            continue
        others = np.flatnonzero(same[number])
        is_ambiguous = any(photos[other].label != photo.label for other in others)
        if is_ambiguous or set(others) & set(chosen):
            why = "like one of another class" if is_ambiguous else "like one taken before"
            print(f"left out: {photo.label}/{photo.name}, {why}")
            continue
        chosen.append(number)
    return [photos[number] for number in chosen]


def test_part(chosen: list[Photo]) -> set[str]:
    """CLASS/NAME of the test photos: whole photographers in the order of their names' sha256,
    as far as they fit.
    """
    part: set[str] = set()
    for label in CLASS_NAMES:
        by_name: dict[str, list[str]] = {}
        for photo in chosen:
            if photo.label == label:
                by_name.setdefault(photo.photographer, []).append(f"{label}/{photo.name}")
        left = TEST_PER_CLASS
        for name in sorted(by_name, key=lambda name: hashlib.sha256(name.encode()).hexdigest()):
            if len(by_name[name]) <= left:
                part |= set(by_name[name])
                left -= len(by_name[name])
    return part


def write(photos: list[Photo], folder: Path) -> None:
    """Writes archive and license; members have a fixed date, so that it comes out the same."""
    tested = test_part(photos)
    named = {f"{photo.label}/{photo.name}": photo for photo in photos}
    assert len(tested) == NUM_TEST, len(tested)  # noqa: S101
    assert len(named) == NUM_TEST + NUM_TRAIN  # noqa: S101
    credit = [f"{name} by {p.photographer} - {p.address}" for name, p in sorted(named.items())]
    text = _WORDS + "\n".join(credit) + "\n"
    with zipfile.ZipFile(folder / ARCHIVE, "w", zipfile.ZIP_STORED) as file:
        # In the order in which a folder is listed, so that an unpacked copy is the same data set.
        for name in sorted(named, key=lambda name: (name in tested, natural_key(name))):
            part = "test" if name in tested else "train"
            file.writestr(zipfile.ZipInfo(f"{part}/{name}", _DATE), named[name].data)
        file.writestr(zipfile.ZipInfo("LICENSE.txt", _DATE), text, zipfile.ZIP_DEFLATED)
    (folder / LICENSE).write_text(text, encoding="utf-8")
    print(f"{ARCHIVE}: {(folder / ARCHIVE).stat().st_size:,} bytes")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, default=DATA.parents[2] / "shared" / "data")
    parser.add_argument("--folder", type=Path, default=DATA)
    words = parser.parse_args()
    write(choose(read_photos(words.source), words.source), words.folder)
