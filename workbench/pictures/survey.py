"""Reads a data set for the data check: every image once, each part of the source."""

from __future__ import annotations

import numpy as np

from workbench.core.data_check.similar import Looks
from workbench.core.data_check.survey import Survey
from workbench.core.specs import FilePart, LoadContext, LoadedData, Part
from workbench.core.training.recipe import TrainingRecipe
from workbench.pictures.contents import contents_of
from workbench.pictures.examine import Examined, examine
from workbench.pictures.parts import part_numbers


def survey_of(loaded: LoadedData, recipe: TrainingRecipe, ctx: LoadContext) -> Survey:
    """What is known of each image of a data set, split as a recipe says."""
    parts = _parts(loaded)
    contents = [contents_of(part, ctx) for part in parts]
    examined = [examine(part, ctx) for part in parts]
    labels = np.concatenate([np.asarray(part.labels, np.int64) for part in parts])
    reasons = _joined_reasons(examined, len(loaded.train))
    good = np.ones(len(labels), np.bool_)
    good[list(reasons)] = False
    num_test = len(labels) - len(loaded.train)
    return Survey(
        class_names=loaded.class_names,
        source_names=loaded.class_names,
        files=[file for part in parts for file in _files(part)],
        num_train=len(loaded.train),
        indices=np.concatenate([np.arange(len(part)) for part in parts]),
        labels=labels,
        source_labels=labels,
        parts=part_numbers(labels, good, num_test, recipe),
        contents=np.concatenate(contents),
        reasons=reasons,
        formats=[name for each in examined for name in each.formats],
        modes=[mode for each in examined for mode in each.modes],
        turned=np.concatenate([each.turned for each in examined]),
        sizes=np.concatenate([each.sizes for each in examined]),
        looks=Looks.joined([each.looks for each in examined]),
    )


def _parts(loaded: LoadedData) -> list[Part]:
    has_test = loaded.test is not None and len(loaded.test) > 0
    return [loaded.train, *([loaded.test] if has_test and loaded.test is not None else [])]


def _files(part: Part) -> list[str]:
    return list(part.paths) if isinstance(part, FilePart) else [""] * len(part)


def _joined_reasons(examined: list[Examined], num_train: int) -> dict[int, str]:
    starts = (0, num_train)
    return {
        start + place: reason
        for start, each in zip(starts, examined, strict=False)
        for place, reason in each.reasons.items()
    }
