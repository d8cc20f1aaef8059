"""Where images to classify come from, one file each: SPEC. Found by walking this folder.

Button or menu entry, help and cancel follow from the spec. A source brings images into files and
hands those to the view's state: what has no file gets one before it is sent to the worker. Sources
never import each other.
"""

from __future__ import annotations

from functools import cache

from workbench.core.registry import Registry
from workbench.gui.classify.picture_source import SourceSpec


@cache
def all_sources() -> Registry[SourceSpec]:
    """Every source by key."""
    return Registry.from_package("workbench.gui.classify.sources", SourceSpec)
