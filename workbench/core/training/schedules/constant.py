"""A constant rate."""

from __future__ import annotations

import numpy as np

from workbench.core.training.specs import ScheduleSpec

SPEC = ScheduleSpec(
    key="constant",
    title="constant",
    order=10,
    factors=lambda values, steps, total, steps_per_epoch: np.ones_like(steps),
    describe=lambda values, peak: "then constant",
    code=None,
)
