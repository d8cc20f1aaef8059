"""The rules of the training coach, one file each: SPEC. Found by walking this folder.

A rule is a function of a `RunRecord` (see `workbench.core.coach`): epochs, steps, classes and what
the trainer has measured of its layers. The run's verdict is the gravest of the rules that give one
(`verdict_on`).
"""

from __future__ import annotations

from functools import cache

from workbench.core.coach import CoachSpec
from workbench.core.registry import Registry


@cache
def all_coach_rules() -> Registry[CoachSpec]:
    """Every rule by key, the gravest first."""
    return Registry.from_package("workbench.coach", CoachSpec)
