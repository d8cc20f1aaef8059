"""Cosine decay (SGDR: Loshchilov and Hutter, 2017), without restarts."""

from __future__ import annotations

import numpy as np

from workbench.core.format import rate_text
from workbench.core.params import Params
from workbench.core.training.specs import Array, Code, ScheduleSpec


def _factors(values: Params, steps: Array, total: int, steps_per_epoch: int) -> Array:
    height = 0.5 * (1 + np.cos(np.pi * np.clip(steps / max(1, total), 0.0, 1.0)))
    last = values["final_share"]
    return np.asarray(last + (1 - last) * height)


SPEC = ScheduleSpec(
    key="cosine",
    title="cosine",
    name="cosine decay",
    order=40,
    uses=("final_share",),
    factors=_factors,
    warm_up_share=0.03,
    describe=lambda values, peak: f"then cosine decay to {rate_text(peak * values['final_share'])}",
    spans_training=True,
    code=lambda sources, rate, total: Code(
        "CosineDecay", (rate, total, f"alpha={sources['final_share']}")
    ),
    has_keras_warm_up=True,
)
