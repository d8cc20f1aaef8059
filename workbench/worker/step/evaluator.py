"""Scores of a model on all images of one part, none counted twice, none left out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from workbench.inference.answers import Answers, ImageResults, joined_results, results_of, room_for
from workbench.pictures.prepare import PreparedPart
from workbench.worker.input.pipeline import evaluation_pipeline
from workbench.worker.step.training_loop import Scores, TrainingLoop, Values

Judge = Callable[[Values, Values, Values], Answers]

_CALL_S = 0.25


class Evaluator:
    """Evaluates one part again and again; the images are handed to TensorFlow once.

    The loop runs the batches, which for small parts are smaller than its own, behind the layers
    of the pipeline.
    """

    def __init__(self, loop: TrainingLoop, part: PreparedPart, layers: Sequence[Any]) -> None:
        size = min(loop.step.batch_size, len(part))
        size = -(-size // loop.step.replicas) * loop.step.replicas
        self._loop = loop
        self._top_k = loop.step.recipe.top_k
        self._labels = part.y
        self._size = size
        self._num_steps = -(-len(part) // size)
        self._steps = 1
        self._dataset = evaluation_pipeline(part, layers, batch_size=size, share=loop.share)

    def scores(
        self, on_progress: Callable[[float], None], barrier: Callable[[int], int]
    ) -> Scores | None:
        """Means over all images; None when stopped on the way.

        `on_progress` is called with the fraction done, 0..1; `barrier` makes of the steps of the
        next call as many as it shall have, 0 to stop.
        """
        iterator = self._loop.distribute(self._dataset)
        sums: list[Any] | None = None
        done = 0
        while done < self._num_steps:
            # The length of a call is remembered: the next evaluation starts with it.
            steps = barrier(min(self._steps, self._num_steps - done))
            if not steps:
                return None
            started = time.monotonic()
            sums = self._loop.evaluate(iterator, steps, sums)
            done += steps
            on_progress(done / self._num_steps)
            seconds = max(time.monotonic() - started, 1e-6)
            self._steps = max(1, min(2 * self._steps, int(steps * _CALL_S / seconds)))
        return self._scores_of([value.numpy() for value in sums or ()])

    def answers(
        self, judge: Judge, hidden: str | None, on_progress: Callable[[float], None]
    ) -> tuple[ImageResults, Values]:
        """What the model answers for each image, and its loss as `scores` adds it up, float32 (n,).
        One machine has to compute all of it.

        Args:
            judge: Makes answers of uncalibrated probabilities (n, classes), outputs of the node
                `hidden` (n, d) and losses (n,).
            hidden: None for none.
            on_progress: As for `scores`.
        """
        iterator = self._loop.distribute(self._dataset)
        answering = self._loop.answering(hidden)
        pieces, losses, rows = [], [], None
        for step in range(self._num_steps):
            on_progress(step / self._num_steps)
            labels = self._labels[step * self._size : (step + 1) * self._size]
            # The filling of the last batch is cut off.
            raw, inner, entropy, own = (each[: len(labels)] for each in answering(iterator))
            found, start = judge(raw, inner, entropy), step * self._size
            rows = room_for(len(self._labels), raw.shape[1]) if rows is None else rows
            rows[start : start + len(labels)] = found.probabilities
            pieces.append(results_of(found, labels))
            losses.append(own)
        return joined_results(pieces, rows), np.concatenate(losses)

    def _scores_of(self, sums: Sequence[Any]) -> Scores:
        loss, correct, count, in_top_k = (float(value) for value in sums[:4])
        confusion = None
        if len(sums) > 4:
            classes = round(len(sums[4]) ** 0.5)
            confusion = sums[4].astype(np.uint32).reshape(classes, classes)
        return Scores(
            loss / count,
            correct / count,
            round(count),
            top_k_accuracy=None if self._top_k == 1 else in_top_k / count,
            confusion=confusion,
        )
