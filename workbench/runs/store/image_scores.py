"""What a model answered for each image of its latest evaluation on a set of images:
`image_scores.npz` of a run for the test images, `image_scores_train.npz` for the training images.

Uncompressed arrays with a checksum (weights_file.py), one entry an image:

part, index     where it is in the data set that was evaluated, with the edits of that time
actual, predicted, rank   int32
probability, loss         float32
content         uint8 (n, 16), its id (`DataEdits`)
paths, lengths  the files as one text of bytes, and the bytes of each; empty without files
created         of the evaluation that it belongs to, float64 ()
brightness, sizes   float32 (n,) and int32 (n, 2); earlier versions did not keep them
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.confusion import Confusion
from workbench.core.projects.data_edits import CONTENT_DIGITS, PART_NAMES
from workbench.errors import RunFolderError
from workbench.protocol.browsing import ImagePlace
from workbench.protocol.trained.evaluate import ImageSet
from workbench.runs.folder import RunFolder
from workbench.runs.moved_data import place_now
from workbench.runs.store.kept_arrays import KeptArrays
from workbench.runs.store.weights_file import Arrays, write_arrays

IMAGE_SCORES_NAME = "image_scores.npz"

_SCORES = KeptArrays(
    max_bytes=512 * 2**20,  # a million images in files with long names
    damage="The kept scores of the images are damaged.",
    fix="Evaluate again.",
)
_ID_BYTES = CONTENT_DIGITS // 2

Numbers = np.ndarray[Any, np.dtype[np.int64]]
_Column = np.ndarray[Any, np.dtype[Any]]

_TYPES = {
    "part": "<i1",
    "index": "<i4",
    "actual": "<i4",
    "predicted": "<i4",
    "rank": "<i4",
    "probability": "<f4",
    "loss": "<f4",
    "content": "<u1",
}
_PATH_TYPES = {"paths": "<u1", "lengths": "<i4"}
_FACT_TYPES = {"brightness": "<f4", "sizes": "<i4"}
_MISSING: dict[str, _Column] = {
    "brightness": np.zeros(0, "<f4"),
    "sizes": np.zeros((0, 2), "<i4"),
}
"""In place of what is not in the files of earlier versions."""


@dataclass(frozen=True)
class ScoredImages:
    """What a model answered for some images, (n,) each.

    Attributes:
        part: Where the image is in the evaluated data set with the edits of that time: the number
            of its part in PART_NAMES, int8.
        index: Its number in that part, int32.
        actual, predicted: Numbers of classes, int32.
        rank: How many classes are before the actual one, as in `ImageResults`, int32.
        probability: Probability of the predicted class, float32, 0..1.
        loss: Cross-entropy of the probabilities that `probability` is one of, calibrated where the
            model was, float32; may be infinite.
        content: The id of the image (`DataEdits`) as bytes, uint8 (n, 16).
        paths: The files, one after the other, as bytes of the file system; uint8 (bytes,).
        lengths: Bytes of each file's path, int32; (0,) where images are in no files.
        brightness: Mean luminance of the model's input, float32 0..255; (0,) where it is not known.
        sizes: Width and height of the original image, int32 (n, 2), 0 for one that is not known;
            (0, 2) where none is.
    """

    part: _Column
    index: _Column
    actual: _Column
    predicted: _Column
    rank: _Column
    probability: _Column
    loss: _Column
    content: _Column
    paths: _Column
    lengths: _Column
    brightness: _Column = field(default_factory=lambda: np.zeros(0, np.float32))
    sizes: _Column = field(default_factory=lambda: np.zeros((0, 2), np.int32))

    def __len__(self) -> int:
        return len(self.actual)

    def place(self, number: int) -> ImagePlace:
        """What an image is meant by in requests."""
        return ImagePlace(PART_NAMES[self.part[number]], int(self.index[number]))

    def content_of(self, number: int) -> str:
        """The id of an image as edits name it."""
        return bytes(self.content[number]).hex()

    @cached_property
    def contents(self) -> frozenset[str]:
        """The ids of all images."""
        ids = self.content.tobytes().hex()
        return frozenset(ids[at : at + 2 * _ID_BYTES] for at in range(0, len(ids), 2 * _ID_BYTES))

    def file(self, number: int) -> str:
        """The file of an image, where it is now; "" where it is in none."""
        return place_now(self.kept_file(number))

    def kept_file(self, number: int) -> str:
        """The file of an image when it was evaluated; "" where it is in none."""
        if not len(self.lengths):
            return ""
        end = int(self._ends[number])
        return os.fsdecode(self.paths[end - int(self.lengths[number]) : end].tobytes())

    @cached_property
    def _ends(self) -> Numbers:
        return np.cumsum(self.lengths, dtype=np.int64)

    @cached_property
    def worst_first(self) -> Numbers:
        """All images, the largest loss first."""
        return np.argsort(-self.loss, kind="stable")

    @property
    def is_right(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which were classified right."""
        return np.equal(self.actual, self.predicted)

    def confusion(self, num_classes: int) -> Confusion:
        """The confusion matrix."""
        return Confusion.of_images(self.actual, self.predicted, num_classes)


def joined_paths(files: tuple[str, ...]) -> tuple[_Column, _Column]:
    """The paths and lengths of ScoredImages."""
    whole = [os.fsencode(file) for file in files]
    paths = np.frombuffer(b"".join(whole), np.uint8)
    return paths, np.array([len(path) for path in whole], np.int32)


def image_scores_path(run: RunFolder, part: ImageSet) -> Path:
    """The file of those of a set of images."""
    name = Path(IMAGE_SCORES_NAME)
    return run.path / (name if part == "test" else name.with_stem(f"{name.stem}_{part}"))


def keep_image_scores(run: RunFolder, images: ScoredImages, part: ImageSet, created: float) -> None:
    """Replaces those of a set of images by those of the evaluation of this time.

    Raises:
        LinkFoundError: the file is a link.
        RunFolderError: there are too many to be kept.
        SaveError: it cannot be written.
    """
    arrays = {**columns_of(images), "created": np.array(created, "<f8")}
    if sum(array.nbytes for array in arrays.values()) > _SCORES.max_bytes - 10_000:
        raise RunFolderError("There are too many images to keep their scores.", where=str(run.path))
    write_arrays(image_scores_path(run, part), arrays)


def columns_of(images: ScoredImages) -> dict[str, _Column]:
    """The columns as they are in a file, by name."""
    types = {**_TYPES, **_PATH_TYPES, **_FACT_TYPES}
    return {name: np.asarray(getattr(images, name), kind) for name, kind in types.items()}


def images_of(arrays: Arrays, num_classes: int) -> ScoredImages | None:
    """The images of such columns, with answers of so many classes; None where they cannot be that:
    a file may come from elsewhere.
    """
    arrays = {**_MISSING, **arrays}
    names = (*_TYPES, *_PATH_TYPES, *_FACT_TYPES)
    if not arrays.keys() >= {*names} or not _is_sound(arrays, num_classes):
        return None
    return ScoredImages(**{name: arrays[name] for name in names})


def remove_image_scores(run: RunFolder, part: ImageSet) -> None:
    """Removes those of an earlier evaluation; OSError where that is not possible."""
    image_scores_path(run, part).unlink(missing_ok=True)


def load_image_scores(
    run: RunFolder, part: ImageSet, created: float, num_classes: int
) -> ScoredImages | None:
    """Reads the image scores of the evaluation of this time, of so many classes; None where they
    were not kept, or are of another evaluation.

    Raises:
        RunFolderError: the file is damaged, or too large.
    """
    path = image_scores_path(run, part)
    arrays = _SCORES.read(path)
    if arrays is None:
        return None
    if {*arrays} | {*_MISSING} != {*_TYPES, *_PATH_TYPES, *_FACT_TYPES, "created"}:
        raise _SCORES.damaged(path, "other columns than scores")
    images, time = images_of(arrays, num_classes), arrays["created"]
    if images is None or time.dtype != "<f8" or time.shape != ():
        raise _SCORES.damaged(path, "columns that cannot be of this model")
    return images if float(time) == created else None


def _is_sound(arrays: Arrays, num_classes: int) -> bool:
    count = arrays["actual"].size
    shapes = dict.fromkeys(_TYPES, (count,)) | {"content": (count, _ID_BYTES)}
    types = _TYPES | _PATH_TYPES | _FACT_TYPES
    lengths, paths = arrays["lengths"], arrays["paths"]
    return (
        all(arrays[name].dtype == kind for name, kind in types.items())
        and all(arrays[name].shape == shape for name, shape in shapes.items())
        and arrays["brightness"].shape in ((0,), (count,))
        and arrays["sizes"].shape in ((0, 2), (count, 2))
        and bool(((arrays["brightness"] >= 0) & (arrays["brightness"] <= 255)).all())
        and _is_within(arrays["sizes"], 2**31)
        and lengths.shape in ((0,), (count,))
        and paths.shape == (int(lengths.sum(dtype=np.int64)),)
        and bool((lengths >= 0).all())
        and _is_within(arrays["part"], len(PART_NAMES))
        and _is_within(arrays["index"], 2**31)
        and all(_is_within(arrays[name], num_classes) for name in ("actual", "predicted", "rank"))
        and bool(((arrays["probability"] >= 0) & (arrays["probability"] <= 1.001)).all())
        and not bool(np.isnan(arrays["loss"]).any())
    )


def _is_within(values: _Column, end: int) -> bool:
    return bool(((values >= 0) & (values < end)).all())
