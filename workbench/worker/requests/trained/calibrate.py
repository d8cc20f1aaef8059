"""Calibrate: temperature and distance of a run that was trained without, on its own images."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from workbench.core.training.recipe import recipe_from
from workbench.errors import RunFolderError
from workbench.inference.runner import Runner
from workbench.pictures.prepare import PreparedPart
from workbench.protocol.messages import Done
from workbench.protocol.trained.calibration import Calibrate, calibration_words
from workbench.runs.folder import RunFolder
from workbench.runs.store.image_features import keep_calibration
from workbench.worker.input.sources import run_parts
from workbench.worker.requests.session import Job
from workbench.worker.requests.trained.evaluate import evaluate_again
from workbench.worker.saved_models.calibrating import Floats, fit_calibration, refusal

_STEP = 64


def calibrate(job: Job, request: Calibrate) -> Done:
    """Calibrates the run's present weights, and keeps its thresholds.

    Raises:
        RunFolderError: it is no run, or is training, or cannot be calibrated.
        DatasetError: its images are gone, or are of other classes.
        SaveError: it cannot be written.
    """
    run = RunFolder(Path(request.model))
    if not run.request_path.is_file():
        raise RunFolderError("Only a run can be calibrated.", where=request.model)
    if run.is_alive():
        raise RunFolderError(
            "The run is training: it is calibrated at its end.", where=request.model
        )
    runner = job.runner(request.model)
    recipe = recipe_from(runner.card.recipe)[0]
    # Before any image is decoded, where it is known by the recipe alone.
    reason = refusal(recipe, None) if recipe.validation in ("none", "test") else ""
    if not reason:
        train, validation = run_parts(job, runner.card)
        reason = refusal(recipe, validation)
    if reason:
        raise RunFolderError(f"The model cannot be calibrated: {reason}.", where=request.model)
    assert validation is not None  # noqa: S101 - for the type: it was refused
    measure = partial(_measured, job, runner)
    found, kept = fit_calibration(validation, train, runner.hidden_size, measure)
    found = keep_calibration(run, found, kept)
    words = [calibration_words(found), *evaluate_again(job, run)]
    return Done(id=job.id, text=" ".join(words), path=str(run.path))


def _measured(job: Job, runner: Runner, part: PreparedPart) -> tuple[Floats, Floats]:
    rows = []
    for start in range(0, len(part), _STEP):
        job.check_cancelled()
        job.progress("Calibrating on the validation images", start / len(part))
        rows.append(runner.outputs(part.x[start : start + _STEP]))
    probabilities, hidden = (np.concatenate(column) for column in zip(*rows, strict=True))
    return probabilities, hidden
