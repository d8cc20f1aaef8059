"""MapImages and FindNearest: what the last hidden layer makes of a run's images."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.data_check.image_map import (
    Features,
    Floats,
    Halves,
    Labels,
    main_directions,
    nearest,
    principal_components,
    reduced,
    sample_places,
    sample_size,
)
from workbench.core.projects.data_edits import PART_NAMES
from workbench.core.specs import LoadContext
from workbench.errors import RunError, RunFolderError
from workbench.inference.runner import Answers, Runner, joined_results, results_of
from workbench.pictures.contents import content_of_file
from workbench.pictures.prepare import PreparedData, PreparedPart
from workbench.protocol.messages import Done
from workbench.protocol.trained.image_map import (
    FindNearest,
    ImageState,
    MapImages,
    NearestImages,
    NearImage,
)
from workbench.runs.folder import RunFolder
from workbench.runs.store.image_features import (
    TEST,
    TRAINING,
    VALIDATION,
    ImageMap,
    keep_image_map,
    load_features,
    load_image_map,
    new_time,
)
from workbench.runs.store.image_scores import ScoredImages, columns_of
from workbench.worker.input.sources import run_data
from workbench.worker.requests.session import Job
from workbench.worker.saved_models.evaluation import scored_images

# image features ------------------------------------------------------------------------------
# Features of a run's images: the outputs of the last hidden layer, computed once for its weights
# and kept with what the model answers for each image, and with a map of them.

MOST_TRAINING = 20_000
MOST_OTHERS = 10_000
"""Most training images, and most images of the other parts: of more a random sample is used, the
same each time."""

_STEP = 256
_CACHE_IMAGE_FEATURES = "image features"

OnProgress = Callable[[str, float], None]
"""(what is being done, fraction done); may raise to stop."""


def kept_map(run: RunFolder, runner: Runner) -> tuple[ImageMap, Features] | None:
    """What is kept of the runner's weights; None where nothing is, or it is damaged: it can be
    computed again.
    """
    card = runner.card
    known: tuple[ImageMap, Features] | None = runner.extras.get(_CACHE_IMAGE_FEATURES)
    if known is not None:
        return known
    try:
        found = load_image_map(run, card.checksum, len(card.class_names))
        features = load_features(run, found) if found is not None else None
    except RunFolderError:
        return None
    if found is None or features is None or features.width != runner.hidden_size:
        return None
    runner.extras[_CACHE_IMAGE_FEATURES] = found, features
    return found, features


def made_map(
    run: RunFolder, runner: Runner, ctx: LoadContext, report: OnProgress
) -> tuple[ImageMap, Features]:
    """The map of the runner's weights: the kept one, else computed, and kept.

    Raises:
        DatasetError: the images are gone, or are of other classes.
        LinkFoundError, SaveError: it cannot be written.
        RunError: the model has no hidden layer, or its outputs are not finite.
    """
    found = kept_map(run, runner) or _computed(run, runner, ctx, report)
    runner.extras[_CACHE_IMAGE_FEATURES] = found
    return found


def _computed(
    run: RunFolder, runner: Runner, ctx: LoadContext, report: OnProgress
) -> tuple[ImageMap, Features]:
    if not runner.hidden_size:
        raise RunError("This model has no hidden layer whose outputs could be compared.")
    data = run_data(ctx, runner.card)
    parts = list(_parts(data))
    sample = data.train.picked(sample_places(len(data.train), sample_size(runner.hidden_size)))
    total, done = sum(len(part) for _, part in parts) + len(sample), len(sample)
    basis = _basis(runner, sample, _Counted(report, 0, total))
    scored, features = [], []
    for _, part in parts:
        measured = _Measured(runner, part, basis)
        images, rows = measured.scored(ctx, _Counted(report, done, total))
        scored.append(images)
        features.append(rows)
        done += len(part)
    report("Computing the map", 1)
    whole = Features(np.concatenate(features), basis)
    components = principal_components(whole.rows)
    found = ImageMap(
        images=_joined(scored),
        role=np.concatenate([np.full(len(part), role, np.int8) for role, part in parts]),
        totals=np.array([_total(data, role) for role in range(len(PART_NAMES))], np.int64),
        points=components.points,
        shares=components.shares,
        weights=runner.card.checksum,
        created=new_time(),
    )
    keep_image_map(run, found, whole)
    return found, whole


@dataclass(frozen=True)
class _Counted:
    """Reports how far one of several parts is: `done` images are before it."""

    report: OnProgress
    done: int
    total: int

    def __call__(self, at: int) -> None:
        self.report("Computing the features of the images", (self.done + at) / self.total)


def _part(data: PreparedData, role: int) -> PreparedPart | None:
    """The images of a part; where the test images are the validation images, they are in one."""
    if role == VALIDATION and data.validation is data.test:
        return None
    return {TRAINING: data.train, VALIDATION: data.validation, TEST: data.test}[role]


def _total(data: PreparedData, role: int) -> int:
    part = _part(data, role)
    return len(part) if part is not None else 0


def _parts(data: PreparedData) -> Iterator[tuple[int, PreparedPart]]:
    """Each part that has images, or a sample of it."""
    tested = min(MOST_OTHERS, _total(data, TEST))
    most = {TRAINING: MOST_TRAINING, TEST: tested, VALIDATION: MOST_OTHERS - tested}
    for role in (TRAINING, VALIDATION, TEST):
        part = _part(data, role)
        if part is not None and (places := sample_places(len(part), most[role])).size:
            yield role, part.picked(places)


def _hidden(runner: Runner, part: PreparedPart, start: int) -> tuple[Answers, Labels, Floats]:
    """The answers to the images from a place on, their labels, and the hidden outputs."""
    labels = part.y[start : start + _STEP]
    found, hidden = runner.score_with_hidden(np.asarray(part.x[start : start + _STEP]), labels)
    if not np.isfinite(hidden).all():
        raise RunError("The outputs of the last hidden layer are not finite.")
    return found, labels, hidden


def _basis(runner: Runner, sample: PreparedPart, report: Callable[[int], None]) -> Halves | None:
    """The directions that hidden outputs are reduced to; None without a sample: to none."""
    rows = []
    for start in range(0, len(sample), _STEP):
        report(start)
        rows.append(_hidden(runner, sample, start)[2])
    return main_directions(np.concatenate(rows)) if rows else None


@dataclass(frozen=True)
class _Measured:
    """Images of one part, and the directions that their hidden outputs are reduced to."""

    runner: Runner
    part: PreparedPart
    basis: Halves | None

    def scored(
        self, ctx: LoadContext, report: Callable[[int], None]
    ) -> tuple[ScoredImages, Halves]:
        """What the model answers for each image, and its features."""
        steps, rows = [], []
        for start in range(0, len(self.part), _STEP):
            report(start)
            found, labels, hidden = _hidden(self.runner, self.part, start)
            steps.append(results_of(found, labels))
            rows.append(reduced(hidden, self.basis).astype(np.float16))
        images = scored_images(self.part, self.part.y, joined_results(steps), ctx)
        assert images is not None  # noqa: S101 - a run's images have an origin; finite by the runner
        return images, np.concatenate(rows)


def _joined(parts: list[ScoredImages]) -> ScoredImages:
    columns = [columns_of(part) for part in parts]
    joined = {name: np.concatenate([each[name] for each in columns]) for name in columns[0]}
    return ScoredImages(**joined)


# image map -----------------------------------------------------------------------------------

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
