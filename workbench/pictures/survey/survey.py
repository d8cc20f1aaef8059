"""Reads a data set for the data check: every image once, each part of the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import numpy as np

from workbench.core.data_check.survey import Survey
from workbench.core.specs import ArrayPart, FilePart, LoadContext, LoadedData, Part, Shape
from workbench.core.specs.edited_classes import edited_classes
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.split import TEST, TRAIN, VALIDATION
from workbench.pictures.contents import contents_of
from workbench.pictures.divide import basis_of, divide
from workbench.pictures.rows import JoinedRows
from workbench.pictures.survey.examine import Examined, Pixels, Wanted, examine

Numbers = np.ndarray[Any, np.dtype[np.int64]]


Floats = np.ndarray[Any, np.dtype[np.float32]]


class FeatureMaker(Protocol):
    """Computes the features of images."""

    @property
    def shape(self) -> Shape:
        """(height, width, channels) of the images that it takes."""

    @property
    def num_features(self) -> int:
        """Numbers for each image."""

    def of(self, images: Pixels) -> Floats:
        """uint8 (n, *shape) -> (n, num_features), for a step of `pictures.steps` at most."""


def survey_of(
    loaded: LoadedData,
    classes: Mapping[str, str],
    recipe: TrainingRecipe,
    ctx: LoadContext,
    features: FeatureMaker | None = None,
) -> Survey:
    """What is known of each image of a data set.

    Args:
        loaded: As the source gives it, without edits.
        classes: How classes are renamed, merged or left out (`DataEdits.classes`).
        recipe: Says how the images are split.
        ctx: Progress is reported to it.
        features: Computes the features of the images, in the same pass; None for none.
    """
    known = edited_classes(loaded.class_names, classes)
    numbers = np.array(known.numbers, np.int64)
    used = _used_parts(loaded, recipe, numbers)
    train = contents_of(loaded.train, ctx)
    others = [contents_of(each.part, ctx) for each in used[1:]]
    examined, values = _examined(used, ctx, features)
    source_labels = np.concatenate([each.part.labels for each in used]).astype(np.int64)
    origins = np.concatenate([np.full(len(each.part), each.origin) for each in used])
    basis = replace(basis_of(loaded, recipe, classes, ctx), contents=train)
    return Survey(
        class_names=known.names,
        source_names=loaded.class_names,
        files=[file for each in used for file in _files(each.part)],
        origins=origins,
        indices=np.concatenate([each.places for each in used]),
        labels=numbers[source_labels],
        source_labels=source_labels,
        parts=_parts(replace(loaded, basis=basis), used, origins, recipe, ctx),
        contents=np.concatenate([train[used[0].places], *others]),
        **vars(examined),
        features=values,
        inferences=loaded.inferences,
        bad_files=loaded.bad_files,
    )


def _examined(
    used: Sequence[_Used], ctx: LoadContext, features: FeatureMaker | None
) -> tuple[Examined, Floats | None]:
    """What is known of the images of all parts, and the features of all where they are wanted."""
    sizes = [len(each.part) for each in used]
    values = None
    if features is not None:
        values = np.zeros((sum(sizes), features.num_features), np.float32)
    starts = np.cumsum([0, *sizes]).tolist()
    examined = [
        examine(each.part, ctx, _wanted(features, values, start))
        for each, start in zip(used, starts, strict=False)
    ]
    return Examined.joined(examined, starts), values


def _wanted(features: FeatureMaker | None, values: Floats | None, start: int) -> Wanted | None:
    """Has the features of a part put into the rows from `start` on."""
    if features is None or values is None:
        return None

    def take(rows: Numbers, images: Pixels) -> None:
        values[start + rows] = features.of(images)

    return Wanted(features.shape, take)


@dataclass(frozen=True)
class _Used:
    """The images of a part of the source that training uses.

    Attributes:
        origin: TRAIN, VALIDATION or TEST.
        part: Those images.
        places: Their places in the part of the source.
    """

    origin: int
    part: Part
    places: Numbers


def _used_parts(loaded: LoadedData, recipe: TrainingRecipe, numbers: Numbers) -> list[_Used]:
    """Parts with the images of the classes that are used; a validation part only where it
    validates.
    """
    validation = loaded.validation if recipe.validation == "split" else None
    given = ((TRAIN, loaded.train), (TEST, loaded.test), (VALIDATION, validation))
    return [_used(origin, part, numbers) for origin, part in given if part is not None]


def _used(origin: int, part: Part, numbers: Numbers) -> _Used:
    labels = np.asarray(part.labels, np.int64)
    places = np.flatnonzero(numbers[labels] >= 0)
    if len(places) == len(part):
        return _Used(origin, part, places)
    if isinstance(part, FilePart):
        paths = tuple(part.paths[place] for place in places.tolist())
        return _Used(origin, replace(part, paths=paths, labels=labels[places]), places)
    rows = JoinedRows([part.pictures], places)
    return _Used(origin, ArrayPart(cast("Any", rows), labels[places]), places)


def _parts(
    loaded: LoadedData,
    used: Sequence[_Used],
    origins: Numbers,
    recipe: TrainingRecipe,
    ctx: LoadContext,
) -> Numbers:
    """The part that training puts each image into."""
    divided = divide(
        loaded,
        recipe,
        ctx,
        chosen=used[0].places,
        has_test=TEST in origins,
        has_validation=VALIDATION in origins,
    )
    parts = origins.copy()
    parts[: len(used[0].places)] = divided.parts
    return parts


def _files(part: Part) -> list[str]:
    return list(part.paths) if isinstance(part, FilePart) else [""] * len(part)
