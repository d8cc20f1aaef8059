"""The exports, one file each: SPEC. Found by walking this folder."""

from __future__ import annotations

from functools import cache

from workbench.core.registry import Registry
from workbench.core.specs import ExportSpec


@cache
def all_exports() -> Registry[ExportSpec]:
    """Every export format by key."""
    return Registry.from_package("workbench.exports", ExportSpec)


def run_exports() -> dict[str, ExportSpec]:
    """The formats that a trained run is written in."""
    return {key: spec for key, spec in all_exports().items() if spec.needs_weights}


def project_exports() -> dict[str, ExportSpec]:
    """The formats that a project is written in, trained or not."""
    return {key: spec for key, spec in all_exports().items() if not spec.needs_weights}
