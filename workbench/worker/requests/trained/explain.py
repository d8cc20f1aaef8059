"""Explain: where in an image the evidence for a class is."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from workbench.core.format import share
from workbench.errors import UsageError
from workbench.pictures.decode import decode_reduced
from workbench.pictures.fit import fit_picture, side_to_decode
from workbench.pictures.heat import heat_levels, on_picture, overlaid
from workbench.pictures.png import write_png
from workbench.pictures.thumbnails import thumbnail
from workbench.protocol.messages import AnyAnswer
from workbench.protocol.trained.explain import Explain, Explained, Method
from workbench.worker.explain.explainer import Explanation, explainer_of
from workbench.worker.explain.occlusion import LEAST_DROP
from workbench.worker.explain.random_weights import random_weights, rank_correlation
from workbench.worker.requests.classify import PREVIEW_SIZE
from workbench.worker.requests.session import Job
from workbench.worker.saved_models.model_runner import Pixels, Runner

_KEPT = 24
"""Files that stay in the session folder: those before have been looked at."""

_TRIES = 5
"""Random weights may leave no map at all: others are tried so often."""

Heat = np.ndarray[Any, np.dtype[np.float32]]


def explain(job: Job, request: Explain) -> AnyAnswer:
    """Makes the maps.

    Raises:
        UsageError: the model has no such class, or no such layer with places of the image.
        PictureError: the image cannot be read.
        RunError: the model's training diverged.
    """
    runner = job.runner(request.model)
    shape, fit = tuple(runner.card.input_shape), runner.card.fit
    wanted = _number(runner, request.class_name) if request.class_name else None
    started = time.perf_counter()
    decoded = decode_reduced(request.picture, side_to_decode(shape))
    fitted = fit_picture(decoded.pixels, shape, fit=fit)
    probabilities = runner.predict(fitted[None])[0]
    number = int(probabilities.argmax()) if wanted is None else wanted
    mapper = _Mapper(job, runner, request.method, fitted, number)
    found = mapper.explained((request.layer,) if request.layer else ())
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
    return _with_files(job, request, answer, _Maps(decoded.pixels, fit, found.heat[0], check))


@dataclass(frozen=True)
class _Maps:
    """What is written into files.

    Attributes:
        picture: The whole picture, uint8 (height, width, channels).
        fit: How it was brought to the input's shape.
        heat, check: Of the model and of one with random weights, float32 of the input's height and
            width; no `check` where none was wanted.
    """

    picture: Pixels
    fit: str
    heat: Heat
    check: Heat | None


def _with_files(job: Job, request: Explain, answer: Explained, maps: _Maps) -> Explained:
    """The answer with the paths of its images, which are written here."""
    shown, files = thumbnail(maps.picture, PREVIEW_SIZE), _Files(job)
    levels = heat_levels(on_picture(maps.heat, shown.shape[:2], maps.fit))
    check = maps.check
    return msgspec.structs.replace(
        answer,
        heat_png=files.write("heat", levels),
        overlay_png=files.write(
            "overlay", overlaid(shown, levels) if request.with_overlay else None
        ),
        check_png=files.write(
            "check",
            None if check is None else heat_levels(on_picture(check, shown.shape[:2], maps.fit)),
        ),
    )


def _number(runner: Runner, name: str) -> int:
    names = runner.card.class_names
    if name in names:
        return names.index(name)
    raise UsageError("Unknown class.", received=name, expected=", ".join(names))


@dataclass(frozen=True)
class _Mapper:
    """Makes maps of one image for one class."""

    job: Job
    runner: Runner
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


class _Files:
    """PNG files of one request; the oldest of earlier ones are removed."""

    def __init__(self, job: Job) -> None:
        self._folder = job.folder / "explained"
        self._folder.mkdir(exist_ok=True)
        self._stem = f"{job.id}-{time.monotonic_ns()}"
        files = sorted(self._folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
        for path in files[: max(0, len(files) - _KEPT)]:
            path.unlink(missing_ok=True)

    def write(self, name: str, pixels: Pixels | None) -> str:
        """The path of a file with the pixels; "" without any."""
        if pixels is None:
            return ""
        path: Path = self._folder / f"{self._stem}-{name}.png"
        write_png(path, pixels)
        return str(path)
