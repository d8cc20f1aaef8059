"""Makes an evaluation of what a model answers for each image, and what is kept of it."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, cast

import numpy as np

from workbench.alterations import SUITE_LEVELS, all_alterations, altered, checked
from workbench.core.evaluation.confusion import Confusion
from workbench.core.evaluation.ranking import (
    SHOWN,
    Areas,
    Point,
    Wish,
    areas_of,
    chosen_point,
    curve_of,
    point_of,
    refusal_at,
    refusal_of,
    top_k_accuracies,
)
from workbench.core.projects.data_edits import PART_NAMES
from workbench.core.projects.project import RobustnessTest
from workbench.core.specs import FilePart, LoadContext
from workbench.errors import UsageError
from workbench.inference.runner import ImageResults, Labels, Numbers, Runner, class_scores
from workbench.pictures.header_size import header_size
from workbench.pictures.prepare import Origin, PreparedPart
from workbench.pictures.rows import Rows
from workbench.protocol.trained.calibration import Calibration
from workbench.protocol.trained.evaluate import (
    Averages,
    ClassThreshold,
    Evaluation,
    ImageSet,
    ThresholdPoint,
    UnknownThreshold,
    cells_of,
)
from workbench.protocol.trained.robustness import AlteredAccuracy, Robustness
from workbench.runs.folder import RunFolder
from workbench.runs.model_card import ModelCard, weights_of
from workbench.runs.store.checkpoint import read_origin
from workbench.runs.store.evaluation import KeptEvaluation, keep_evaluation
from workbench.runs.store.image_scores import ClassScores, ScoredImages, joined_paths
from workbench.worker.process.run_channel import finite
from workbench.worker.saved_models.calibrating import calibration_scores

# image facts ---------------------------------------------------------------------------------
# What images are like, for slices of an evaluation: how bright, and how large originally.

_STEP = 512
_LUMA = np.array([0.299, 0.587, 0.114], np.float32)
"""Weights of red, green and blue by ITU-R BT.601, as image programs make gray of colors."""

Brightness = np.ndarray[Any, np.dtype[np.float32]]
Sizes = np.ndarray[Any, np.dtype[np.int32]]


def brightness_of(x: Rows, ctx: LoadContext) -> Brightness:
    """The mean luminance of images uint8 (n, height, width, 1 or 3), (n,), 0..255."""
    means = []
    for start in range(0, len(x), _STEP):
        ctx.check_cancelled()
        pixels = np.asarray(x[start : start + _STEP])
        channels = pixels.reshape(len(pixels), -1, pixels.shape[-1]).mean(axis=1, dtype=np.float32)
        means.append(channels @ _LUMA if channels.shape[1] == len(_LUMA) else channels[:, 0])
    found: Brightness = np.concatenate([np.zeros(0, np.float32), *means])
    return np.clip(found, 0, 255)


def sizes_of(origin: Origin, ctx: LoadContext) -> Sizes:
    """Width and height of the original images, (n, 2); 0 where a file's first bytes do not say."""
    if not isinstance(origin.part, FilePart):
        height, width = cast("tuple[int, ...]", origin.part.pictures.shape)[1:3]
        return np.tile(np.array([width, height], np.int32), (len(origin.numbers), 1))
    sizes = np.zeros((len(origin.numbers), 2), np.int32)
    for at, number in enumerate(origin.numbers.tolist()):
        if at % _STEP == 0:
            ctx.check_cancelled()
        if (size := header_size(origin.part.paths[number])) is not None:
            sizes[at] = size[::-1]
    return sizes


# class thresholds ----------------------------------------------------------------------------
# Thresholds that are chosen on some images, and what they give on others, in messages.


def class_thresholds(
    chosen_on: ClassScores, tried_on: ClassScores, wish: Wish, names: Sequence[str]
) -> list[ClassThreshold]:
    """A threshold for each class."""
    return [
        _threshold(chosen_on, tried_on, wish, name, number) for number, name in enumerate(names)
    ]


def _threshold(
    chosen_on: ClassScores, tried_on: ClassScores, wish: Wish, name: str, number: int
) -> ClassThreshold:
    own = chosen_on.actual == number
    chosen = chosen_point(curve_of(chosen_on.probabilities[:, number], own), wish)
    if chosen is None:
        return ClassThreshold(name=name)
    scores, is_own = tried_on.probabilities[:, number], tried_on.actual == number
    return ClassThreshold(
        name=name,
        threshold=chosen.threshold if math.isfinite(chosen.threshold) else None,
        validation=_message(chosen),
        found=_message(point_of(scores, is_own, chosen.threshold)),
    )


def _message(point: Point) -> ThresholdPoint:
    return ThresholdPoint(
        precision=point.precision,
        recall=point.recall,
        f1=point.f1,
        right=point.right,
        wrong=point.wrong,
        missed=point.missed,
    )


def unknown_threshold(
    chosen_on: ClassScores, tried_on: ClassScores, wish: Wish
) -> UnknownThreshold:
    """The threshold of all "unknown" answers, by what an error and such an answer cost."""
    costs = wish.false_alarm, wish.miss
    chosen = refusal_of(*chosen_on.answers(), costs)
    tried = refusal_at(*tried_on.answers(), costs, chosen.threshold)
    return UnknownThreshold(
        threshold=chosen.threshold if math.isfinite(chosen.threshold) else None,
        cost=tried.cost,
        cost_without=tried.cost_without,
        unknown=tried.unknown,
        wrong=tried.wrong,
        validation_cost=chosen.cost,
    )


# robustness ----------------------------------------------------------------------------------
# Accuracy of a saved model on altered test images: the one way, for the end of a training and for
# requests.

LEVELS = (0.5, 1.0)
"""Parts of a test's strengths that are measured: with the unaltered images, a curve of three."""

MAX_IMAGES = 1_000
"""Images that a training measures itself on: they give the accuracy to about 3 points (95%
confidence)."""

_CHUNK_BYTES = 32 * 2**20
_MAX_CHUNK = 256

_Key = tuple[tuple[str, float], ...]


def refuse_unknown(tests: Sequence[RobustnessTest]) -> None:
    """Raises UsageError where a test cannot be measured; see `alterations.checked`."""
    for test in tests:
        if not checked(test.strengths):
            raise UsageError("This robustness test alters nothing.", received=test.name)


def robustness_of(
    runner: Runner,
    x: Rows,
    truth: Labels,
    tests: Sequence[RobustnessTest],
    *,
    is_suite: bool = False,
    images: int = MAX_IMAGES,
    on_progress: Callable[[float], None],
    request_id: int = 0,
) -> Robustness:
    """Measures a model on tests that `refuse_unknown` accepts.

    Args:
        runner: The model.
        x: The test images, fitted to the model, uint8 (n, height, width, channels); at least one.
        truth: Their labels, int64 (n,).
        tests: What to measure.
        is_suite: These are those of the ready suite, at its strengths.
        images: At most so many of them are used, evenly spread; 0 for all.
        on_progress: Called with the fraction done, 0..1, before each step; may raise to stop.
        request_id: Id of the request that is answered.
    """
    chosen = _spread(len(x), images)
    levels = SUITE_LEVELS if is_suite else LEVELS
    cases = [case for test in tests for case in _cases(test, levels)]
    keys = list(dict.fromkeys([(), *(case.key for case in cases)]))
    right = _num_right(runner, _Images(x, truth, chosen), keys, on_progress)
    accuracies = {key: number / len(chosen) for key, number in right.items()}
    measured = [case.with_accuracy(accuracies[case.key]) for case in cases]
    return Robustness(
        id=request_id,
        accuracy=accuracies[()],
        count=len(chosen),
        total=len(x),
        measured=measured,
        weights=weights_of(runner.card),
        mean_accuracy=_mean(measured) if is_suite else None,
    )


def _mean(measured: Sequence[AlteredAccuracy]) -> float:
    """Over the strengths of each alteration, then over the alterations: brightness has two."""
    found: dict[str, list[float]] = {}
    for case in measured:
        for key in case.strengths:
            found.setdefault(key, []).append(case.accuracy)
    return float(np.mean([np.mean(each) for each in found.values()]))


@dataclass(frozen=True)
class _Case:
    """One thing to measure: what is applied to each image, as (alteration, strength)."""

    test: str
    key: _Key
    level: float

    def with_accuracy(self, accuracy: float) -> AlteredAccuracy:
        return AlteredAccuracy(
            test=self.test, strengths=dict(self.key), level=self.level, accuracy=accuracy
        )


def _cases(test: RobustnessTest, levels: Sequence[float]) -> Iterator[_Case]:
    """Each alteration of a test alone at each level, then all together."""
    known, strengths = all_alterations(), checked(test.strengths)
    groups = [(key,) for key in strengths] + ([tuple(strengths)] if len(strengths) > 1 else [])
    for group, level in product(groups, levels):
        applied = tuple((key, known[key].at(strengths[key], level)) for key in group)
        yield _Case(test.name, applied, level)


@dataclass(frozen=True)
class _Images:
    """Test images, and the numbers of those that are used, int64 (n,)."""

    x: Rows
    truth: Labels
    chosen: Labels


def _num_right(
    runner: Runner, images: _Images, keys: Sequence[_Key], on_progress: Callable[[float], None]
) -> dict[_Key, int]:
    """How many of the chosen images are classified right with each of some alterations."""
    right = dict.fromkeys(keys, 0)
    step = max(1, min(_MAX_CHUNK, _CHUNK_BYTES // int(np.prod(images.x.shape[1:]))))
    starts = range(0, len(images.chosen), step)
    with ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="altering") as pool:
        for number, start in enumerate(starts):
            places = images.chosen[start : start + step]
            pixels, labels = np.asarray(images.x[places]), images.truth[places]
            for at, key in enumerate(keys):
                on_progress((number + at / len(keys)) / len(starts))
                now = list(pool.map(partial(altered, strengths=dict(key)), pixels))
                answers = runner.predict(np.stack(now)).argmax(axis=1)
                right[key] += int((answers == labels).sum())
    return right


def _spread(total: int, most: int) -> Labels:
    """Numbers of at most so many images, evenly spread over all; int64."""
    count = min(total, most or total)
    return np.linspace(0, total - 1, count).round().astype(np.int64)


# evaluation ----------------------------------------------------------------------------------


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
