"""Scores of a model on all pictures of one part, none counted twice, none left out."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from workbench.pictures.prepare import PreparedPart
from workbench.worker.loop import Scores, TrainingLoop
from workbench.worker.pipeline import evaluation_pipeline

_CALL_S = 0.25


class Evaluator:
    """Evaluates one part again and again; the pictures are handed to TensorFlow once.

    Args:
        tf: TensorFlow.
        loop: Runs the batches.
        part: The pictures.
        layers: The pipeline's layers.
        batch_size: Of the training; small parts use a smaller one.
        replicas: The batch is a multiple of it.
    """

    def __init__(
        self,
        tf: Any,
        loop: TrainingLoop,
        part: PreparedPart,
        layers: Sequence[Any],
        *,
        batch_size: int,
        replicas: int,
    ) -> None:
        size = min(batch_size, len(part))
        size = -(-size // replicas) * replicas
        self._loop = loop
        self._num_steps = -(-len(part) // size)
        self._dataset = evaluation_pipeline(tf, part, layers, batch_size=size)

    def scores(
        self, tell: Callable[[float], None], is_stopped: Callable[[], bool]
    ) -> Scores | None:
        """Means over all pictures; None when stopped on the way.

        Args:
            tell: Told the fraction done, 0..1.
            is_stopped: Asked between calls.
        """
        iterator = self._loop.distribute(self._dataset)
        loss = correct = count = 0.0
        done, steps = 0, 1
        while done < self._num_steps:
            if is_stopped():
                return None
            started = time.monotonic()
            steps = min(steps, self._num_steps - done)
            sums = self._loop.evaluate(iterator, steps)
            loss, correct, count = loss + sums[0], correct + sums[1], count + sums[2]
            done += steps
            tell(done / self._num_steps)
            seconds = max(time.monotonic() - started, 1e-6)
            steps = max(1, min(2 * steps, int(steps * _CALL_S / seconds)))
        return Scores(loss / count, correct / count, round(count))
