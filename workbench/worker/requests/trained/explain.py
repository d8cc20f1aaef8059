"""Explain: where in an image the evidence for a class is."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np

from workbench.core.format import share
from workbench.errors import UsageError
from workbench.inference.runner import Pixels
from workbench.pictures.heat import heat_levels, on_picture, overlaid
from workbench.pictures.thumbnails import thumbnail
from workbench.protocol.trained.explain import Explain, Explained, Method
from workbench.worker.explain import (
    LEAST_DROP,
    Explanation,
    explainer_of,
    random_weights,
    rank_correlation,
)
from workbench.worker.requests.classify import PREVIEW_SIZE
from workbench.worker.requests.session import Job
from workbench.worker.saved_models.keras_runner import KerasRunner

_TRIES = 5
"""Random weights may leave no map at all: others are tried so often."""

Heat = np.ndarray[Any, np.dtype[np.float32]]


def explain(job: Job, request: Explain) -> Explained:
    """Makes the maps.

    Raises:
        UsageError: the model has no such class, or no such layer with places of the image.
        PictureError: the image cannot be read.
        RunError: the model's training diverged.
    """
    runner = job.keras_runner(request.model)
    wanted = _number(runner, request.class_name) if request.class_name else None
    started = time.perf_counter()
    picture, fitted = runner.decoded(request.picture)
    probabilities = runner.predict(fitted[None])[0]
    number = int(probabilities.argmax()) if wanted is None else wanted
    mapper = _Mapper(job, runner, request.method, fitted, number)
    layers: tuple[str, ...] = (request.layer,) if request.layer else ()
    if request.at_last:
        layers = explainer_of(runner).last_layers
    found = mapper.explained(layers)
    milliseconds = 1000 * (time.perf_counter() - started)
    at = found.layers[0] if found.method == "gradcam" else ()
    check = mapper.with_random_weights(at) if request.with_check else None
    name = runner.card.class_names[number]
    answer = Explained(
        id=job.id,
        file=request.picture,
        class_name=name,
        probability=float(probabilities[number]),
        method=found.method,
        layers=list(found.layers[0]),
        note=" ".join(_notes(request, found, name)),
        milliseconds=round(milliseconds, 3),
        correlation=None if check is None else rank_correlation(found.heat[0], check),
    )
    return _with_files(job, request, answer, _Maps(picture, runner.card.fit, found.heat[0], check))


@dataclass(frozen=True)
class _Maps:
    """What is written into files.

    Attributes:
        picture: The whole picture, uint8 (height, width, channels).
        fit: How it was brought to the input's shape.
        heat, check: Maps of the model and of one with random weights, float32 (height, width) of
            the input; no `check` where none was requested.
    """

    picture: Pixels
    fit: str
    heat: Heat
    check: Heat | None


def _with_files(job: Job, request: Explain, answer: Explained, maps: _Maps) -> Explained:
    """The answer with the paths of its images, which are written here."""
    shown, check = thumbnail(maps.picture, PREVIEW_SIZE), maps.check
    levels = heat_levels(on_picture(maps.heat, shown.shape[:2], maps.fit))
    overlay = job.session_png(overlaid(shown, levels), "overlay") if request.with_overlay else ""
    other = None if check is None else on_picture(check, shown.shape[:2], maps.fit)
    return msgspec.structs.replace(
        answer,
        heat_png=job.session_png(levels, "heat"),
        overlay_png=overlay,
        check_png="" if other is None else job.session_png(heat_levels(other), "check"),
    )


def _number(runner: KerasRunner, name: str) -> int:
    names = runner.card.class_names
    if name in names:
        return names.index(name)
    raise UsageError("Unknown class.", received=name, expected=", ".join(names))


@dataclass(frozen=True)
class _Mapper:
    """Makes maps of one image for one class."""

    job: Job
    runner: KerasRunner
    method: Method
    fitted: Pixels
    number: int

    def explained(self, layers: Sequence[str]) -> Explanation:
        """The map at some layers; at none of them to choose."""
        return explainer_of(self.runner).explain(
            self.fitted[None],
            np.array([self.number]),
            self.method,
            layers=layers,
            on_progress=self._report,
        )

    def with_random_weights(self, layers: Sequence[str]) -> Heat:
        """The map at the same layers with random weights."""
        heat = np.zeros(self.fitted.shape[:2], np.float32)
        for seed in range(_TRIES):
            self.job.check_cancelled()
            with random_weights(self.runner.built, seed):
                heat = self.explained(layers).heat[0]
            if heat.any():
                break
        return heat

    def _report(self, fraction: float) -> None:
        self.job.check_cancelled()
        self.job.progress("Computing the heat map", fraction)


def _notes(request: Explain, found: Explanation, name: str) -> Iterator[str]:
    if found.method != request.method:
        yield "Gradients: this network has no convolution for Grad-CAM."
    if found.heat.any():
        return
    if found.method == "occlusion":
        yield (
            "The map is empty: wherever a patch covers the image, the probability of "
            f"“{name}” falls by less than {share(LEAST_DROP)}."
        )
    elif found.method == "gradients":
        yield f"The map is empty: the score of “{name}” does not change with the image."
    else:
        yield f"The map is empty: nothing in the image raises the score of “{name}”."
