"""Makes an evaluation of what a model answers for each image, and what is kept of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.core.confusion import Confusion
from workbench.core.evaluation.ranking import Areas, areas_of
from workbench.core.evaluation.top_k import SHOWN, top_k_accuracies
from workbench.core.projects.data_edits import PART_NAMES
from workbench.core.specs import LoadContext
from workbench.inference.answers import ImageResults, Numbers
from workbench.inference.class_scores import class_scores
from workbench.pictures.prepare import PreparedPart
from workbench.protocol.trained.calibration import Calibration
from workbench.protocol.trained.evaluate import Averages, Evaluation, ImageSet, cells_of
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard, weights_of
from workbench.runs.store.class_scores import ClassScores
from workbench.runs.store.evaluation import KeptEvaluation, keep_evaluation
from workbench.runs.store.image_scores import ScoredImages, joined_paths
from workbench.runs.store.provenance import read_origin
from workbench.worker.process.event_logger import finite
from workbench.worker.saved_models.image_facts import brightness_of, sizes_of
from workbench.worker.saved_models.reliability_scores import calibration_scores


def evaluation_of(
    card: ModelCard,
    truth: Numbers,
    results: ImageResults,
    *,
    request_id: int = 0,
    part: ImageSet = "test",
    num_in_training: int = 0,
    top: Sequence[int] = (),
    on_progress: Callable[[float], None] = lambda _: None,
) -> Evaluation:
    """The evaluation of a model on images of these classes, int64 (n,), by its answers with the
    probabilities of all classes. `top` are further values of k for the top-k accuracy;
    `on_progress` is called with the fraction of the areas done, 0..1, and may raise to stop.
    """
    is_from_elsewhere = not (card.epochs_done or num_in_training or weights_of(card))
    confusion = Confusion.of_images(truth, results.predicted, len(card.class_names))
    rows = class_scores_of(truth, results)
    areas = areas_of(rows.probabilities, truth, on_progress) if rows is not None else None
    return Evaluation(
        id=request_id,
        loss=finite(results.loss),
        negative_log_likelihood=finite(float(results.losses.mean(dtype=np.float64))),
        accuracy=int(confusion.right.sum()) / len(truth),
        classes=list(card.class_names),
        per_class=class_scores(confusion, card.class_names, areas),
        confusion=cells_of(confusion),
        part=part,
        weights=weights_of(card),
        top_k_accuracy=top_k_accuracies(results.rank, len(card.class_names), (*SHOWN, *top)),
        roc_auc=_averages(areas, "roc_auc"),
        average_precision=_averages(areas, "average_precision"),
        calibration=calibration_scores(card.calibration or Calibration(), results, truth),
        is_validated_on_test=not is_from_elsewhere
        and part in ("test", "validation")
        and card.recipe.get("validation") == "test",
        num_in_training=num_in_training,
        is_from_elsewhere=is_from_elsewhere,
    )


def _averages(areas: Areas | None, name: str) -> Averages | None:
    if areas is None:
        return None
    return Averages(macro=getattr(areas.macro, name), micro=getattr(areas.micro, name))


def count_in_training(run: RunFolder, part: ImageSet) -> int:
    """How many images of a part the run had when it was trained; 0 where that is not known."""
    origin = read_origin(run)
    if origin is None or part == "other":
        return 0
    data = origin.data
    return {
        "train": data.num_train, "validation": data.num_validation, "test": data.num_test,
    }[part]  # fmt: skip


def scored_images(
    part: PreparedPart, truth: Numbers, results: ImageResults, ctx: LoadContext
) -> ScoredImages | None:
    """What is kept of each image; None where it is not known where the images are from, or the
    model has no answer. The context is for the ids of the images by content.
    """
    origin = part.origin
    if origin is None or not np.isfinite(results.probability).all():
        return None
    digits = b"".join(origin.contents(ctx).tolist())
    paths, lengths = joined_paths(part.files)
    return ScoredImages(
        part=np.full(len(part), PART_NAMES.index(origin.name), np.int8),
        index=origin.numbers,
        actual=truth,
        predicted=results.predicted,
        rank=results.rank,
        probability=results.probability,
        loss=np.nan_to_num(results.losses, nan=np.inf, posinf=np.inf),
        content=np.frombuffer(bytes.fromhex(digits.decode()), np.uint8).reshape(len(part), -1),
        paths=paths,
        lengths=lengths,
        brightness=brightness_of(part.x, ctx),
        sizes=sizes_of(origin, ctx),
    )


def class_scores_of(truth: Numbers, results: ImageResults) -> ClassScores | None:
    """The probabilities that are kept; None where there are none, or the model has no answer."""
    if results.rows is None or not np.isfinite(results.probability).all():
        return None
    return ClassScores(results.rows, truth)


def keep(
    run: RunFolder,
    card: ModelCard,
    result: Evaluation,
    images: ScoredImages | None,
    rows: ClassScores | None,
    *,
    source: str = "",
    params: Mapping[str, Any] | None = None,
) -> None:
    """Keeps an evaluation with its run; see `keep_evaluation` for errors."""
    kept = KeptEvaluation(
        result=result,
        source=source,
        params=dict(params or {}),
        checksum=card.checksum,
        created=time.time(),
    )
    keep_evaluation(run, kept, images, rows)
