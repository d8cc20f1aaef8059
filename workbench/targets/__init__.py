"""The targets, one file each: SPEC. Found by walking this folder."""

from __future__ import annotations

from functools import cache

from workbench.core.registry import Registry
from workbench.core.specs import TargetSpec


@cache
def all_targets() -> Registry[TargetSpec]:
    """Every place to train on by key."""
    return Registry.from_package("workbench.targets", TargetSpec)


def target_title(key: str) -> str:
    """A target's name for people; the key of one that is no longer known."""
    spec = all_targets().get(key)
    return spec.title if spec is not None else key
