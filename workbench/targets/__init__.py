"""The targets, one file each: SPEC. Found by walking this folder."""

from __future__ import annotations

from functools import cache

from workbench.core.registry import Registry
from workbench.core.specs import TargetSpec


@cache
def all_targets() -> Registry[TargetSpec]:
    """Every place to train on by key."""
    return Registry.from_package("workbench.targets", TargetSpec)
