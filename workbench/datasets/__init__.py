"""The datasets, one file each: SPEC. Found by walking this folder."""

from __future__ import annotations

from functools import cache

from workbench.core.registry import Registry
from workbench.core.specs import DatasetSpec


@cache
def all_datasets() -> Registry[DatasetSpec]:
    """Every dataset source by key."""
    return Registry.from_package("workbench.datasets", DatasetSpec)
