"""From what a model answers for each image to an evaluation, and what is kept of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from workbench.core.evaluation.top_k import top_k_accuracies
from workbench.core.projects.data_edits import PART_NAMES
from workbench.core.specs import LoadContext
from workbench.inference.answers import ImageResults
from workbench.inference.class_scores import Counts, class_scores, confusion_matrix
from workbench.pictures.prepare import PreparedPart
from workbench.protocol.trained.calibration import Calibration
from workbench.protocol.trained.evaluate import Evaluation, ImageSet
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard, weights_of
from workbench.runs.store.evaluation import KeptEvaluation, keep_evaluation
from workbench.runs.store.image_scores import ScoredImages, joined_paths
from workbench.runs.store.provenance import read_origin
from workbench.worker.process.event_logger import finite
from workbench.worker.saved_models.image_facts import brightness_of, sizes_of
from workbench.worker.saved_models.reliability_scores import calibration_scores


def evaluation_of(
    card: ModelCard,
    truth: Counts,
    results: ImageResults,
    *,
    request_id: int = 0,
    part: ImageSet = "test",
    num_in_training: int = 0,
) -> Evaluation:
    """The evaluation of a model on images of these classes, int64 (n,)."""
    confusion = confusion_matrix(truth, results.predicted, len(card.class_names))
    return Evaluation(
        id=request_id,
        loss=finite(results.loss),
        negative_log_likelihood=finite(float(results.losses.mean(dtype=np.float64))),
        accuracy=float(np.trace(confusion)) / len(truth),
        classes=list(card.class_names),
        per_class=class_scores(confusion, card.class_names),
        confusion=confusion.tolist(),
        part=part,
        weights=weights_of(card),
        top_k_accuracy=top_k_accuracies(results.rank, len(card.class_names)),
        calibration=calibration_scores(card.calibration or Calibration(), results, truth),
        is_validated_on_test=part in ("test", "validation")
        and card.recipe.get("validation") == "test",
        num_in_training=num_in_training,
    )


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
    part: PreparedPart, truth: Counts, results: ImageResults, ctx: LoadContext
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


def keep(
    run: RunFolder,
    card: ModelCard,
    result: Evaluation,
    images: ScoredImages | None,
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
    keep_evaluation(run, kept, images)
