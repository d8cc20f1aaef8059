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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.evaluation.confusion import Confusion
from workbench.core.evaluation.significance import Marks, Slice, in_groups, in_ranges, worst_first
from workbench.core.projects.data_edits import CONTENT_DIGITS, PART_NAMES
from workbench.errors import RunFolderError, WeightsError
from workbench.protocol.describe_data import ImagePlace
from workbench.protocol.trained.evaluate import ImageSet, SliceBy
from workbench.runs.folder import RunFolder
from workbench.runs.moved_data import place_now
from workbench.runs.store.weights_file import Arrays, read_arrays, write_arrays

# kept arrays ---------------------------------------------------------------------------------
# Arrays that are kept in the folder of a run: of limited size, for it may come from elsewhere.

_MAX_RECEIVED = 200


@dataclass(frozen=True)
class KeptArrays:
    """How one kind of arrays is kept, in a file of weights_file.py.

    Attributes:
        max_bytes: Size limit of the file.
        damage: That it is damaged, a sentence.
        fix: How to make it again, a sentence.
    """

    max_bytes: int
    damage: str
    fix: str

    def read(self, path: Path) -> Arrays | None:
        """What is kept; None where nothing is. Raises RunFolderError where it is damaged."""
        if not path.is_file():
            return None
        try:
            return read_arrays(path, max_bytes=self.max_bytes)
        except WeightsError as error:
            raise self.damaged(path, error.received) from error

    def damaged(self, path: Path, received: str) -> RunFolderError:
        """The error for a file with something else in it."""
        return RunFolderError(
            self.damage, where=str(path), received=received[:_MAX_RECEIVED], fix=self.fix
        )


# class scores --------------------------------------------------------------------------------
# The probability of each class for each image of a run's latest evaluation on a set of images:
# `class_scores.npz` of a run for the test images, `class_scores_train.npz` for the training images.
#
# Uncompressed arrays with a checksum (weights_file.py), an entry an image as in image_scores.py:
#
# probabilities   float32 (n, classes), calibrated where the model was
# actual          int32 (n,), the number of the class
# created         of the evaluation that they belong to, float64 ()
#
# Of more numbers than MOST_NUMBERS they are not kept; the areas of the curves are in the
# evaluation.

CLASS_SCORES_NAME = "class_scores.npz"

MOST_NUMBERS = 32 * 2**20
"""128 MiB: 3,000 images of 10,000 classes, or 100,000 of 300. The window reads it as a whole."""

_FILE = KeptArrays(
    max_bytes=4 * MOST_NUMBERS + 64 * 2**20,
    damage="The kept probabilities of the classes are damaged.",
    fix="Evaluate again.",
)


@dataclass(frozen=True)
class ClassScores:
    """Probabilities float32 (n, classes), and the actual classes int64 (n,)."""

    probabilities: np.ndarray[Any, np.dtype[np.float32]]
    actual: np.ndarray[Any, np.dtype[np.int64]]

    def answers(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, np.dtype[np.bool_]]]:
        """The probability of the predicted class, and whether that is the actual one, (n,) each."""
        shares = self.probabilities
        return shares.max(axis=1), shares.argmax(axis=1) == self.actual


def class_scores_path(run: RunFolder, part: ImageSet) -> Path:
    """The file of those of a set of images."""
    name = Path(CLASS_SCORES_NAME)
    return run.path / (name if part == "test" else name.with_stem(f"{name.stem}_{part}"))


def keep_class_scores(run: RunFolder, found: ClassScores, part: ImageSet, created: float) -> None:
    """Replaces those of a set of images by those of the evaluation of this time; removes them where
    there are too many to be kept. Raises LinkFoundError, SaveError.
    """
    path = class_scores_path(run, part)
    if found.probabilities.size > MOST_NUMBERS:
        path.unlink(missing_ok=True)
        return
    write_arrays(
        path,
        {
            "probabilities": np.asarray(found.probabilities, "<f4"),
            "actual": np.asarray(found.actual, "<i4"),
            "created": np.array(created, "<f8"),
        },
    )


def load_class_scores(
    run: RunFolder, part: ImageSet, created: float, num_classes: int
) -> ClassScores | None:
    """Reads the class scores of the evaluation of this time; None where they were not kept, or are
    of another one. Takes a second for the largest: not for the window's thread.

    Raises:
        RunFolderError: the file is damaged, or too large.
    """
    path = class_scores_path(run, part)
    arrays = _FILE.read(path)
    if arrays is None:
        return None
    if not _are_sound_scores(arrays, num_classes):
        raise _FILE.damaged(path, "arrays that cannot be of this model")
    if float(arrays["created"]) != created:
        return None
    return ClassScores(arrays["probabilities"], arrays["actual"].astype(np.int64))


def _are_sound_scores(arrays: Arrays, num_classes: int) -> bool:
    if {*arrays} != {"probabilities", "actual", "created"}:
        return False
    shares, actual, created = arrays["probabilities"], arrays["actual"], arrays["created"]
    return (
        (shares.dtype, actual.dtype, created.dtype) == ("<f4", "<i4", "<f8")
        and actual.ndim == 1
        and shares.shape == (len(actual), num_classes)
        and created.shape == ()
        and bool(((shares >= 0) & (shares <= 1.001)).all())
        and bool(((actual >= 0) & (actual < num_classes)).all())
    )


# image scores --------------------------------------------------------------------------------

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


# image slices --------------------------------------------------------------------------------
# Slices of the images of an evaluation: what can be sliced by, and the names of slices.

SLICE_TITLES: dict[SliceBy, str] = {
    "size": "Image size",
    "brightness": "Brightness (0–255)",
    "folder": "Folder",
    "tag": "Tag",
    "actual": "Actual class",
    "predicted": "Predicted class",
}
"""What images can be sliced by, in the order in which it is offered."""

NO_TAG = "(no tag)"
_FEW_SIZES = 5  # these are shown one by one
_DIGITS = (2, 3, 4, 6, 10)
_UNKNOWN_SIZE = "(unknown)"
_NOT_KEPT = "This evaluation is of an earlier version, which did not measure it. Evaluate again."
_NO_FILES = "The images of this data set are in no files of their own."
_NO_TAGS = "No image has a tag yet. In Evaluate, select images and give them one."

_Numbers = np.ndarray[Any, np.dtype[np.int64]]


def why_not(images: ScoredImages, by: SliceBy, tags: Mapping[str, str]) -> str:
    """Why these images cannot be sliced by something, in a sentence; "" where they can."""
    if by == "folder":
        return "" if len(images.lengths) else _NO_FILES
    if by == "tag":
        return "" if tags else _NO_TAGS
    is_kept = {"size": len(images.sizes), "brightness": len(images.brightness)}.get(by, 1)
    return "" if is_kept or not len(images) else _NOT_KEPT


def slices_of(
    images: ScoredImages, by: SliceBy, classes: Sequence[str], tags: Mapping[str, str]
) -> list[Slice]:
    """The slices: those of a value from the lowest on, others worst first. None where `why_not` has
    a reason. A tenth of a second for 100,000 images in files: not for the window's thread.

    Args:
        images: All images of the evaluation.
        by: What the images of a slice have in common.
        classes: Names of the model's classes.
        tags: Content -> tag, as the data set's edits have it.
    """
    if why_not(images, by, tags):
        return []
    is_right = images.is_right
    if by == "brightness":
        return in_ranges(np.rint(images.brightness), is_right, _brightness)
    if by == "size":
        return _by_size(images)
    if by in ("actual", "predicted"):
        found = in_groups(getattr(images, by), is_right, classes)
    else:
        names = _folders(images) if by == "folder" else _tags(images, tags)
        numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
        groups = np.array([numbers[name] for name in names], np.int64)
        found = in_groups(groups, is_right, [_shown(name) for name in numbers])
    return worst_first(found)


def _brightness(least: float, greatest: float) -> str:
    return f"{least:.0f}" if least == greatest else f"{least:.0f}–{greatest:.0f}"


def _by_size(images: ScoredImages) -> list[Slice]:
    """By width and height where there are few, else in ranges of megapixels; smallest first."""
    sizes = images.sizes.astype(np.int64)
    areas, is_right = sizes[:, 0] * sizes[:, 1], images.is_right
    known, rest = np.flatnonzero(areas), np.flatnonzero(areas == 0)
    sides, which = np.unique(sizes[known], axis=0, return_inverse=True)
    if len(sides) <= _FEW_SIZES:
        order = np.argsort(sides.prod(axis=1), kind="stable")
        names = [_sides(*sides[at]) for at in order.tolist()]
        found = in_groups(np.argsort(order)[which.ravel()], is_right[known], names)
    else:
        found = _in_megapixels(areas[known], is_right[known])
    found = [Slice(each.name, known[each.numbers], each.right) for each in found]
    if len(rest):
        found.append(Slice(_UNKNOWN_SIZE, rest, int(is_right[rest].sum())))
    return found


def _sides(width: int, height: int) -> str:
    return f"{width:,} × {height:,} px"


def _in_megapixels(areas: _Numbers, is_right: Marks) -> list[Slice]:
    """With as many digits as it takes to tell one range from another."""
    found: list[Slice] = []
    for digits in _DIGITS:
        found = in_ranges(areas, is_right, partial(_megapixels, digits))
        if len({each.name for each in found}) == len(found):
            break
    return found


def _megapixels(digits: int, least: float, greatest: float) -> str:
    first, last = (f"{pixels / 1e6:.{digits}g}" for pixels in (least, greatest))
    return f"{first} MP" if first == last else f"{first}–{last} MP"


def _folders(images: ScoredImages) -> list[str]:
    """The folder of each file, from where the folders part."""
    folders = [os.path.dirname(images.file(number)) for number in range(len(images))]  # noqa: PTH120 - many
    distinct = {*folders}
    if len(distinct) < 2:
        return [os.path.basename(folder) or folder for folder in folders]  # noqa: PTH119 - many
    try:
        common = os.path.commonpath(distinct)
    except ValueError:  # of several drives
        return folders
    short = {folder: os.path.relpath(folder, common) for folder in distinct}
    return [short[folder] for folder in folders]


def _shown(name: str) -> str:
    """A name of a file system, which may have any character."""
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in name)


def _tags(images: ScoredImages, tags: Mapping[str, str]) -> list[str]:
    return [tags.get(images.content_of(number), NO_TAG) for number in range(len(images))]
