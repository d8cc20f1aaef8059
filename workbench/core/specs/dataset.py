"""What a data set's plug-in file declares."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from workbench.core.format import bytes_text
from workbench.core.params import Param, Params
from workbench.core.specs.layer import Shape

# edited classes ------------------------------------------------------------------------------
# The classes of a data set after the user has renamed, merged or left out some.


@dataclass(frozen=True)
class EditedClasses:
    """The classes of a data set after edits.

    Attributes:
        names: In the order in which the data set has the first class of each name.
        numbers: For each class of the data set, the number of its class in `names`; -1 for one
            that is left out.
    """

    names: tuple[str, ...]
    numbers: tuple[int, ...]


def edited_classes(names: Sequence[str], classes: Mapping[str, str]) -> EditedClasses:
    """The classes that a data set of these has in a project, by its edits (`DataEdits.classes`)."""
    wanted = [classes.get(name, name) for name in names]
    kept = tuple(dict.fromkeys(name for name in wanted if name))
    places = {name: number for number, name in enumerate(kept)}
    return EditedClasses(kept, tuple(places.get(name, -1) for name in wanted))


# inference -----------------------------------------------------------------------------------
# What was inferred about the meaning of foreign data: a value with its evidence and its doubt.
#
# What the user has not set (which column is the label, which folder is a part, which number is
# white), a source infers, and lists here. The Data view, `data check` and the log show every
# inference; its parameter of the data set changes it; a doubtful one is a finding of the data
# check.


@dataclass(frozen=True)
class Option:
    """Another meaning that the data could have.

    Attributes:
        value: What the parameter of the data set is set to for it.
        title: What it means, in words: "breed", "classes as they are".
    """

    value: Any
    title: str


@dataclass(frozen=True)
class Inference:
    """One meaning that was taken.

    Attributes:
        key: Kind of inference, and part of what identifies it, e.g. "label_column".
        what: What was inferred, as the start of a sentence: "The label column".
        value: What was taken, in words.
        evidence: Why, as a clause: "named in the header", "72 of 72 files are there".
        doubt: Why it may be wrong, as a sentence; "" where the evidence is plain. A doubtful
            inference is a finding.
        param: The parameter of the data set that sets it; "" where nothing can.
        options: What else it could be; each is offered as a value of `param`.
        is_told: The user has set it: nothing was inferred, and it is no finding.
    """

    key: str
    what: str
    value: str
    evidence: str = ""
    doubt: str = ""
    param: str = ""
    options: tuple[Option, ...] = ()
    is_told: bool = False

    @property
    def sentence(self) -> str:
        """For logs and lists: "The label column: breed (named in the header)." and the doubt."""
        why = "set in the data source" if self.is_told else self.evidence
        words = f"{self.what}: {self.value} ({why})." if why else f"{self.what}: {self.value}."
        return f"{words} {self.doubt}" if self.is_doubtful else words

    @property
    def is_doubtful(self) -> bool:
        """Whether a person should look at it."""
        return bool(self.doubt) and not self.is_told


# split marks ---------------------------------------------------------------------------------
# Cuts of a split by content, remembered so that images added later move none of the others.
#
# In each class the images are in the order of a hash of their content, a number from 0 to 2**64 -
# 1. Those below the first mark are for testing, those below the second for validation. Without
# marks they are chosen so that each part has its share of the images at hand.

_EMPTY: Mapping[str, tuple[str, str]] = MappingProxyType({})
_MARK = re.compile("[0-9a-f]{16}")
_MAX_CLASSES = 100_000
_MAX_TEXT = 10_000
_EXPECTED = "two hexadecimal numbers for each class"

Report = Callable[[str, Any, str], None]


@dataclass(frozen=True)
class SplitMarks:
    """The marks of each class. True when there are any.

    Attributes:
        made_for: What they depend on beside the images (`SplitRule.key`): with other values of the
            recipe they are chosen again.
        bounds: Name of a class -> its two marks, each of 16 hexadecimal digits. Images that have
            copies or a group in several classes have marks of their own, under all the names,
            joined by line breaks.
    """

    made_for: str = ""
    bounds: Mapping[str, tuple[str, str]] = field(default_factory=lambda: _EMPTY)

    def __bool__(self) -> bool:
        return bool(self.bounds)


def marks_to_plain(marks: SplitMarks) -> dict[str, Any]:
    """The marks as JSON values; {} for none."""
    if not marks:
        return {}
    bounds = {name: list(ends) for name, ends in sorted(marks.bounds.items())}
    return {"made_for": marks.made_for, "bounds": bounds}


def read_marks(plain: Any, report: Report, where: str = "split") -> SplitMarks:
    """The marks of JSON values; where something is wrong it is reported, and there are none."""
    bounds = plain.get("bounds", {}) if isinstance(plain, dict) else None
    made_for = plain.get("made_for", "") if isinstance(plain, dict) else None
    is_valid = (
        isinstance(bounds, dict)
        and isinstance(made_for, str)
        and len(made_for) <= _MAX_TEXT
        and len(bounds) <= _MAX_CLASSES
        and all(isinstance(name, str) and _are_ends(ends) for name, ends in bounds.items())
    )
    if is_valid:
        return SplitMarks(str(made_for), {name: (a, b) for name, (a, b) in (bounds or {}).items()})
    report(where, plain, _EXPECTED)
    return SplitMarks()


def _are_ends(ends: object) -> bool:
    return (
        isinstance(ends, list | tuple)
        and len(ends) == 2
        and all(isinstance(end, str) and _MARK.fullmatch(end) for end in ends)
    )


# dataset -------------------------------------------------------------------------------------


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
