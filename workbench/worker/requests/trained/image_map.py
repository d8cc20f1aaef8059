"""MapImages and FindNearest: what the last hidden layer makes of a run's images."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.image_map import Features, Floats, Labels, nearest
from workbench.core.projects.data_edits import PART_NAMES
from workbench.errors import RunFolderError
from workbench.inference.runner import Runner
from workbench.pictures.contents import content_of_file
from workbench.protocol.messages import Done
from workbench.protocol.trained.image_map import (
    FindNearest,
    ImageState,
    MapImages,
    NearestImages,
    NearImage,
)
from workbench.runs.folder import RunFolder
from workbench.runs.store.image_map import TRAINING, ImageMap
from workbench.runs.store.image_scores import ScoredImages
from workbench.worker.requests.session import Job
from workbench.worker.saved_models.image_features import kept_map, made_map

_CACHE = "training features"


def map_images(job: Job, request: MapImages) -> Done:
    """Computes what is not kept yet.

    Raises:
        RunFolderError: it is no run.
        WorkbenchError: as `made_map`.
    """
    run, runner = _run_of(request.model), job.runner(request.model)
    made_map(run, runner, job, partial(_report, job))
    return Done(id=job.id, path=str(run.path))


def find_nearest(job: Job, request: FindNearest) -> NearestImages:
    """Compares an image with the training images.

    Raises:
        RunFolderError: it is no run.
        PictureError: the image cannot be read.
        WorkbenchError: as `made_map`, where the features may be computed.
    """
    run, runner = _run_of(request.model), job.runner(request.model)
    _, fitted = runner.decoded(request.picture)
    found = kept_map(run, runner)
    if found is None and request.may_compute:
        found = made_map(run, runner, job, partial(_report, job))
    if found is None:
        return NearestImages(id=job.id, file=request.picture, images=[])
    whole, rows = found[0], np.flatnonzero(found[0].role == TRAINING)
    unit = _training_rows(runner, found, rows)
    _, hidden = runner.outputs(fitted[None])
    places, far = nearest(unit, found[1].of(hidden)[0], request.count)
    names, dataset = runner.card.class_names, runner.card.dataset
    return NearestImages(
        id=job.id,
        file=request.picture,
        images=list(_images(whole.images, rows[places], far, names)),
        count=len(rows),
        total=int(whole.totals[TRAINING]),
        source=str(dataset.get("key", "")),
        params=dict(dataset.get("params", {})),
        edits=dict(dataset.get("edits", {})),
    )


def _run_of(model: str) -> RunFolder:
    run = RunFolder(Path(model))
    if not run.request_path.is_file():
        raise RunFolderError(
            "Only a run has training images.",
            where=model,
            fix="Choose the run that this model was exported from.",
        )
    return run


def _training_rows(runner: Runner, found: tuple[ImageMap, Features], rows: Labels) -> Floats:
    """The features of the training images as float32: converted once."""
    known: tuple[Any, Floats] | None = runner.extras.get(_CACHE)
    if known is None or known[0] is not found[1]:
        known = runner.extras[_CACHE] = found[1], found[1].rows[rows].astype(np.float32)
    return known[1]


def _images(
    images: ScoredImages, numbers: Any, far: Floats, names: list[str]
) -> Iterator[NearImage]:
    for number, distance in zip(numbers.tolist(), far.tolist(), strict=True):
        file, content = images.file(number), images.content_of(number)
        yield NearImage(
            label=names[images.actual[number]],
            distance=distance,
            file=file if file.isprintable() else "",
            part=PART_NAMES[images.part[number]],
            index=int(images.index[number]),
            content=content,
            state=_state(file, content),
        )


def _state(file: str, content: str) -> ImageState:
    if not file:
        return ""
    now = content_of_file(file)
    if now is None:
        return "missing"
    return "" if now.hex() == content else "changed"


def _report(job: Job, words: str, fraction: float) -> None:
    job.check_cancelled()
    job.progress(words, fraction)
