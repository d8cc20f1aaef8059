"""Evaluate: loss, accuracy, a score a class and the confusion matrix."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec

from workbench.core.evaluation.ranking import Wish
from workbench.errors import UsageError, WorkbenchError
from workbench.inference.runner import ImageResults, Numbers, score_all
from workbench.pictures.prepare import PreparedPart
from workbench.protocol.trained.evaluate import (
    Evaluate,
    Evaluation,
    ImageSet,
    SliceBy,
    SliceScore,
)
from workbench.runs.export.tables import EvaluatedImages, write_evaluated
from workbench.runs.folder import RunFolder
from workbench.runs.log.texts import SET_IMAGES
from workbench.runs.model_card import ModelCard
from workbench.runs.store.evaluation import known_scores, remove_evaluation
from workbench.runs.store.image_scores import SLICE_TITLES, ScoredImages, slices_of, why_not
from workbench.worker.input.sources import (
    edits_of,
    match_classes,
    match_notes,
    other_part,
    run_part,
)
from workbench.worker.requests.session import CancelledError, Job
from workbench.worker.saved_models.evaluation import (
    class_scores_of,
    class_thresholds,
    count_in_training,
    evaluation_of,
    keep,
    scored_images,
    unknown_threshold,
)


def evaluate(job: Job, request: Evaluate) -> Evaluation:
    """Scores a model on a part of its run's split, or on another source.

    Raises:
        DatasetError: there are no such images, or their classes are not the model's.
        UsageError: the images cannot be sliced by what is requested.
    """
    found = _scored(job, request)
    _keep(request, found)
    answer = found.answer  # what follows is of the request, and is not kept
    if request.table:
        _write_table(Path(request.table), found)
    if request.wish is not None:
        answer = _with_thresholds(job, request, request.wish, found, answer)
    if request.by is not None and found.images is not None:
        slices = _slices(found.card, found.images, request.by)
        answer = msgspec.structs.replace(answer, slices=slices)
    return answer


def evaluate_again(job: Job, run: RunFolder) -> list[str]:
    """Brings the kept evaluations of a run up to its present calibration: what was answered for an
    image is kept of its predicted class alone, which is too little to compute it from.

    Returns:
        Nothing; or, where images cannot be read, that the evaluation was removed.
    """
    problems = []
    left = list(known_scores(run).evaluations.values())
    while left:
        request = left[0].request(job.id, str(run.path))
        try:
            _write(request, _scored(job, request))
        except CancelledError:
            for kept in left:
                remove_evaluation(run, kept)
            raise
        except WorkbenchError as error:
            remove_evaluation(run, left[0])
            problems.append(f"Its evaluation was removed, as it cannot be repeated: {error.what}")
        del left[0]
    return problems


@dataclass(frozen=True)
class _Scored:
    card: ModelCard
    part: PreparedPart
    truth: Numbers
    results: ImageResults
    answer: Evaluation
    images: ScoredImages | None


def _scored(job: Job, request: Evaluate) -> _Scored:
    runner = job.runner(request.model)
    card = runner.card
    images: ImageSet = "other" if request.source else request.part
    if request.source:
        part, names = other_part(job, card, request.source, request.params)
    else:
        part, names = run_part(job, card, request.part)
    truth = match_classes(part.y, names, card.class_names)
    results = score_all(runner, part.x, truth, partial(_report, job, images))
    answer = evaluation_of(
        card,
        truth,
        results,
        request_id=job.id,
        part=images,
        num_in_training=count_in_training(RunFolder(Path(request.model)), images),
        top=request.top,
        on_progress=partial(_report_areas, job),
    )
    answer = msgspec.structs.replace(answer, class_notes=match_notes(names, card.class_names))
    return _Scored(card, part, truth, results, answer, scored_images(part, truth, results, job))


def _with_thresholds(
    job: Job, request: Evaluate, wish: Wish, found: _Scored, answer: Evaluation
) -> Evaluation:
    """The evaluation with thresholds that are chosen on the run's validation images.

    Raises:
        UsageError: the images are those that they are chosen on.
        DatasetError: the run has no validation images.
    """
    if answer.part == "validation" or answer.is_validated_on_test:
        raise UsageError(
            "Thresholds are chosen on the validation images, which these are.",
            fix="Evaluate other images to see what they give.",
        )
    on = _scored(job, Evaluate(id=job.id, model=request.model, part="validation"))
    rows = (class_scores_of(on.truth, on.results), class_scores_of(found.truth, found.results))
    chosen, tried = rows
    assert chosen is not None  # noqa: S101 - a runner's answers are finite
    assert tried is not None  # noqa: S101 - as above
    if wish.goal == "unknown":
        unknown = unknown_threshold(chosen, tried, wish)
        return msgspec.structs.replace(answer, unknown=unknown)
    thresholds = class_thresholds(chosen, tried, wish, answer.classes)
    return msgspec.structs.replace(answer, thresholds=thresholds)


def _slices(card: ModelCard, images: ScoredImages, by: SliceBy) -> list[SliceScore]:
    """The slices as `slices_of` sorts them; raises UsageError where images cannot be sliced so."""
    tags = edits_of(card.dataset.get("edits", {})).tags
    if reason := why_not(images, by, tags):
        raise UsageError(f"There are no slices by {SLICE_TITLES[by].lower()}. {reason}")
    return [
        SliceScore(
            name=each.name,
            count=each.count,
            accuracy=each.accuracy,
            low=each.interval[0],
            high=each.interval[1],
            has_few=each.has_few,
        )
        for each in slices_of(images, by, card.class_names, tags)
    ]


def _write_table(path: Path, found: _Scored) -> None:
    results, answer = found.results, found.answer
    assert results.rows is not None  # noqa: S101 - `score_all` collects them
    files, losses = found.part.files, results.losses
    images = EvaluatedImages(files, found.truth, results.predicted, losses, results.rows)
    write_evaluated(path, images, answer.classes, answer.part)


def _keep(request: Evaluate, found: _Scored) -> None:
    """Keeps the scores with the run. Where that is not possible, the log has the reason."""
    try:
        _write(request, found)
    except WorkbenchError as error:
        sys.stderr.write(f"The evaluation was not kept. {error}\n")


def _write(request: Evaluate, found: _Scored) -> None:
    run = RunFolder(Path(request.model))
    if run.request_path.is_file():  # else an exported model
        params = request.params
        rows = class_scores_of(found.truth, found.results)
        source = request.source
        keep(run, found.card, found.answer, found.images, rows, source=source, params=params)


def _report(job: Job, images: ImageSet, fraction: float) -> None:
    """Shows the progress; ends a request that was canceled."""
    job.check_cancelled()
    job.progress(f"Evaluating the {SET_IMAGES[images]}", fraction)


def _report_areas(job: Job, fraction: float) -> None:
    job.check_cancelled()
    job.progress("Computing the curves of the classes", fraction)
