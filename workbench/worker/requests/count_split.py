"""CountSplit: how many images of each class train, validate and test."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from workbench.core.projects.project import Choice, Project
from workbench.core.specs import ArrayPart, LoadContext, LoadedData, Part
from workbench.core.training.recipe import TrainingRecipe, recipe_from
from workbench.core.training.split import TEST, VALIDATION
from workbench.pictures.divide import divide
from workbench.protocol.bases import SplitRequest
from workbench.protocol.describe_data import CountSplit, SplitCounts
from workbench.runs.state.preparing import with_remembered_split
from workbench.worker.input.sources import edits_of, load_data
from workbench.worker.requests.session import Job

Counts = np.ndarray[Any, np.dtype[np.int64]]


def count_split(job: Job, request: CountSplit) -> SplitCounts:
    """Lists the images and divides them; none is decoded.

    Raises:
        DatasetError: the source cannot be loaded.
    """
    project = next_run(request)
    recipe, loaded = project.recipe, load_data(job, project)
    bad = {path for path, _ in loaded.bad_files}.union(request.bad_files)
    counts, notes = split_counts(loaded, bad, recipe, job)
    return SplitCounts(id=job.id, classes=counts.tolist(), notes=list(notes))


def next_run(request: SplitRequest) -> Project:
    """What the next run of a project would train on, and how it would divide it."""
    recipe, _ = recipe_from(request.recipe)
    project = Project(
        id=request.project_id,
        recipe=recipe,
        dataset=Choice(request.source, request.params),
        edits=edits_of(request.edits),
    )
    return with_remembered_split(project)


def split_counts(
    loaded: LoadedData, bad: Collection[str], recipe: TrainingRecipe, ctx: LoadContext
) -> tuple[Counts, tuple[str, ...]]:
    """Readable images of each class by part, (classes, 3): TRAIN, VALIDATION, TEST; and what is odd
    about the split. A part that the source has is counted as it is, a validation part also where
    the recipe does not use it.
    """
    has_test = loaded.test is not None and len(loaded.test) > 0
    has_validation = loaded.validation is not None and len(loaded.validation) > 0
    chosen = np.flatnonzero(are_readable(loaded.train, bad))
    divided = divide(
        loaded, recipe, ctx, chosen=chosen, has_test=has_test, has_validation=has_validation
    )
    num_classes = len(loaded.class_names)
    labels = np.asarray(loaded.train.labels, np.int64)[chosen]
    codes = np.bincount(labels * 3 + divided.parts, minlength=3 * num_classes)
    counts = codes.reshape(num_classes, 3)
    for place, part in ((TEST, loaded.test), (VALIDATION, loaded.validation)):
        if part is not None:
            own = np.asarray(part.labels, np.int64)[are_readable(part, bad)]
            counts[:, place] += np.bincount(own, minlength=num_classes)
    return counts, divided.notes


def are_readable(part: Part, bad: Collection[str]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which images of a part are not in files that cannot be read."""
    if isinstance(part, ArrayPart) or not bad:
        return np.ones(len(part), np.bool_)
    return np.array([path not in bad for path in part.paths], np.bool_)
