"""What the schedules that are multiplied by a factor every few epochs share."""

from __future__ import annotations

from workbench.core.format import epochs_text
from workbench.core.params import Params
from workbench.core.training.specs import Array, Code, Sources

USES = ("decay_every_epochs", "decay_factor")


def decay(values: Params, steps: Array, steps_per_epoch: int) -> Array:
    """How many times the rate is multiplied by the factor, by step."""
    # Multiplied before divided: whole epochs come out as whole numbers.
    decays: Array = steps / (values["decay_every_epochs"] * max(1, steps_per_epoch))
    return decays


def decay_text(values: Params) -> str:
    """The factor and how often: × 0.1 every 10 epochs."""
    return f"× {values['decay_factor']:g} every {epochs_text(values['decay_every_epochs'])}"


def decay_code(sources: Sources, rate: str, *more: str) -> Code:
    """Keras's class, with further arguments."""
    every = f"{sources['decay_every_epochs']} * steps"
    return Code("ExponentialDecay", (rate, every, sources["decay_factor"], *more))
