"""Gives a network the weights of another one, as far as they fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.worker.model.build import BuiltModel, finish_statistics, named_variables

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Fitting:
    """The layers with weights, by name, in the network's order.

    Attributes:
        layers: Those whose weights are all there, in their shapes.
        others: Those that the other network does not have, or in other shapes.
    """

    layers: tuple[str, ...]
    others: tuple[str, ...]


def fitting_layers(built: BuiltModel, arrays: Mapping[str, Array]) -> Fitting:
    """Which layers of a network can have some weights: array by name of layer and weight, as of
    `read_weights`.
    """
    fits = {
        layer: all(_fits(variable, arrays.get(name)) for name, variable in variables.items())
        for layer, variables in _by_layer(built).items()
    }
    others = tuple(layer for layer, is_fitting in fits.items() if not is_fitting)
    return Fitting(tuple(layer for layer in fits if layer not in others), others)


def take_weights(built: BuiltModel, arrays: Mapping[str, Array]) -> None:
    """Assigns the weights of every fitting layer; the other layers keep theirs."""
    by_layer = _by_layer(built)
    for layer in fitting_layers(built, arrays).layers:
        for name, variable in by_layer[layer].items():
            variable.assign(arrays[name])
    finish_statistics(built)


def _by_layer(built: BuiltModel) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, variable in named_variables(built).items():
        found.setdefault(name.rpartition("/")[0], {})[name] = variable
    return found


def _fits(variable: Any, array: Array | None) -> bool:
    return array is not None and array.dtype.kind in "fiu" and array.shape == tuple(variable.shape)
