"""The sections of a report, one file each: SPEC. Found by walking this folder."""

from __future__ import annotations

from functools import cache

from workbench.core.registry import Registry
from workbench.report.facts import SectionSpec


@cache
def all_sections() -> Registry[SectionSpec]:
    """Every section by key, in the order of the report."""
    return Registry.from_package("workbench.report.sections", SectionSpec)
