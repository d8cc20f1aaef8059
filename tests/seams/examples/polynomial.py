"""Polynomial decay of degree two, over the whole training."""

from __future__ import annotations

import numpy as np

from workbench.core.format import rate_text
from workbench.core.params import Params
from workbench.core.training.specs import Array, Code, ScheduleSpec, Sources


def _factors(values: Params, steps: Array, total: int, steps_per_epoch: int) -> Array:
    last = values["final_share"]
    remaining = 1 - np.clip(steps / max(1, total), 0.0, 1.0)
    return np.asarray(last + (1 - last) * remaining**2)


def _code(sources: Sources, rate: str, total: str) -> Code:
    last = f"end_learning_rate={rate} * {sources['final_share']}"
    return Code("PolynomialDecay", (rate, total, last, "power=2.0"))


SPEC = ScheduleSpec(
    key="polynomial",
    title="polynomial",
    name="polynomial decay",
    uses=("final_share",),
    factors=_factors,
    describe=lambda values, peak: (
        f"then polynomial decay to {rate_text(peak * values['final_share'])}"
    ),
    spans_training=True,
    code=_code,
)
