"""The layer types, one file each: SPEC. Found by walking this folder."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec


@cache
def all_layers() -> Registry[LayerSpec]:
    """Every layer type by key."""
    return Registry.from_package("workbench.layers", LayerSpec)


@cache
def layers_by_title() -> Mapping[str, LayerSpec]:
    """Every layer type by the name of Keras's class."""
    return {spec.title: spec for spec in all_layers().values()}
