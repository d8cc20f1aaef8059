"""The settings, one file each: SPEC. Found by walking this folder.

The dialog, the file and its checks follow from the spec.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from workbench.core.registry import Registry
from workbench.settings.spec import SettingSpec


@cache
def all_settings() -> Registry[SettingSpec[Any]]:
    """Every setting by key, in the order of the dialog."""
    return Registry.from_package("workbench.settings.options", SettingSpec)
