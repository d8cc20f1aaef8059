"""Classify and WarmUp: images from files to class names."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from workbench.errors import PictureError
from workbench.inference.many import classify_many
from workbench.inference.runner import Runner, ranked
from workbench.pictures.fit import fit_picture, side_to_decode
from workbench.pictures.png import write_bitmap
from workbench.pictures.thumbnails import decode_reduced, thumbnail
from workbench.protocol.classify import Classified, Classify, WarmUp
from workbench.protocol.messages import Done
from workbench.protocol.wire import error_parts
from workbench.runs.model_card import weights_of
from workbench.worker.requests.session import Job

Pixels = np.ndarray[Any, np.dtype[np.uint8]]

PREVIEW_SIZE = 640
"""Longer side in pixels of the image as people see it in the window."""

__all__ = ["classify", "classify_many", "warm_up"]
"""`classify_many` is what the command line does in its own process."""


def warm_up(job: Job, request: WarmUp) -> Done:
    """Loads a model and runs it once, so that the first dropped image does not wait."""
    runner = job.runner(request.model)
    runner.predict(np.zeros((1, *runner.card.input_shape), np.uint8))
    return Done(id=job.id, text="Ready to classify")


def classify(job: Job, request: Classify) -> Done:
    """Answers with one Classified per image, in order; a bad one never stops the others."""
    runner = job.runner(request.model)
    for number, file in enumerate(request.pictures):
        job.check_cancelled()
        if len(request.pictures) > 8:
            job.progress("Classifying", number / len(request.pictures))
        job.send(_classify_one(job, runner, request, file))
    return Done(id=job.id)


def _classify_one(job: Job, runner: Runner, request: Classify, file: str) -> Classified:
    shape = tuple(runner.card.input_shape)
    started = time.perf_counter()
    try:
        # As in training: a large photo is decoded no larger than needed.
        decoded = decode_reduced(file, side_to_decode(shape), value_range=runner.card.value_range)
        fitted = fit_picture(decoded.pixels, shape, fit=runner.card.fit)
    except PictureError as error:
        return Classified(id=job.id, file=file, error=error_parts(error))
    answers = runner.answer(fitted[None])
    scores = ranked(answers.probabilities[0], runner.card.class_names, request.top)
    milliseconds = 1000 * (time.perf_counter() - started)
    shown = _previews(job, decoded.pixels, fitted) if request.previews else ("", "")
    return Classified(
        id=job.id,
        file=file,
        label=scores[0].name,
        unknown=runner.unknown(answers, 0),
        scores=scores,
        milliseconds=round(milliseconds, 3),
        width=decoded.full_size[1],
        height=decoded.full_size[0],
        input_shape=list(shape),
        picture_bitmap=shown[0],
        input_bitmap=shown[1],
        weights=weights_of(runner.card),
        blind=runner.calibration.blind_words,
    )


def _previews(job: Job, picture: Pixels, fitted: Pixels) -> tuple[str, str]:
    stem = job.folder / f"{job.id}-{time.monotonic_ns()}"
    paths = (f"{stem}-picture.bmp", f"{stem}-input.bmp")
    write_bitmap(paths[0], thumbnail(picture, PREVIEW_SIZE))
    write_bitmap(paths[1], fitted)
    return paths
