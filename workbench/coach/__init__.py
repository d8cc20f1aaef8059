"""The rules of the training coach, one file each: SPEC. Found by walking this folder."""

from __future__ import annotations

from functools import cache

from workbench.core.coach.advice import CoachSpec
from workbench.core.registry import Registry


@cache
def all_coach_rules() -> Registry[CoachSpec]:
    """Every rule by key, the gravest first."""
    return Registry.from_package("workbench.coach", CoachSpec)
