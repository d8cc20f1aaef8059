"""Where Keras keeps each variable in a `.weights.h5` file, learned from Keras itself.

The names in such a file ("layers/conv2d_1/vars/0") follow rules of the Keras version that
writes it. Instead of repeating those rules, the model is saved once to a scratch file in
which every variable is replaced by a number of its own; the file then shows which path
holds which variable.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from workbench.worker.foreign.foreign_weights import WeightsLayout
from workbench.worker.foreign.keras2_layers import Expected, Layer
from workbench.worker.model.build import BuiltModel, named_variables
from workbench.worker.saved_models.keras2_file import keras2_weights


def weights_layout(built: BuiltModel) -> WeightsLayout:
    """What a `.weights.h5` file of this network, built with `whole=True`, holds, and where."""
    paths = _paths(built)
    arrays = {
        id(variable): _array(key, variable) for key, variable in named_variables(built).items()
    }
    expected = {paths[number]: array for number, array in arrays.items()}
    layers = [
        Layer(layer.name, tuple(arrays[id(variable)] for variable in keras2_weights(layer)))
        for layer in built.model.layers
        if layer.weights
    ]
    return WeightsLayout(expected, frozenset(paths.values()), layers)


def _array(key: str, variable: Any) -> Expected:
    return Expected(key, tuple(int(length) for length in variable.shape), str(variable.dtype))


def _paths(built: BuiltModel) -> dict[int, str]:
    """The id of each variable -> its path in a weights file."""
    marked: list[Any] = []
    layers = list(built.model.layers)
    for layer in layers:
        layer.save_own_variables = _marking(layer.save_own_variables, marked)
    try:
        with tempfile.TemporaryDirectory(prefix="workbench-layout-") as folder:
            scratch = Path(folder) / "scratch.weights.h5"
            built.model.save_weights(scratch)
            numbers = _scalars(scratch)
    finally:
        for layer in layers:
            del layer.save_own_variables
    return {id(marked[number]): path for path, number in numbers.items()}


def _marking(save_own_variables: Any, marked: list[Any]) -> Any:
    """A stand-in for a layer's own method that stores a running number for each variable."""

    def save(store: Any) -> None:
        variables: dict[str, Any] = {}
        save_own_variables(variables)
        for key, variable in variables.items():
            store[key] = np.int32(len(marked))
            marked.append(variable)

    return save


def _scalars(path: Path) -> dict[str, int]:
    """The numbers stored in our own scratch file, by path."""
    import h5py

    found: dict[str, int] = {}

    def take(name: str, place: Any) -> None:
        if isinstance(place, h5py.Dataset) and place.shape == () and place.dtype == np.int32:
            found[name] = int(place[()])

    with h5py.File(path, "r") as file:
        file.visititems(take)
    return found
