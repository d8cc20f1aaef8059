"""The section of the learning rate's schedule."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from workbench.core.params import ChoiceParam, FloatParam, IntParam
from workbench.core.training.fields.setting import choices, setting
from workbench.core.training.schedules import all_schedules

SCALINGS: Mapping[str, str] = {
    "none": "none",
    "linear": "linear",
    "square_root": "square root",
}
"""How the learning rate follows the batch: key -> its name."""

SCALES: Mapping[str, Callable[[float], float]] = {
    "none": lambda _share: 1.0,
    "linear": lambda share: share,
    "square_root": math.sqrt,
}
"""Scaling -> what a rate is multiplied with for so many times the batch it is meant for."""


def _schedule_help() -> str:
    specs = all_schedules().values()
    names = [f"{spec.text} ({spec.help})" if spec.help else spec.text for spec in specs]
    return f"Learning rate schedule: {', '.join(names[:-1])} or {names[-1]}."


def _warm_up_help() -> str:
    shares = [
        f"{spec.warm_up_share:.0%} for {spec.text}"
        for spec in all_schedules().values()
        if spec.warm_up_share
    ]
    start = "Epochs of linear warm-up to the full learning rate. Automatic share of the training: "
    return f"{start}{', '.join(shares)}, none otherwise."


@dataclass(frozen=True, kw_only=True, init=False, repr=False, eq=False)
class ScheduleFields:
    """How the learning rate changes during training."""

    SECTION: ClassVar[str] = "Schedule"

    schedule: str = setting(
        ChoiceParam, "constant", _schedule_help(), place=3, **choices(all_schedules())
    )
    warmup_epochs: float | None = setting(
        FloatParam, None, _warm_up_help(), title="Warm-up epochs", maximum=10_000.0, step=0.5
    )
    final_share: float = setting(
        FloatParam,
        0.01,
        "final learning rate as a fraction of the peak.",
        title="Final LR fraction",
        maximum=1.0,
    )
    decay_every_epochs: float = setting(
        FloatParam,
        10.0,
        "epochs per decay by the factor.",
        title="Decay every",
        is_minimum_excluded=True,
        maximum=100_000.0,
        step=1.0,
        unit="epochs",
    )
    decay_factor: float = setting(
        FloatParam,
        0.1,
        "multiplier of the learning rate at each decay.",
        is_minimum_excluded=True,
        maximum=1.0,
        step=0.05,
    )
    plateau_patience: int = setting(
        IntParam,
        5,
        "epochs without improvement before the learning rate is reduced.",
        maximum=10_000,
        unit="epochs",
    )
    rate_scaling: str = setting(
        ChoiceParam,
        "none",
        "Scales the learning rate with the global batch size. Linear: twice the batch, "
        "twice the rate (Goyal et al., 2017, for SGD). Square root suits Adam and LAMB.",
        title="LR scaling (with batch)",
        choices=tuple(SCALINGS),
        titles=SCALINGS,
    )
    rate_base_batch: int = setting(
        IntParam,
        256,
        "Batch size that the learning rate is given for.",
        title="Reference batch size",
        used_if=lambda recipe: recipe.rate_scaling != "none",
    )
