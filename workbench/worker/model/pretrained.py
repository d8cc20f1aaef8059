"""Pretrained weights: read, checked, and given to the layers that name them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from workbench.backbones import block_of, checked_file, known_backbone
from workbench.core.network.graph import Graph, Node
from workbench.core.specs import BackboneSpec
from workbench.errors import GraphError
from workbench.runs.store.weights_file import read_arrays
from workbench.worker.foreign.foreign_weights import read_published_weights

Array = np.ndarray[Any, np.dtype[Any]]
Weights = dict[str, dict[str, Array]]
"""Array by variable ("kernel"), by layer."""


def pretrained_arrays(key: str) -> Weights:
    """All weights of a backbone in float32, by its own names of layers and variables.

    Raises:
        WeightsError: they are missing, damaged, or not those of this backbone.
    """
    spec = known_backbone(key)
    path = checked_file(spec)
    found = _bundled(path) if spec.is_bundled else _published(spec, path)
    for layer, values in block_of(spec).constants.items():
        shapes = block_of(spec).variables[layer]
        constants = {name: np.reshape(value, shapes[name]) for name, value in values.items()}
        found[layer] = {name: array.astype(np.float32) for name, array in constants.items()}
    return found


def _bundled(path: Path) -> Weights:
    found: Weights = {}
    for name, array in read_arrays(path).items():
        layer, variable = name.split("/")
        found.setdefault(layer, {})[variable] = array.astype(np.float32)
    return found


def _published(spec: BackboneSpec, path: Path) -> Weights:
    source = block_of(spec).source
    layers = [[entry.shape for entry in entries] for entries in source]
    found: Weights = {}
    for entries, arrays in zip(source, read_published_weights(path, layers), strict=True):
        for entry, array in zip(entries, arrays, strict=True):
            axis = entry.reversed_axis
            turned = array if axis is None else np.flip(array, axis)
            shape = block_of(spec).variables[entry.layer][entry.variable]
            found.setdefault(entry.layer, {})[entry.variable] = turned.reshape(shape)
    return found


def load_pretrained(graph: Graph, made: Mapping[str, Any]) -> None:
    """Gives the layers that name pretrained weights those weights; all others keep theirs.

    Args:
        graph: The network.
        made: Built Keras layers by node id.

    Raises:
        WeightsError: weights are missing or damaged.
        GraphError: weights do not fit their layer, which was changed; nothing was assigned.
    """
    nodes = [node for node in graph.nodes.values() if node.pretrained and node.id in made]
    weights = {key: pretrained_arrays(key) for key in dict.fromkeys(map(_key_of, nodes))}
    pairs = [pair for node in nodes for pair in _pairs(node, made[node.id], weights)]
    for variable, array in pairs:
        variable.assign(array)


def _key_of(node: Node) -> str:
    return node.pretrained.partition("/")[0]


def _pairs(node: Node, layer: Any, weights: Mapping[str, Weights]) -> Iterator[tuple[Any, Array]]:
    """The variables of a layer, each with its array."""
    key, _, name = node.pretrained.partition("/")
    arrays = weights[key].get(name, {})
    wanted = {variable.name: tuple(variable.shape) for variable in layer.weights}
    have = {variable: array.shape for variable, array in arrays.items()}
    if wanted != have:
        raise GraphError(
            f"The pretrained weights of “{node.name}” do not fit it any more.",
            where=node.name,
            received=f"{node.pretrained}: {_shapes_text(have)}",
            expected=_shapes_text(wanted),
            fix="Undo the change of this layer, or let it start with random weights.",
        )
    yield from ((variable, arrays[variable.name]) for variable in layer.weights)


def _shapes_text(shapes: Mapping[str, tuple[int, ...]]) -> str:
    parts = (f"{name} {' × '.join(map(str, shape))}" for name, shape in shapes.items())
    return ", ".join(parts) or "no weights"
