"""One cycle with straight flanks (Smith, 2018)."""

from __future__ import annotations

import numpy as np

from workbench.core.format import rate_text
from workbench.core.params import Params
from workbench.core.training.specs import Array, Code, ScheduleSpec, Sources


def _factors(values: Params, steps: Array, total: int, steps_per_epoch: int) -> Array:
    done = np.clip(steps / max(1, total), 0.0, 1.0)
    return np.asarray(1 - (1 - values["final_share"]) * done)


def _code(sources: Sources, rate: str, total: str) -> Code:
    last = f"end_learning_rate={rate} * {sources['final_share']}"
    return Code("PolynomialDecay", (rate, total, last))


SPEC = ScheduleSpec(
    key="one_cycle",
    title="one-cycle",
    order=50,
    uses=("final_share",),
    factors=_factors,
    warm_up_share=0.3,
    start_divisor=25,
    describe=lambda values, peak: f"then linear decay to {rate_text(peak * values['final_share'])}",
    spans_training=True,
    code=_code,
)
