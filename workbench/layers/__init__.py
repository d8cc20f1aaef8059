"""The layer types, one file each: SPEC. Found by walking this folder.

A spec has the parameters, shapes, costs and checks of a layer, how it is made with the Keras that
it is handed, and its rule for ONNX (`LayerSpec.onnx`), which tests compare with Keras for every
value of its parameters. A run with a layer without that rule needs TensorFlow to classify. Modules
whose names begin with "_" are shared code.
"""

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
