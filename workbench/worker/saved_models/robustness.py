"""Accuracy of a saved model on altered test images: the one way, for the end of a training and for
requests.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from workbench.alterations import SUITE_LEVELS, all_alterations, altered, checked
from workbench.core.projects.robustness import RobustnessTest
from workbench.errors import UsageError
from workbench.inference.runner import Labels, Runner
from workbench.pictures.rows import Rows
from workbench.protocol.trained.robustness import AlteredAccuracy, Robustness
from workbench.runs.model_card import weights_of

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
