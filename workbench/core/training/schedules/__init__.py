"""The learning-rate schedules, one file each: SPEC. Found by walking this folder.

A spec has the factors of the peak rate over the steps (`ScheduleSpec`); warm-up and peak rate are
added in `core.training.learning_rates`.
"""

from __future__ import annotations

from functools import cache

from workbench.core.registry import Registry
from workbench.core.training.specs import ScheduleSpec


@cache
def all_schedules() -> Registry[ScheduleSpec]:
    """Every schedule by key, in the order of the form."""
    return Registry.from_package("workbench.core.training.schedules", ScheduleSpec)
