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


def training_exports() -> dict[str, ExportSpec]:
    """The programs that train a project elsewhere, and write results to import here."""
    return {key: spec for key, spec in all_exports().items() if not spec.needs_weights}


def untrained_exports() -> dict[str, ExportSpec]:
    """The formats of a run that a project is written in as well, without weights."""
    return {key: spec for key, spec in all_exports().items() if spec.write_project is not None}
