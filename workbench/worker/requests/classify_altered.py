"""ClassifyAltered: an image with alterations, many times a second while a slider moves."""

from __future__ import annotations

import time
from pathlib import Path

from workbench.alterations import altered
from workbench.inference.runner import Pixels, Runner, ranked
from workbench.protocol.classify import AlteredScores, ClassifyAltered
from workbench.worker.requests.session import Job


def classify_altered(job: Job, request: ClassifyAltered) -> AlteredScores:
    """Alters the image as the model gets it, and classifies it.

    Raises:
        PictureError: the image cannot be read.
        UsageError: no such alteration, or a strength out of its bounds.
        RunError: the model's training diverged.
    """
    runner = job.runner(request.model)
    started = time.perf_counter()
    pixels = altered(_fitted(runner, request.picture), request.strengths)
    answers = runner.answer(pixels[None])
    scores = ranked(answers.probabilities[0], runner.card.class_names, 0)
    milliseconds = 1000 * (time.perf_counter() - started)
    return AlteredScores(
        id=job.id,
        scores=scores,
        unknown=runner.unknown(answers, 0),
        input_bitmap=job.session_bitmap(pixels, "altered"),
        milliseconds=round(milliseconds, 3),
    )


def _fitted(runner: Runner, picture: str) -> Pixels:
    """The image as it is fitted to the model; decoded once while the strengths change."""
    mark = picture, _time_of(picture)
    known = runner.extras.get(__name__)
    if known is not None and known[0] == mark:
        fitted: Pixels = known[1]
        return fitted
    fitted = runner.decoded(picture)[1]
    runner.extras[__name__] = mark, fitted
    return fitted


def _time_of(picture: str) -> int:
    try:
        return Path(picture).stat().st_mtime_ns
    except OSError:  # decoding it will say so in words
        return 0
