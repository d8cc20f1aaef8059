"""The panels of the views, one file each: SPEC. Found by walking this folder.

A file imports the code of its panel inside `make`, as views do, so that the code is loaded when the
view is shown. Panels import neither their view nor each other: what those of a view share is the
view's state, which is handed to them.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from workbench.core.registry import Registry
from workbench.gui.common.view_spec import PanelSpec


@cache
def all_panels() -> Registry[PanelSpec[Any]]:
    """Every panel by key."""
    return Registry.from_package("workbench.gui.panels", PanelSpec)


def panels_of(view: str) -> list[PanelSpec[Any]]:
    """The panels of a view, in their order."""
    return [spec for spec in all_panels().values() if spec.view == view]
