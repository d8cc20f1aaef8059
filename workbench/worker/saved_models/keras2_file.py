"""Weights in the layout of Keras 2: the `.h5` of its `save_weights`, loaded by order or by name.

Groups and attributes are those that Keras 2.15, its last version, writes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from workbench.worker.process.lazy_keras import keras

_VERSION = "2.15.0"
_MOST_BYTES = 64_512
"""What an attribute may hold: HDF5 has 64 KiB for the head of an object."""


def keras2_weights(layer: Any) -> list[Any]:
    """The variables of a layer in the order of Keras 2: trainable first."""
    return [*layer.trainable_weights, *layer.non_trainable_weights]


def write_keras2_weights(model: Any, path: Path) -> None:
    """Writes the weights of a functional Keras model without nested models."""
    import h5py

    with h5py.File(path, "w") as file:
        _write_names(file, "layer_names", [layer.name for layer in model.layers])
        file.attrs["backend"] = "tensorflow"
        file.attrs["keras_version"] = _VERSION
        for layer in model.layers:
            arrays = _arrays(layer)
            group = file.create_group(layer.name)
            _write_names(group, "weight_names", list(arrays))
            for name, array in arrays.items():
                group[name] = array
        _write_names(file.create_group("top_level_model_weights"), "weight_names", [])


def _arrays(layer: Any) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a layer as Keras 2 names and orders them."""
    renamed = {}
    if isinstance(layer, keras.layers.DepthwiseConv2D):
        renamed = {"kernel": "depthwise_kernel"}
    return {
        f"{layer.name}/{renamed.get(variable.name, variable.name)}:0": np.asarray(variable.numpy())
        for variable in keras2_weights(layer)
    }


def _write_names(group: Any, key: str, names: Sequence[str]) -> None:
    """Writes a list of names as an attribute, in parts (KEY0, KEY1, ...) where it is long."""
    array = np.array([name.encode() for name in names], "S") if names else np.zeros(0, "S1")
    each = max(1, _MOST_BYTES // array.itemsize)
    if len(array) <= each:
        group.attrs[key] = array
        return
    for number, start in enumerate(range(0, len(array), each)):
        group.attrs[f"{key}{number}"] = array[start : start + each]
