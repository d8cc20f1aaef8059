"""Evaluate: loss, accuracy, a score a class and the confusion matrix."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from workbench.errors import WorkbenchError
from workbench.pictures.prepare import PreparedPart
from workbench.protocol.evaluate import ClassScore, Evaluate, Evaluation, ImageScores
from workbench.protocol.messages import AnyAnswer
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import weights_of
from workbench.runs.store.evaluation import KeptEvaluation, keep_evaluation
from workbench.worker.input.sources import match_classes, other_part, run_test_part
from workbench.worker.process.event_logger import finite
from workbench.worker.requests.session import Job
from workbench.worker.saved_models.reliability_scores import calibration_scores
from workbench.worker.saved_models.scoring import ImageResults, score_all

Counts = np.ndarray[Any, np.dtype[np.int64]]


def evaluate(job: Job, request: Evaluate) -> AnyAnswer:
    """Scores a model on its run's test part, or on another source.

    Raises:
        DatasetError: there are no such images, or their classes are not the model's.
    """
    runner = job.runner(request.model)
    card = runner.card
    if request.source:
        part, names = other_part(job, card, request.source, request.params)
    else:
        part, names = run_test_part(job, card)
    truth = match_classes(part.y, names, card.class_names)
    results = score_all(runner, part.x, truth, partial(_report, job))
    confusion = confusion_matrix(truth, results.predicted, len(card.class_names))
    answer = Evaluation(
        id=job.id,
        loss=finite(results.loss),
        accuracy=float(np.trace(confusion)) / len(truth),
        classes=list(card.class_names),
        per_class=class_scores(confusion, card.class_names),
        confusion=confusion.tolist(),
        weights=weights_of(card),
        calibration=calibration_scores(runner.calibration, results, truth),
        is_validated_on_test=not request.source and card.recipe.get("validation") == "test",
    )
    _keep(request, answer, card.checksum)
    if request.with_images:
        return msgspec.structs.replace(answer, images=_image_scores(part, truth, results))
    return answer


def _image_scores(part: PreparedPart, truth: Counts, results: ImageResults) -> ImageScores:
    return ImageScores(
        files=list(part.files),
        actual=truth.tolist(),
        predicted=results.predicted.tolist(),
        probability=results.probability.tolist(),
        loss=[finite(loss) for loss in results.losses.tolist()],
    )


def _keep(request: Evaluate, answer: Evaluation, checksum: str) -> None:
    """Keeps the scores with the run. Where that is not possible, the log has the reason."""
    run = RunFolder(Path(request.model))
    if not run.request_path.is_file():  # an exported model
        return
    kept = KeptEvaluation(
        result=answer,
        source=request.source,
        params=request.params,
        checksum=checksum,
        created=time.time(),
    )
    try:
        keep_evaluation(run, kept)
    except WorkbenchError as error:
        sys.stderr.write(f"The evaluation was not kept. {error}\n")


def _report(job: Job, fraction: float) -> None:
    """Shows the progress; ends a request that was canceled."""
    job.check_cancelled()
    job.progress("Evaluating the test images", fraction)


def confusion_matrix(truth: Counts, predicted: Counts, num_classes: int) -> Counts:
    """Counts (n, n): rows are the true class, columns the predicted one."""
    cells = np.bincount(truth * num_classes + predicted, minlength=num_classes * num_classes)
    return cells.reshape(num_classes, num_classes)


def class_scores(confusion: Counts, class_names: Sequence[str]) -> list[ClassScore]:
    """Precision, recall and F1 of each class; 0 where there is nothing to divide by."""
    right = np.diagonal(confusion).astype(np.float64)
    true_counts, predicted_counts = confusion.sum(axis=1), confusion.sum(axis=0)
    precision = right / np.maximum(predicted_counts, 1)
    recall = right / np.maximum(true_counts, 1)
    both = precision + recall
    f1 = 2 * precision * recall / np.where(both > 0, both, 1)
    return [
        ClassScore(
            name=name,
            precision=float(precision[label]),
            recall=float(recall[label]),
            f1=float(f1[label]),
            count=int(true_counts[label]),
        )
        for label, name in enumerate(class_names)
    ]
