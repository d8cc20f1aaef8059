"""A constant rate that is reduced when the monitored metric stops improving."""

from __future__ import annotations

import numpy as np

from workbench.core.training.specs import ScheduleSpec

SPEC = ScheduleSpec(
    key="plateau",
    title="on plateau",
    name="reduce on plateau",
    help="when the monitored metric stops improving",
    order=60,
    uses=("decay_factor", "plateau_patience"),
    factors=lambda values, steps, total, steps_per_epoch: np.ones_like(steps),
    describe=lambda values, peak: (
        f"then × {values['decay_factor']:g} after each {values['plateau_patience']} epochs "
        "without improvement"
    ),
    first_decay=lambda values: float(values["plateau_patience"]),
    follows_metric=True,
    code=None,
)
