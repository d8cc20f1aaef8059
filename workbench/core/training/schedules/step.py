"""Step decay: drops by a factor every few epochs."""

from __future__ import annotations

import numpy as np

from workbench.core.params import Params
from workbench.core.training.schedules._decay import USES, decay, decay_code, decay_text
from workbench.core.training.specs import Array, ScheduleSpec

_MOST_DROPS = 1_000
"""More are no steps to the eye, and could be more than memory holds."""


def _factors(values: Params, steps: Array, total: int, steps_per_epoch: int) -> Array:
    return np.asarray(values["decay_factor"] ** np.floor(decay(values, steps, steps_per_epoch)))


def _drops(values: Params, total: int, steps_per_epoch: int) -> Array:
    every = values["decay_every_epochs"] * max(1, steps_per_epoch)
    if total / every > _MOST_DROPS:
        return np.empty(0)
    return np.ceil(np.arange(every, total, every))


SPEC = ScheduleSpec(
    key="step",
    title="step",
    name="step decay",
    order=20,
    uses=USES,
    factors=_factors,
    counts_warm_up=True,
    drops=_drops,
    describe=lambda values, peak: f"then step decay, {decay_text(values)}",
    first_decay=lambda values: float(values["decay_every_epochs"]),
    code=lambda sources, rate, total: decay_code(sources, rate, "staircase=True"),
)
