"""Preparation of a loaded data set for training: three parts of uint8 rows of one shape."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np

from workbench.core.format import path_text, plural
from workbench.core.projects.data_edits import PartName
from workbench.core.specs import ArrayPart, FilePart, LoadContext, LoadedData, Part, Shape
from workbench.core.specs.dataset import SplitMarks
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.split import TEST, TRAIN, VALIDATION, Parts
from workbench.errors import DatasetError
from workbench.pictures.contents import Contents, contents_of
from workbench.pictures.divide import divide
from workbench.pictures.edited import changes_note
from workbench.pictures.fit import check_shape
from workbench.pictures.fitted import fitted_rows
from workbench.pictures.rows import JoinedRows, Rows, pick_rows

Labels = np.ndarray[Any, np.dtype[np.int64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]


_NAMES_LISTED = 5


@dataclass(frozen=True)
class Origin:
    """Origin of pictures: "train", "test" or "validation" as the data set has it, that part, and
    their numbers in it, int64 (n,).
    """

    name: PartName
    part: Part
    numbers: Labels

    def contents(self, ctx: LoadContext) -> Contents:
        """The ids of the pictures by content; see `contents_of` for errors."""
        part, numbers = self.part, self.numbers
        if isinstance(part, FilePart):
            files = tuple(part.paths[number] for number in numbers)
            return contents_of(FilePart(files, part.labels[numbers]), ctx)
        chosen = cast("Any", JoinedRows([part.pictures], numbers))
        return contents_of(ArrayPart(chosen, part.labels[numbers]), ctx)


@dataclass(frozen=True)
class PreparedPart:
    """Pictures and labels of one part.

    Attributes:
        x: uint8 (n, height, width, channels): an array, or rows that are read or decoded
            when they are read (`pictures.rows`).
        y: int64 (n,).
        files: Path of each picture; empty where the source has none.
        origin: The part of the loaded data set that they are from; None where they are from none.
    """

    x: Rows
    y: Labels
    files: tuple[str, ...] = ()
    origin: Origin | None = None

    def __len__(self) -> int:
        return len(self.y)

    def picked(self, places: Labels) -> PreparedPart:
        """The pictures at these places, in this order."""
        origin = self.origin
        return PreparedPart(
            pick_rows(self.x, places),
            self.y[places],
            tuple(self.files[place] for place in places) if self.files else (),
            origin and replace(origin, numbers=origin.numbers[places]),
        )


@dataclass(frozen=True)
class PreparedData:
    """A data set ready for training.

    Attributes:
        class_names: Name of each label.
        train, validation, test: The parts; None where there is none. With the recipe's
            validation "test", validation and test are the same pictures.
        bad_files: (path, reason in words) of pictures that were left out.
        notes: Sentences worth showing.
        marks: Where a split by content was cut; none for another split.
        value_range: Black and white of the files (`FilePart.value_range`).
    """

    class_names: tuple[str, ...]
    train: PreparedPart
    validation: PreparedPart | None
    test: PreparedPart | None
    bad_files: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    marks: SplitMarks = field(default_factory=SplitMarks)
    value_range: str = ""


@dataclass(frozen=True)
class _Selection:
    """Rows chosen from a part, not yet gathered."""

    rows: Rows
    labels: Labels
    indices: Labels
    name: PartName
    part: Part
    paths: tuple[str, ...] = ()

    @property
    def chosen(self) -> Labels:
        return self.labels[self.indices]

    def pick(self, indices: Labels) -> _Selection:
        return replace(self, indices=self.indices[indices])


def prepare(
    loaded: LoadedData, *, shape: Shape, fit: str, recipe: TrainingRecipe, ctx: LoadContext
) -> PreparedData:
    """Decodes, fits and splits a data set; unreadable pictures are left out and listed.

    Every picture is decoded once: the rows are kept in the cache folder, under a key of the
    files, their sizes and times, the shape and the fit. Where the recipe's `pipeline` says
    "streamed", or the disk has no room, they are decoded at each read. Memory stays small.

    Raises:
        DatasetError: fewer than two classes, or no picture can be read.
        PictureError: `shape` is not (height, width, 1 or 3), or `fit` is unknown.
    """
    read = _Reading(shape, fit, ctx, is_streamed=recipe.pipeline == "streamed")
    train = read.readable(loaded.train, "train", "training images")
    test = read.optional(loaded.test, "test", "test images")
    given = _given_validation(loaded, read, recipe)
    bad_files = (*loaded.bad_files, *read.bad_files)
    _check_enough(train, loaded.class_names, bad_files)
    has = {"has_test": test is not None, "has_validation": given is not None}
    divided = divide(loaded, recipe, ctx, chosen=train.indices, **has)
    train, validation, test = _parts_of(train, test, given, divided.parts, recipe)
    notes = (
        *_notes_of_source(loaded, recipe, bad_files),
        *read.notes,
        *divided.notes,
        *_notes(loaded.class_names, train, test),
    )
    ctx.progress("Collecting the images")
    test_part = _gathered(test)
    return PreparedData(
        class_names=loaded.class_names,
        train=_gather(train),
        validation=test_part if validation is test else _gathered(validation),
        test=test_part,
        bad_files=bad_files,
        notes=notes,
        marks=divided.marks,
        value_range=loaded.train.value_range if isinstance(loaded.train, FilePart) else "",
    )


def prepare_test(
    loaded: LoadedData, *, shape: Shape, fit: str, recipe: TrainingRecipe, ctx: LoadContext
) -> PreparedPart | None:
    """The test part alone: the very pictures that `prepare` gives as `test`."""
    read = _Reading(shape, fit, ctx, is_streamed=recipe.pipeline == "streamed")
    test = read.optional(loaded.test, "test", "test images")
    if test is None:
        train = read.readable(loaded.train, "train", "training images")
        has_validation = loaded.validation is not None and len(loaded.validation) > 0
        divided = divide(
            loaded, recipe, ctx, chosen=train.indices, has_test=False, has_validation=has_validation
        )
        test = _part_or_none(train, divided.parts == TEST)
    return _gather(test) if test is not None and len(test.indices) else None


def prepare_part(
    part: Part, name: PartName, *, shape: Shape, fit: str, ctx: LoadContext
) -> PreparedPart:
    """All readable pictures of the part of this name, whole, without a split."""
    return _gather(_Reading(shape, fit, ctx).readable(part, name, "pictures"))


@dataclass
class _Reading:
    """Brings parts to one shape and collects what was wrong with them."""

    shape: Shape
    fit: str
    ctx: LoadContext
    is_streamed: bool = False
    bad_files: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_shape(self.shape, self.fit)

    def readable(self, part: Part, name: PartName, words: str) -> _Selection:
        """The pictures of a part that can be read."""
        fitted = fitted_rows(
            part, self.shape, self.fit, self.ctx, words, is_streamed=self.is_streamed
        )
        paths = part.paths if isinstance(part, FilePart) else ()
        names: Sequence[object] = paths or range(len(part))
        self.bad_files += [
            (path_text(str(names[index])), reason) for index, reason in sorted(fitted.bad.items())
        ]
        self.notes += [fitted.note] if fitted.note else []
        good = np.setdiff1d(np.arange(len(part)), np.array(sorted(fitted.bad), np.int64))
        labels = np.asarray(part.labels, dtype=np.int64)
        return _Selection(fitted.rows, labels, good, name, part, paths)

    def optional(self, part: Part | None, name: PartName, words: str) -> _Selection | None:
        """Readable pictures of a part that a source may lack; None where it has no pictures."""
        return self.readable(part, name, words) if part is not None and len(part) else None


def _check_enough(
    train: _Selection, class_names: tuple[str, ...], bad_files: Sequence[tuple[str, str]]
) -> None:
    labels = np.unique(train.chosen)
    if len(labels) >= 2:
        return
    where = f"{bad_files[0][0]}: {bad_files[0][1]}" if bad_files else ""
    if len(labels):
        what = f'Only the class "{class_names[labels[0]]}" has readable images.'
    else:
        what = "None of the training images can be read."
    raise DatasetError(
        what,
        where=where,
        received=f"{len(train.indices):,} readable and {len(bad_files):,} unreadable images",
        expected="readable images of at least two classes",
        fix="The data check lists every unreadable file with its reason.",
    )


def _given_validation(
    loaded: LoadedData, read: _Reading, recipe: TrainingRecipe
) -> _Selection | None:
    """The validation part of the source, where the recipe holds one out."""
    is_used = recipe.validation == "split"
    return read.optional(loaded.validation, "validation", "validation images") if is_used else None


def _notes_of_source(
    loaded: LoadedData, recipe: TrainingRecipe, bad_files: Sequence[tuple[str, str]]
) -> Iterator[str]:
    yield from loaded.sentences
    yield from changes_note(loaded, {path for path, _ in bad_files})
    if loaded.validation is not None and len(loaded.validation) and recipe.validation != "split":
        number = plural(len(loaded.validation), "validation image")
        yield f"The data set comes with {number}, which this recipe does not use."


def _parts_of(
    train: _Selection,
    test: _Selection | None,
    given: _Selection | None,
    parts: Parts,
    recipe: TrainingRecipe,
) -> tuple[_Selection, _Selection | None, _Selection | None]:
    """Training, validation and test images; parts that the source has are used as they are."""
    if test is None:
        test = _part_or_none(train, parts == TEST)
    validation = test if recipe.validation == "test" else given
    if validation is None:
        validation = _part_or_none(train, parts == VALIDATION)
    return train.pick(np.flatnonzero(parts == TRAIN)), validation, test


def _part_or_none(train: _Selection, is_chosen: Mask) -> _Selection | None:
    return train.pick(np.flatnonzero(is_chosen)) if is_chosen.any() else None


def _notes(
    class_names: tuple[str, ...], train: _Selection, test: _Selection | None
) -> Iterator[str]:
    """What is odd about the classes of the split data."""
    count = len(class_names)
    trained = np.bincount(train.chosen, minlength=count)
    yield from _note(class_names, trained == 0, "no training image and cannot be learned")
    yield from _note(class_names, trained == 1, "only one training image")
    if test is not None:
        tested = np.bincount(test.chosen, minlength=count)
        untested = (tested == 0) & (trained > 0)
        yield from _note(class_names, untested, "no test image, so no test accuracy")


def _note(class_names: tuple[str, ...], is_so: Mask, what: str) -> Iterator[str]:
    """Which classes have `what`, in one sentence however many they are; nothing for none."""
    names = [f'"{class_names[index]}"' for index in np.flatnonzero(is_so)]
    if len(names) == 1:
        yield f"Class {names[0]} has {what}."
    elif names:
        more = len(names) - _NAMES_LISTED
        listed = ", ".join(names[:_NAMES_LISTED]) + (f" and {more:,} more" if more > 0 else "")
        yield f"{len(names):,} classes have {what} ({listed})."


def _gathered(part: _Selection | None) -> PreparedPart | None:
    return _gather(part) if part is not None else None


def _gather(part: _Selection) -> PreparedPart:
    """A selection as a part of its own."""
    is_whole = len(part.indices) == len(part.rows)
    rows = part.rows if is_whole else pick_rows(part.rows, part.indices)
    files = tuple(part.paths[index] for index in part.indices) if part.paths else ()
    return PreparedPart(rows, part.chosen, files, Origin(part.name, part.part, part.indices))
