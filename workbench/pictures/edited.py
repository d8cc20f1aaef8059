"""A loaded data set with the user's edits: the one place where they are applied.

Images are left out, get another class or go into another part; classes are renamed, merged or
left out. The files stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from workbench.core.format import list_text, plural
from workbench.core.projects.data_edits import PART_NAMES, DataEdits
from workbench.core.specs import FREE, ArrayPart, FilePart, LoadContext, LoadedData, Part
from workbench.core.specs.edited_classes import EditedClasses, edited_classes
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.split import TEST, TRAIN, VALIDATION, Parts
from workbench.errors import DatasetError
from workbench.pictures.contents import Contents, contents_of
from workbench.pictures.groups import groups_of
from workbench.pictures.rows import JoinedRows

Numbers = np.ndarray[Any, np.dtype[np.int64]]
_PARTS = (TRAIN, VALIDATION, TEST)
_LEFT_OUT = -1
_MOST_LISTED = 3
_SHOWN_DIGITS = 8


def edited(
    loaded: LoadedData, edits: DataEdits, ctx: LoadContext, recipe: TrainingRecipe
) -> LoadedData:
    """A data set as a project uses it, with the groups of its recipe. Contents are only looked at
    where single images are edited.

    Where the data set has no test part of its own, an image that is moved is pinned: the split
    puts it there (`LoadedData.pins`).

    Raises:
        DatasetError: fewer than two classes are left.
    """
    groups = groups_of(loaded, recipe, edits.classes)
    loaded = replace(loaded, marks=edits.split)
    if not edits.changes_data:
        return replace(loaded, groups=None if groups is None else groups[: len(loaded.train)])
    classes = edited_classes(loaded.class_names, edits.classes)
    _refuse_too_few(loaded, classes)
    images = _images_of(loaded, edits, ctx)
    labels = np.array([*classes.numbers, _LEFT_OUT], np.int64)[images.labels]
    images = replace(images, labels=labels)
    chosen = [np.flatnonzero((labels != _LEFT_OUT) & (images.parts == part)) for part in _PARTS]
    train = chosen[TRAIN]
    return replace(
        loaded,
        class_names=classes.names,
        train=_picked(loaded, images, train),
        test=None if loaded.test is None else _picked(loaded, images, chosen[TEST]),
        validation=(
            None if loaded.validation is None else _picked(loaded, images, chosen[VALIDATION])
        ),
        notes=(*loaded.notes, *_class_notes(loaded, edits, classes), *images.notes),
        pins=None if images.pins is None else images.pins[train],
        contents=None if images.contents is None else images.contents[train],
        groups=None if groups is None else groups[train],
    )


@dataclass(frozen=True)
class _Images:
    """All images of a data set, those of the training part first.

    Attributes:
        labels: int64 (n,), as the data set numbers its classes; -1 for an image that is left out.
        parts: The part that each is in: TRAIN, VALIDATION or TEST.
        pins, contents: As in LoadedData; None where no single image is edited.
        notes: What was changed, in sentences.
    """

    labels: Numbers
    parts: Parts
    pins: Parts | None = None
    contents: Contents | None = None
    notes: tuple[str, ...] = ()


def _images_of(loaded: LoadedData, edits: DataEdits, ctx: LoadContext) -> _Images:
    """The images with the edits of single ones."""
    found = _parts(loaded)
    labels = np.concatenate([np.asarray(part.labels, np.int64) for part in found.values()])
    parts = np.repeat(np.array([*found], np.int8), [len(part) for part in found.values()])
    if not edits.names_images:
        return _Images(labels, parts)
    contents = np.concatenate([contents_of(part, ctx) for part in found.values()])
    places = _places(contents, edits)
    pins, moved = _moved(loaded, edits.parts, places, parts)
    relabeled, without_class = _relabeled(loaded, edits.labels, places, labels)
    left_out = {number for content in edits.left_out for number in places.get(content, ())}
    copies = {number for content in edits.once for number in places.get(content, ())[1:]} - left_out
    labels[[*left_out, *copies]] = _LEFT_OUT
    counts = (
        (len(left_out), "left out"),
        (len(copies), "left out as copies of others"),
        (relabeled, "relabeled"),
        (moved, "moved to another part"),
    )
    notes = [*_counts_note(counts), *without_class, *_unmatched_note(edits, places)]
    return _Images(labels, parts, pins, contents, tuple(notes))


def _parts(loaded: LoadedData) -> dict[int, Part]:
    """The parts that there are, that for training first."""
    found = ((TRAIN, loaded.train), (TEST, loaded.test), (VALIDATION, loaded.validation))
    return {name: part for name, part in found if part is not None}


def _places(contents: Contents, edits: DataEdits) -> Mapping[str, list[int]]:
    """Where the images are that are edited, by content: each copy counts."""
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
) -> tuple[Parts, int]:
    """Pins of the images, and how many are moved; changes `parts` as far as there are such."""
    pins = np.full(len(parts), FREE, np.int8)
    own = _parts(loaded)
    moved = 0
    for content, name in wanted.items():
        pin = PART_NAMES.index(cast("Any", name))
        for number in places.get(content, ()):
            pins[number] = pin
            moved += 1
            if _can_join(own.values()):
                parts[number] = pin if pin in own else TRAIN
    return pins, moved


def _relabeled(
    loaded: LoadedData,
    wanted: Mapping[str, str],
    places: Mapping[str, list[int]],
    labels: Numbers,
) -> tuple[int, list[str]]:
    """How many images got another class in `labels`, and a note for classes that do not exist."""
    numbers = {name: number for number, name in enumerate(loaded.class_names)}
    changed = 0
    unknown: set[str] = set()
    for content, name in wanted.items():
        if name not in numbers:
            unknown.add(name)
            continue
        for number in places.get(content, ()):
            changed += int(labels[number] != numbers[name])
            labels[number] = numbers[name]
    return changed, list(_unknown_note(unknown))


def _picked(loaded: LoadedData, images: _Images, chosen: Numbers) -> Part:
    """Some images of a data set as a part, in their order."""
    parts, labels, start = [*_parts(loaded).values()], images.labels[chosen], 0
    for part in parts:
        if len(chosen) and start <= chosen.min() and chosen.max() < start + len(part):
            parts, chosen = [part], chosen - start
            break
        start += len(part)
    arrays = [part.pictures for part in parts if isinstance(part, ArrayPart)]
    if not arrays:
        paths = [path for part in parts if isinstance(part, FilePart) for path in part.paths]
        return FilePart(tuple(paths[number] for number in chosen), labels)
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


# notes -------------------------------------------------------------------------------------


def _counts_note(counts: Sequence[tuple[int, str]]) -> Iterator[str]:
    words = [f"{plural(count, 'image')} {done}" for count, done in counts if count]
    if words:
        yield f"Edits of the data: {list_text(words)}."


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
