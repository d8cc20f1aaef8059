"""What a model answers for each image of a set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Values = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class ImageResults:
    """What a model answers for some images, (n,) each.

    Attributes:
        predicted: The most probable class, int64.
        probability: Of that class, float32; calibrated where the model is.
        rank: How many classes are more probable than the true one, int64.
        losses: Cross-entropy without the temperature, float32; may be infinite.
        raw: `probability` without the temperature; None where the answers are not a saved model's.
        distances: From the training images, float32; NaN where that is not known. None as `raw`.
    """

    predicted: Numbers
    probability: Values
    rank: Numbers
    losses: Values
    raw: Values | None = None
    distances: Values | None = None

    @property
    def loss(self) -> float:
        """The mean of the losses."""
        return float(self.losses.mean(dtype=np.float64))
