"""A model computed by ONNX Runtime, from the run's graph and weights."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

import numpy as np

from workbench.core.calibration.distance import Halves
from workbench.inference.runner import Labels, Outputs, Pixels, Runner
from workbench.onnx.model import HIDDEN, IMAGES, SCORES
from workbench.runs.model_card import ModelCard

_TOGETHER_NUMBERS = 1_000_000
"""Numbers that the largest layer puts out for the images that are computed together. With more,
they leave the processor's cache, and large images are classified faster one by one."""

_MOST_TOGETHER = 256

_MOST_THREADS = 8
"""Pieces that are computed at the same time: each takes memory of its own."""

Values = np.ndarray[Any, np.dtype[np.float32]]


class OnnxRunner(Runner):
    """A model in ONNX Runtime. May be used by several threads at once.

    Args:
        card: Its card, with the calibration and a name for each output.
        model: The network in ONNX, with logits, see `onnx_model`; and with the outputs of the last
            hidden layer where there is one.
        largest_layer: Numbers that its largest layer gives for an image.
        hidden_size: Outputs of the last hidden layer; 0 without one.
        references: What the distance from the training images is measured by; None for nothing.

    Raises:
        Exception: ONNX Runtime refuses the model; of its own classes.
    """

    def __init__(
        self,
        card: ModelCard,
        model: bytes,
        *,
        largest_layer: int,
        hidden_size: int,
        references: Halves | None = None,
    ) -> None:
        super().__init__(card, hidden_size, references)
        together = _TOGETHER_NUMBERS // max(largest_layer, math.prod(self._shape))
        # A power of two, which divides the batches that images come in.
        self._together = min(_MOST_TOGETHER, 1 << max(0, together.bit_length() - 1))
        self._session = _session(model)
        self._wanted = [SCORES, HIDDEN] if hidden_size else [SCORES]

    def _compute(self, x: Pixels, labels: Labels | None) -> Outputs:
        starts = range(0, len(x), self._together)
        pieces = [np.ascontiguousarray(x[start : start + self._together]) for start in starts]
        found: Iterable[list[Values]] = map(self._run, pieces)
        if len(pieces) > 1:
            found = self._threads.map(self._run, pieces)
        logits, *hidden = (np.concatenate(column) for column in zip(*found, strict=True))
        inner = hidden[0] if hidden else np.zeros((len(x), 0), np.float32)
        losses = None if labels is None else cross_entropy(logits, labels)
        return Outputs(softmax(logits), inner, losses)

    def _run(self, x: Pixels) -> list[Values]:
        found: list[Values] = self._session.run(self._wanted, {IMAGES: x})
        return found

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        count = min(_MOST_THREADS, os.cpu_count() or 1)
        return ThreadPoolExecutor(count, thread_name_prefix="classify")


def softmax(logits: Values) -> Values:
    """Probabilities of logits (n, classes)."""
    with np.errstate(invalid="ignore"):  # of infinite ones: not finite, which the runner reports
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares: Values = powers / powers.sum(axis=1, keepdims=True)
    return shares


def cross_entropy(logits: Values, labels: Labels) -> Values:
    """The loss of each image (n,), of logits (n, classes) and labels (n,)."""
    with np.errstate(invalid="ignore"):
        shifted = logits - logits.max(axis=1, keepdims=True)
        own = np.take_along_axis(shifted, labels[:, None], axis=1)[:, 0]
        losses: Values = np.log(np.exp(shifted).sum(axis=1)) - own
    return losses


def _session(model: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # what it refuses is raised as well
    # Threads that wait for work by spinning take the processor from those that decode images.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
