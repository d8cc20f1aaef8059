"""Puts the resources into a wheel; an editable installation reads them where they are."""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class Resources(BuildHookInterface[Any]):
    """Called before each build of a wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Hatchling's own: `version` is "standard" or "editable"."""
        if version == "standard":
            build_data["force_include"]["resources"] = "workbench/_resources"
