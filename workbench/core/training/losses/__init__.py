"""The losses, one file each: SPEC. Found by walking this folder.

A spec has the loss of each image, and the same as source for exported programs; see `LossSpec`.
"""

from __future__ import annotations

from functools import cache

from workbench.core.registry import Registry
from workbench.core.training.specs import LossSpec


@cache
def all_losses() -> Registry[LossSpec]:
    """Every loss by key, in the order of the form."""
    return Registry.from_package("workbench.core.training.losses", LossSpec)
