"""Report: what a run's folder holds and its model answers on the test images, as one file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.training.split import random_order
from workbench.errors import WorkbenchError
from workbench.inference.runner import ImageResults, score_all
from workbench.pictures.prepare import PreparedPart
from workbench.protocol.export import MakeReport
from workbench.protocol.messages import Done
from workbench.report.facts import Example, Facts, Scored, read_facts, with_scores
from workbench.report.write import check_ending, compose, write_report
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard
from workbench.runs.store.image_scores import ScoredImages
from workbench.worker.explain import explainer_of
from workbench.worker.input.sources import match_classes, run_test_part
from workbench.worker.requests.session import CancelledError, Job
from workbench.worker.saved_models.evaluation import count_in_training, evaluation_of

MOST_WRONG, MOST_RIGHT = 12, 9
"""Images that are shown."""

_SEED = 7  # of the choice of right ones

Labels = np.ndarray[Any, np.dtype[np.int64]]
Answers = ImageResults | ScoredImages
"""What a model answers for each image: as just computed, or as kept with the run."""


def report(job: Job, request: MakeReport) -> Done:
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
    facts = with_scores(facts, _explained(job, facts, _scored(job, facts)))
    job.progress(f"Writing {path.name}")
    job.check_cancelled()
    write_report(compose(facts), path)
    return Done(id=job.id, text=f"Wrote {path}.", path=str(path))


def _scored(job: Job, facts: Facts) -> Scored:
    """Scores and examples, kept or computed now; the reason where images or weights cannot be
    read.
    """
    card = facts.card
    if card is None:
        return Scored(problem="The run has no trained weights.")
    try:
        part, names = run_test_part(job, card)
        truth = match_classes(part.y, names, card.class_names)
        kept = facts.scored.images
        if kept is not None and np.array_equal(kept.actual, truth):
            chosen = choose(truth, kept)
            return Scored(facts.scored.result, _examples(part, truth, kept, chosen))
        return _computed(job, facts, card, part, truth)
    except CancelledError:
        raise
    except WorkbenchError as error:
        return Scored(problem=str(error))


def _explained(job: Job, facts: Facts, scored: Scored) -> Scored:
    """The examples with heat maps of their predictions; without, where none can be computed."""
    if not scored.examples:
        return scored
    job.check_cancelled()
    pixels = np.stack([example.pixels for example in scored.examples])
    classes = np.array([example.predicted for example in scored.examples], np.int64)
    try:
        runner = job.keras_runner(str(facts.run.path))
        job.progress("Computing heat maps")
        found = explainer_of(runner).explain(pixels, classes)
    except CancelledError:
        raise
    except WorkbenchError as error:
        sys.stderr.write(f"The report has no heat maps. {error}\n")
        return scored
    pairs = zip(scored.examples, found.heat, strict=True)
    examples = tuple(replace(example, heat=heat) for example, heat in pairs)
    return replace(scored, examples=examples, method=found.method)


def _computed(job: Job, facts: Facts, card: ModelCard, part: PreparedPart, truth: Labels) -> Scored:
    """What the model answers for the images as they are now."""
    results = score_all(job.runner(str(facts.run.path)), part.x, truth, partial(_report, job))
    chosen = choose(truth, results)
    num = count_in_training(facts.run, "test")
    result = evaluation_of(card, truth, results, num_in_training=num)
    return Scored(result, _examples(part, truth, results, chosen))


def _report(job: Job, fraction: float) -> None:
    job.check_cancelled()
    job.progress("Evaluating the test images", fraction)


def choose(truth: Labels, results: Answers) -> list[int]:
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
    part: PreparedPart, truth: Labels, results: Answers, chosen: Sequence[int]
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
