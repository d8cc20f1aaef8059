"""A loaded data set with the user's edits: the one place where they are applied.

Images are left out, get another class or go into another part; classes are renamed, merged or
left out. The files stay as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from workbench.core.format import list_text, plural
from workbench.core.projects.data_edits import PART_NAMES, DataEdits
from workbench.core.specs import (
    ELSEWHERE,
    FREE,
    ArrayPart,
    FilePart,
    ImageChanges,
    LoadContext,
    LoadedData,
    Part,
    SplitBasis,
)
from workbench.core.specs.dataset import EditedClasses, edited_classes
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.split import TEST, TRAIN, VALIDATION, Parts
from workbench.errors import DatasetError
from workbench.pictures.contents import Contents, contents_of
from workbench.pictures.divide import basis_of
from workbench.pictures.rows import JoinedRows

Numbers = np.ndarray[Any, np.dtype[np.int64]]
_PARTS = (TRAIN, VALIDATION, TEST)
_LEFT_OUT = -1
_MOST_LISTED = 3
_SHOWN_DIGITS = 8


def edited(
    loaded: LoadedData, edits: DataEdits, ctx: LoadContext, recipe: TrainingRecipe
) -> LoadedData:
    """A data set as a project uses it, with what its split is decided on: the source without the
    edits. Contents are only looked at where single images are edited, or the split is by content.

    Where the data set has no test part of its own, an image that is moved is pinned: the split
    puts it there (`LoadedData.pins`).

    Raises:
        DatasetError: fewer than two classes are left, or the pattern of groups cannot be used.
    """
    loaded = replace(loaded, marks=edits.split)
    classes = edited_classes(loaded.class_names, edits.classes)
    _refuse_too_few(loaded, classes)
    basis = basis_of(loaded, recipe, edits.classes, ctx)
    if not edits.changes_data:
        return loaded if basis.groups is None else replace(loaded, basis=basis)
    images = _images_of(loaded, edits, classes, ctx)
    is_used = images.labels != _LEFT_OUT
    chosen = [np.flatnonzero(is_used & (images.parts == part)) for part in _PARTS]
    train, moving = chosen[TRAIN], _group_note(loaded, recipe, basis)
    return replace(
        loaded,
        class_names=classes.names,
        train=_picked(loaded, images, train),
        test=None if loaded.test is None else _picked(loaded, images, chosen[TEST]),
        validation=(
            None if loaded.validation is None else _picked(loaded, images, chosen[VALIDATION])
        ),
        notes=(*loaded.notes, *_class_notes(loaded, edits, classes), *images.notes, *moving),
        pins=None if images.pins is None else images.pins[train],
        basis=replace(
            basis,
            places=np.where(train < len(loaded.train), train, ELSEWHERE),
            contents=_known_contents(loaded, images, ctx) if recipe.split == "content" else None,
        ),
        changes=images.changes,
    )


def changes_note(loaded: LoadedData, bad: Collection[str] = ()) -> Iterator[str]:
    """How many images edits have changed, in a sentence; files that cannot be read are not counted,
    for they are not used whatever is edited.
    """
    changes = loaded.changes
    counts = (
        (changes.left_out, "left out"),
        (changes.copies, "left out as copies of others"),
        (sum(file not in bad for file in changes.relabeled), "relabeled"),
        (sum(file not in bad for file in changes.moved), "moved to another part"),
    )
    words = [f"{plural(number, 'image')} {done}" for number, done in counts if number]
    if words:
        yield f"Edits of the data: {list_text(words)}."


@dataclass(frozen=True)
class _Images:
    """All images of a data set, those of the training part first.

    Attributes:
        labels: int64 (n,), as the edited data set numbers its classes; -1 for an image that is left
            out.
        parts: The part that each is in: TRAIN, VALIDATION or TEST.
        pins: As in LoadedData; None where no single image is edited.
        contents: Ids of the images; None where no single image is edited.
        changes: Which were edited.
        notes: Which edits change nothing, in sentences.
    """

    labels: Numbers
    parts: Parts
    pins: Parts | None = None
    contents: Contents | None = None
    changes: ImageChanges = ImageChanges()  # noqa: RUF009 - a frozen value
    notes: tuple[str, ...] = ()


def _images_of(
    loaded: LoadedData, edits: DataEdits, classes: EditedClasses, ctx: LoadContext
) -> _Images:
    """The images with the edits of single ones."""
    found = _parts(loaded)
    numbers = np.array(classes.numbers, np.int64)
    own = np.concatenate([np.asarray(part.labels, np.int64) for part in found.values()])
    parts = np.repeat(np.array([*found], np.int8), [len(part) for part in found.values()])
    if not edits.names_images:
        return _Images(numbers[own], parts)
    contents = np.concatenate([contents_of(part, ctx) for part in found.values()])
    places = _places(contents, edits)
    pins, moved = _moved(loaded, edits.parts, places, parts)
    wanted, without_class = _relabeled(loaded, edits.labels, places, own)
    labels, is_used = numbers[wanted], numbers[own] != _LEFT_OUT
    left_out = {number for content in edits.left_out for number in places.get(content, ())}
    copies = {number for content in edits.once for number in places.get(content, ())[1:]} - left_out
    gone = np.zeros(len(labels), np.bool_)
    gone[[*left_out, *copies]] = True
    labels[gone] = _LEFT_OUT
    is_relabeled = (labels != numbers[own]) & (labels != _LEFT_OUT)
    is_relabeled[_chosen_copies(edits, places, labels, numbers[own])] = False
    gone |= labels == _LEFT_OUT  # relabeled as a class that is left out
    is_copy = np.isin(np.arange(len(labels)), [*copies])
    changes = ImageChanges(
        left_out=int((gone & is_used & ~is_copy).sum()),
        copies=int((is_copy & is_used).sum()),
        relabeled=_files(found, np.flatnonzero(is_relabeled)),
        moved=_files(found, np.array([each for each in moved if not gone[each]], np.int64)),
    )
    notes = (*without_class, *_unmatched_note(edits, places))
    return _Images(labels, parts, pins, contents, changes, notes)


def _known_contents(loaded: LoadedData, images: _Images, ctx: LoadContext) -> Contents:
    """Ids of the images that the source has for training."""
    if images.contents is None:
        return contents_of(loaded.train, ctx)
    return images.contents[: len(loaded.train)]


def _files(parts: Mapping[int, Part], chosen: Numbers) -> tuple[str, ...]:
    """The files of some images of all parts; "" for those in none."""
    found: list[str] = []
    start = 0
    for part in parts.values():
        here = chosen[(chosen >= start) & (chosen < start + len(part))] - start
        paths = part.paths if isinstance(part, FilePart) else None
        found += ["" if paths is None else paths[at] for at in here.tolist()]
        start += len(part)
    return tuple(found)


def _parts(loaded: LoadedData) -> dict[int, Part]:
    """The parts that there are, that for training first."""
    found = ((TRAIN, loaded.train), (TEST, loaded.test), (VALIDATION, loaded.validation))
    return {name: part for name, part in found if part is not None}


def _places(contents: Contents, edits: DataEdits) -> Mapping[str, list[int]]:
    """Content -> places of the edited images with it: each copy counts."""
    wanted = {*edits.left_out, *edits.once, *edits.labels, *edits.parts}
    places: dict[str, list[int]] = {}
    for number, content in enumerate(contents.tolist()):
        name = content.decode()
        if name in wanted:
            places.setdefault(name, []).append(number)
    return places


def _moved(
    loaded: LoadedData,
    wanted: Mapping[str, str],
    places: Mapping[str, list[int]],
    parts: Parts,
) -> tuple[Parts, list[int]]:
    """Pins of the images, and which are moved; changes `parts` as far as there are such."""
    pins = np.full(len(parts), FREE, np.int8)
    own = _parts(loaded)
    moved: list[int] = []
    for content, name in wanted.items():
        pin = PART_NAMES.index(cast("Any", name))
        for number in places.get(content, ()):
            pins[number] = pin
            moved.append(number)
            if _can_join(own.values()):
                parts[number] = pin if pin in own else TRAIN
    return pins, moved


def _relabeled(
    loaded: LoadedData,
    wanted: Mapping[str, str],
    places: Mapping[str, list[int]],
    own: Numbers,
) -> tuple[Numbers, list[str]]:
    """The class of each image as the source numbers them, and a note for classes that do not
    exist.
    """
    numbers = {name: number for number, name in enumerate(loaded.class_names)}
    labels = own.copy()
    unknown: set[str] = set()
    for content, name in wanted.items():
        if name not in numbers:
            unknown.add(name)
            continue
        labels[places.get(content, [])] = numbers[name]
    return labels, list(_unknown_note(unknown))


def _picked(loaded: LoadedData, images: _Images, chosen: Numbers) -> Part:
    """The chosen images of a data set as a part, in their order."""
    parts, labels, start = [*_parts(loaded).values()], images.labels[chosen], 0
    for part in parts:
        if len(chosen) and start <= chosen.min() and chosen.max() < start + len(part):
            parts, chosen = [part], chosen - start
            break
        start += len(part)
    arrays = [part.pictures for part in parts if isinstance(part, ArrayPart)]
    if not arrays:
        files = [part for part in parts if isinstance(part, FilePart)]
        paths = [path for part in files for path in part.paths]
        chosen_paths = tuple(paths[number] for number in chosen)
        return FilePart(chosen_paths, labels, files[0].value_range if files else "")
    if len(arrays) == 1 and np.array_equal(chosen, np.arange(len(arrays[0]))):
        return ArrayPart(arrays[0], labels)  # nothing but labels has changed
    return ArrayPart(cast("Any", JoinedRows(arrays, chosen)), labels)


def _can_join(parts: Iterable[Part]) -> bool:
    """Whether an image of one part can be in another: all in files, or of one shape."""
    return (
        len({part.pictures.shape[1:] if isinstance(part, ArrayPart) else () for part in parts}) == 1
    )


def _refuse_too_few(loaded: LoadedData, classes: EditedClasses) -> None:
    if len(classes.names) >= min(2, len(loaded.class_names)):
        return
    raise DatasetError(
        "Fewer than two classes are left.",
        received=", ".join(classes.names) or "every class is left out",
        expected="at least two classes",
        fix="Put a class back in, or undo merging classes.",
    )


def _chosen_copies(
    edits: DataEdits, places: Mapping[str, list[int]], labels: Numbers, own: Numbers
) -> list[int]:
    """Images of which one copy is used, where one of the copies had its label before: none was
    relabeled, one was chosen.
    """
    return [
        number
        for content in edits.once
        for number in places.get(content, ())
        if (own[places[content]] == labels[number]).any()
    ]


# notes -------------------------------------------------------------------------------------


def _unknown_note(unknown: set[str]) -> Iterator[str]:
    if unknown:
        names = list_text([f"“{name}”" for name in sorted(unknown)[:_MOST_LISTED]])
        yield f"Images relabeled as {names} keep their class: the data set has no such class."


def _unmatched_note(edits: DataEdits, places: Mapping[str, list[int]]) -> Iterator[str]:
    """Which edits are of no image that is here."""
    kinds = (
        (edits.left_out | edits.once, "left out"),
        (frozenset(edits.labels), "relabeled"),
        (frozenset(edits.parts), "moved"),
    )
    missing = [
        f"{content[:_SHOWN_DIGITS]}… ({done})"
        for contents, done in kinds
        for content in sorted(contents - places.keys())
    ]
    if missing:
        more = len(missing) - _MOST_LISTED
        listed = ", ".join(missing[:_MOST_LISTED]) + (f" and {more:,} more" if more > 0 else "")
        match = "edit matches" if len(missing) == 1 else "edits match"
        yield f"{len(missing):,} {match} no image of this data set: {listed}."


def _class_notes(loaded: LoadedData, edits: DataEdits, classes: EditedClasses) -> Iterator[str]:
    """What became of the classes."""
    merged: dict[str, list[str]] = {}
    for name, number in zip(loaded.class_names, classes.numbers, strict=True):
        merged.setdefault("" if number == _LEFT_OUT else classes.names[number], []).append(name)
    for name, before in merged.items():
        quoted = list_text([f"“{each}”" for each in before])
        if not name:
            yield f"{'Class' if len(before) == 1 else 'Classes'} {quoted} left out."
        elif len(before) > 1:
            yield f"Classes {quoted} merged into “{name}”."
        elif before != [name]:
            yield f"Class {quoted} renamed to “{name}”."
    unknown = [f"“{name}”" for name in edits.classes if name not in loaded.class_names]
    if unknown:
        yield f"The data set has no class {list_text(unknown)}: the edit changes nothing."


def _group_note(loaded: LoadedData, recipe: TrainingRecipe, basis: SplitBasis) -> Iterator[str]:
    """The one edit that moves images into other parts."""
    if recipe.group_by != "subfolder" or basis.groups is None:
        return
    if len(basis.class_names) < len(loaded.class_names):
        yield (
            "The folders of merged classes are groups of one class: images may be in another part "
            "than before the classes were merged."
        )
