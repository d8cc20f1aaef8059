"""The layer types, one file each: SPEC. Found by walking this folder."""

from __future__ import annotations

from functools import cache

from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec


@cache
def all_layers() -> Registry[LayerSpec]:
    """Every layer type by key."""
    return Registry.from_package("workbench.layers", LayerSpec)
