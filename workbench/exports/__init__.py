"""The exports, one file each: SPEC. Found by walking this folder."""

from __future__ import annotations

from functools import cache

from workbench.core.registry import Registry
from workbench.core.specs import ExportSpec


@cache
def all_exports() -> Registry[ExportSpec]:
    """Every export format by key."""
    return Registry.from_package("workbench.exports", ExportSpec)
