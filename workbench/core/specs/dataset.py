"""What a data set's plug-in file declares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Protocol

import numpy as np

from workbench.core.format import bytes_text
from workbench.core.params import Param, Params
from workbench.core.specs.inference import Inference
from workbench.core.specs.layer import Shape
from workbench.core.split_marks import SplitMarks


@dataclass(frozen=True)
class ArrayPart:
    """Images already in memory: uint8 (n, height, width, channels), an array or rows read by
    number that act as one; labels int64 (n,).
    """

    pictures: np.ndarray[Any, np.dtype[np.uint8]]
    labels: np.ndarray[Any, np.dtype[np.int64]]

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class FilePart:
    """Images still in files.

    Attributes:
        paths: Path of each file.
        labels: Class number of each, int64 (n,).
        value_range: Black and white of images of more than 8 bits, e.g. "0-4095"; "" where each is
            decoded by its own numbers.
    """

    paths: tuple[str, ...]
    labels: np.ndarray[Any, np.dtype[np.int64]]
    value_range: str = ""

    def __len__(self) -> int:
        return len(self.labels)


Part = ArrayPart | FilePart

FREE = -1
"""The pin of an image that no edit puts into a part."""

ELSEWHERE = -1
"""The place of an image that the source has in another part."""


@dataclass(frozen=True)
class SplitBasis:
    """The training part of a source as it is without the user's edits. A split is decided on it,
    so that no edit moves an image into another part.

    Attributes:
        class_names: Name of each class.
        labels: int64 (m,), places in `class_names`.
        places: int64 (n,): where each image of `LoadedData.train` is among these m; ELSEWHERE for
            one that an edit has brought here from another part of the source.
        contents: S32 (m,): ids of the images by content; None where they are not known.
        groups: S32 (m,): ids of the groups that a split keeps together, b"" for an image in none;
            None for no groups.
    """

    class_names: tuple[str, ...]
    labels: np.ndarray[Any, np.dtype[np.int64]]
    places: np.ndarray[Any, np.dtype[np.int64]]
    contents: np.ndarray[Any, np.dtype[np.bytes_]] | None = None
    groups: np.ndarray[Any, np.dtype[np.bytes_]] | None = None


@dataclass(frozen=True)
class ImageChanges:
    """Which single images the user's edits have changed.

    Attributes:
        left_out: How many are not used.
        copies: How many are not used because a copy of each is.
        relabeled, moved: The files of those that have another class, or are put into a part: some
            may turn out to be unreadable. "" for an image in no file of its own.
    """

    left_out: int = 0
    copies: int = 0
    relabeled: tuple[str, ...] = ()
    moved: tuple[str, ...] = ()


@dataclass(frozen=True)
class LoadedData:
    """What a dataset source gives.

    Attributes:
        class_names: Name of each label 0..n-1.
        train: The training part (all images, where the source has no test part).
        test: The test part as published, or None: one is then split off `train`.
        validation: The validation part as published, or None: one is then split off `train`.
        bad_files: (path, reason in words) of images left out, already known here.
        notes: Sentences about the data worth showing (a class with few images, ...).
        pins: int8 (n,) of the training part: into which part of the split an image goes in any
            case, by its place in PART_NAMES; FREE where the split decides. None where it always
            does.
        basis: What a split is decided on; None where that is the training part, without groups.
        changes: The single images that were edited.
        marks: Where the split by content was cut before.
        inferences: What the source inferred about the meaning of the data: all of it, also what is
            plain.
    """

    class_names: tuple[str, ...]
    train: Part
    test: Part | None = None
    bad_files: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    validation: Part | None = None
    pins: np.ndarray[Any, np.dtype[np.int8]] | None = None
    basis: SplitBasis | None = None
    changes: ImageChanges = ImageChanges()
    marks: SplitMarks = field(default_factory=SplitMarks)
    inferences: tuple[Inference, ...] = ()

    @property
    def sentences(self) -> tuple[str, ...]:
        """What was inferred, then the notes, in sentences."""
        return (*(each.sentence for each in self.inferences), *self.notes)

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts that there are: training, test, validation."""
        return tuple(part for part in (self.train, self.test, self.validation) if part is not None)


def parts_of(loaded: LoadedData) -> tuple[tuple[str, Part], ...]:
    """The parts that there are with their names: "train", "test", "validation"."""
    named = (
        ("train", loaded.train),
        ("test", loaded.test),
        ("validation", loaded.validation),
    )
    return tuple((name, part) for name, part in named if part is not None and len(part))


class LoadContext(Protocol):
    """What a worker hands to a dataset's `load`."""

    @property
    def cache_folder(self) -> str:
        """Folder for downloads and unpacked arrays; kept between runs."""

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Reports what is being done; fraction 0..1 where known."""

    def check_cancelled(self) -> None:
        """Raises the caller's own cancel exception when the user has canceled."""

    def keras(self) -> Any:
        """The keras module (imports TensorFlow: only sources that download ask for it)."""


def least_classes(ctx: LoadContext) -> int:
    """How many classes a data set needs: two to train on, one where images of a model that exists
    are evaluated, whose context says so by an attribute `least_classes`.
    """
    return int(getattr(ctx, "least_classes", 2))


class NeededFile(Protocol):
    """A file on the internet without which a source has no images."""

    @property
    def num_bytes(self) -> int:
        """Its size; 0 where it is not known."""

    def is_kept(self) -> bool:
        """Whether it has been downloaded before. Looks at the disk."""

    def has_route(self) -> bool:
        """False where it is certain that it cannot be downloaded now. Contacts nobody."""


@dataclass(frozen=True, kw_only=True)
class DatasetSpec:
    """One source of images and labels.

    Attributes:
        key: File name, JSON value and SOURCE word, e.g. "fashion_mnist", "folder".
        title, summary: Texts for people.
        license: License of the images; "" for the user's own.
        license_file: Name of its full text under resources/data; "" where that is not there.
        params: What the user chooses; the SOURCE text behind the colon is `source_param`.
        source_param: Key of the parameter that "KEY:VALUE" sets; "" when it takes none.
        shape: Image shape when the source fixes it, else None.
        typical_shape: (height, width, channels) typical of its images, where they differ in size
            and the source fixes them, else None.
        class_names: Names when the source fixes them, else empty.
        has_numbered_labels: Its labels are numbers, in whose order every program has the classes;
            else a program sorts their names as it likes.
        num_train, num_test: Published sizes, 0 when unknown.
        downloads: What it fetches from the internet on first use.
        program: The body of a function of a plain Keras program that returns
            (x_train, y_train), (x_test, y_test); "" where people bring the images.
        lists_files: Its file names images that may lie anywhere.
        listing: Classes and files for params, as far as they are known without reading an image;
            None where that is not at all. Raises DatasetError.
        addresses: The computers on the internet that loading with these params contacts, where
            the params name them: they may have come with a file.
        load: Called by a worker only.
    """

    key: str
    title: str
    summary: str
    license: str = ""
    license_file: str = ""
    params: tuple[Param, ...] = ()
    source_param: str = ""
    shape: Shape | None = None
    typical_shape: Shape | None = None
    class_names: tuple[str, ...] = ()
    has_numbered_labels: bool = False
    num_train: int = 0
    num_test: int = 0
    downloads: tuple[NeededFile, ...] = ()
    program: str = ""
    lists_files: bool = False
    listing: Callable[[Params], LoadedData | None] = lambda params: None
    addresses: Callable[[Params], tuple[str, ...]] = lambda params: ()
    load: Callable[[LoadContext, Params], LoadedData]

    @property
    def needs_download(self) -> bool:
        """Whether anything is fetched from the internet on first use."""
        return bool(self.downloads)

    def not_kept(self) -> tuple[NeededFile, ...]:
        """What is still to be downloaded. Looks at the disk."""
        return tuple(file for file in self.downloads if not file.is_kept())

    def availability(self, params: Params) -> str:
        """Source of its images, in words: "images included", "downloads 170 MB", "downloaded",
        "needs your images", "your images". Looks at the disk.
        """
        if self.unset(params):
            return "needs your images"
        if self.source_param:
            return "your images"
        if not self.downloads:
            return "images included"
        missing = self.not_kept()
        if not missing:
            return "downloaded"
        size = sum(file.num_bytes for file in missing)
        return f"downloads {bytes_text(size)}" if size else "downloads its images"

    def unset(self, params: Params) -> tuple[Param, ...]:
        """The parameters without which there is no data, and that have no value yet."""
        required = (param for param in self.params if param.key == self.source_param)
        return tuple(param for param in required if not params.get(param.key))

    def name_of(self, params: Params) -> str:
        """What these params load, in short: the name of their file or folder, else the title."""
        path = params.get(self.source_param)
        if isinstance(path, list | tuple) and path:
            names = [PurePath(str(each)).name for each in path]
            return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
        return PurePath(path).name or self.title if isinstance(path, str) else self.title
