"""The views of the window, one file each: SPEC. Found by walking this folder.

A view is handed `WindowServices`, never the window. A file imports the code of its view inside
`load`: the plots of Train, say, cost nothing to who only draws a network.
"""

from __future__ import annotations

from functools import cache

from workbench.core.registry import Registry
from workbench.gui.common.view_spec import ViewSpec


@cache
def all_views() -> Registry[ViewSpec]:
    """Every view by key, in the order of the switch."""
    return Registry.from_package("workbench.gui.views", ViewSpec)


def project_views() -> tuple[ViewSpec, ...]:
    """The views of a project, in the order of the switch."""
    return tuple(spec for spec in all_views().values() if not spec.is_start)
