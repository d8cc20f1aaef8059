"""Exponential decay: falls by a factor every few epochs, smoothly."""

from __future__ import annotations

import numpy as np

from workbench.core.params import Params
from workbench.core.training.schedules._decay import USES, decay, decay_code, decay_text
from workbench.core.training.specs import Array, ScheduleSpec


def _factors(values: Params, steps: Array, total: int, steps_per_epoch: int) -> Array:
    return np.asarray(values["decay_factor"] ** decay(values, steps, steps_per_epoch))


SPEC = ScheduleSpec(
    key="exponential",
    title="exponential",
    name="exponential decay",
    order=30,
    uses=USES,
    factors=_factors,
    describe=lambda values, peak: f"then exponential decay, {decay_text(values)}",
    code=lambda sources, rate, total: decay_code(sources, rate),
)
