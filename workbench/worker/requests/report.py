"""Report: what a run's folder holds and its model answers on the test images, as one file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.training.split import random_order
from workbench.errors import WorkbenchError
from workbench.pictures.prepare import PreparedPart
from workbench.protocol.evaluate import Evaluation
from workbench.protocol.messages import AnyAnswer, Done
from workbench.protocol.report import MakeReport
from workbench.report.compose import compose
from workbench.report.facts import Example, Facts, Scored, read_facts, with_scores
from workbench.report.write import check_ending, write_report
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard, weights_of
from workbench.worker.input.sources import match_classes, run_test_part
from workbench.worker.process.event_logger import finite
from workbench.worker.requests.evaluate import class_scores, confusion_matrix
from workbench.worker.requests.session import CancelledError, Job
from workbench.worker.saved_models.scoring import ImageResults, score_all

MOST_WRONG, MOST_RIGHT = 12, 8
"""Images that are shown."""

_SEED = 7  # of the choice of right ones

Labels = np.ndarray[Any, np.dtype[np.int64]]


def report(job: Job, request: MakeReport) -> AnyAnswer:
    """Writes the file; what cannot be had is left out of it, with the reason.

    Raises:
        UsageError: the file is neither .html nor .pdf.
        RunFolderError: it is no run.
        SaveError: the file cannot be written.
    """
    path = Path(request.path)
    check_ending(path)
    job.progress("Reading the run")
    facts = read_facts(RunFolder(Path(request.run)))
    facts = with_scores(facts, _scored(job, facts))
    job.progress(f"Writing {path.name}")
    job.check_cancelled()
    write_report(compose(facts), path)
    return Done(id=job.id, text=f"Wrote {path}.", path=str(path))


def _scored(job: Job, facts: Facts) -> Scored:
    """Scores and examples; the reason where the images or the weights cannot be read."""
    if facts.card is None:
        return Scored(problem="The run has no trained weights.")
    try:
        part, names = run_test_part(job, facts.card)
        truth = match_classes(part.y, names, facts.card.class_names)
        runner = job.runner(str(facts.run.path))
        results = score_all(runner, part.x, truth, partial(_report, job))
    except CancelledError:
        raise
    except WorkbenchError as error:
        return Scored(problem=str(error))
    chosen = choose(truth, results)
    return Scored(_evaluation(facts.card, truth, results), _examples(part, truth, results, chosen))


def _report(job: Job, fraction: float) -> None:
    job.check_cancelled()
    job.progress("Evaluating the test images", fraction)


def _evaluation(card: ModelCard, truth: Labels, results: ImageResults) -> Evaluation:
    confusion = confusion_matrix(truth, results.predicted, len(card.class_names))
    return Evaluation(
        loss=finite(results.loss),
        accuracy=float(np.trace(confusion)) / len(truth),
        classes=list(card.class_names),
        per_class=class_scores(confusion, card.class_names),
        confusion=confusion.tolist(),
        weights=weights_of(card),
        is_validated_on_test=card.recipe.get("validation") == "test",
    )


def choose(truth: Labels, results: ImageResults) -> list[int]:
    """Places of the images to show: the most confident mistakes, then right ones of all classes in
    turn, the same ones each time.
    """
    is_right = truth == results.predicted
    wrong = np.flatnonzero(~is_right)
    wrong = wrong[np.argsort(-results.probability[wrong], kind="stable")][:MOST_WRONG]
    by_class: dict[int, list[int]] = {}
    for place in random_order(np.flatnonzero(is_right), _SEED):
        by_class.setdefault(int(truth[place]), []).append(int(place))
    right: list[int] = []
    while by_class and len(right) < MOST_RIGHT:
        for label in sorted(by_class):
            right.append(by_class[label].pop(0))
            if not by_class[label]:
                del by_class[label]
    return [*wrong.tolist(), *right[:MOST_RIGHT]]


def _examples(
    part: PreparedPart, truth: Labels, results: ImageResults, chosen: Sequence[int]
) -> tuple[Example, ...]:
    return tuple(
        Example(
            pixels=np.asarray(part.x[place : place + 1])[0],
            file=part.files[place] if part.files else "",
            actual=int(truth[place]),
            predicted=int(results.predicted[place]),
            probability=float(results.probability[place]),
        )
        for place in chosen
    )
