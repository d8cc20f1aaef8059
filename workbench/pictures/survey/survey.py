"""Reads a data set for the data check: every image once, each part of the source."""

from __future__ import annotations

import numpy as np

from workbench.core.data_check.similar import Looks
from workbench.core.data_check.survey import TEST, TRAIN, VALIDATION, Survey
from workbench.core.specs import FilePart, LoadContext, LoadedData, Part
from workbench.core.training.recipe import TrainingRecipe
from workbench.pictures.contents import contents_of
from workbench.pictures.survey.examine import Examined, examine
from workbench.pictures.survey.parts import part_numbers


def survey_of(loaded: LoadedData, recipe: TrainingRecipe, ctx: LoadContext) -> Survey:
    """What is known of each image of a data set, split as a recipe says."""
    origins, parts = _used_parts(loaded, recipe)
    contents = [contents_of(part, ctx) for part in parts]
    examined = [examine(part, ctx) for part in parts]
    sizes = [len(part) for part in parts]
    labels = np.concatenate([np.asarray(part.labels, np.int64) for part in parts])
    reasons = _joined_reasons(examined, sizes)
    good = np.ones(len(labels), np.bool_)
    good[list(reasons)] = False
    where = np.repeat(np.array(origins, np.int64), sizes)
    return Survey(
        class_names=loaded.class_names,
        source_names=loaded.class_names,
        files=[file for part in parts for file in _files(part)],
        origins=where,
        indices=np.concatenate([np.arange(size) for size in sizes]),
        labels=labels,
        source_labels=labels,
        parts=part_numbers(labels, good, where, recipe),
        contents=np.concatenate(contents),
        reasons=reasons,
        formats=[name for each in examined for name in each.formats],
        modes=[mode for each in examined for mode in each.modes],
        turned=np.concatenate([each.turned for each in examined]),
        sizes=np.concatenate([each.sizes for each in examined]),
        looks=Looks.joined([each.looks for each in examined]),
    )


def _used_parts(loaded: LoadedData, recipe: TrainingRecipe) -> tuple[list[int], list[Part]]:
    """The parts of the source that training uses, and the numbers of their names."""
    validation = loaded.validation if recipe.validation == "split" else None
    given = ((TRAIN, loaded.train), (TEST, loaded.test), (VALIDATION, validation))
    used = [(number, part) for number, part in given if part is not None and len(part)]
    return [number for number, _ in used], [part for _, part in used]


def _files(part: Part) -> list[str]:
    return list(part.paths) if isinstance(part, FilePart) else [""] * len(part)


def _joined_reasons(examined: list[Examined], sizes: list[int]) -> dict[int, str]:
    starts = np.cumsum([0, *sizes]).tolist()
    return {
        start + place: reason
        for start, each in zip(starts, examined, strict=False)
        for place, reason in each.reasons.items()
    }
