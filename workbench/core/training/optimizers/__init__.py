"""The optimizers, one file each: SPEC. Found by walking this folder.

A spec names the class of Keras, or holds the source of one that Keras lacks, which training and
exported programs then share; see `OptimizerSpec`.
"""

from __future__ import annotations

from functools import cache

from workbench.core.registry import Registry
from workbench.core.training.specs import OptimizerSpec

NOT_DECAYED = ("bias", "gamma", "beta", "alpha")
"""Names of the variables that `decay_biases` leaves alone: biases, what normalizations scale
and shift with, and the slopes of PReLU."""


@cache
def all_optimizers() -> Registry[OptimizerSpec]:
    """Every optimizer by key, in the order of the form."""
    return Registry.from_package("workbench.core.training.optimizers", OptimizerSpec)
