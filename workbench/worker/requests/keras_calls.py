"""A network as Keras calls, for the programs that are exported."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Graph, Node
from workbench.core.network.names import keras_names
from workbench.core.params import check_all
from workbench.core.specs import LayerSpec, Role
from workbench.layers import all_layers
from workbench.worker.model.build import build_model
from workbench.worker.process.lazy_keras import keras


@dataclass(frozen=True)
class KerasCall:
    """One layer, of a unique name, as the call that creates it.

    Attributes:
        required: The arguments that have no default, in Keras's order.
        arguments: Other arguments that differ from Keras's own defaults.
        inputs: Names of the layers it is called on.
        is_tuned: Its weights learn in the fine-tuning phase alone.
    """

    name: str
    spec: LayerSpec
    required: Mapping[str, Any]
    arguments: Mapping[str, Any]
    inputs: tuple[str, ...]
    is_tuned: bool = False


def keras_calls(graph: Graph) -> list[KerasCall]:
    """The network as Keras calls in order, without arguments that Keras chooses itself."""
    layers, names = all_layers(), keras_names(graph)
    found = Propagation(graph, layers)
    calls = []
    for node_id in graph.order:
        node = graph.nodes[node_id]
        spec = layers[node.kind]
        params, _ = check_all(spec.params, node.params)
        inputs = tuple(names[source] for source in graph.sources(node_id))
        frozen = {"trainable": False} if _is_frozen(node, spec, found) else {}
        arguments = _non_default_arguments(spec, {**spec.keras_arguments(params), **frozen})
        is_tuned = bool(frozen) and node.training == "fine_tuning"
        calls.append(KerasCall(names[node_id], spec, *arguments, inputs, is_tuned))
    return calls


def _is_frozen(node: Node, spec: LayerSpec, found: Propagation) -> bool:
    """Whether a layer has weights that do not learn from the start."""
    if node.training == "always" or node.id not in found.inputs:
        return False
    return spec.count_params(found.params[node.id], found.inputs[node.id]).total > 0


def initial_model(graph: Graph, seed: int) -> Any:
    """The whole network as a training by a recipe of that seed starts with it, here and in a
    program: with pretrained weights where layers name them, random ones elsewhere. Raises
    WeightsError where weights are missing.
    """
    return build_model(graph, all_layers(), whole=True, seed=seed).model


def weights_bytes(model: Any) -> bytes:
    """The weights of a Keras model as a `.weights.h5` file."""
    with tempfile.TemporaryDirectory(prefix="workbench-export-") as folder:
        path = Path(folder) / "initial.weights.h5"
        model.save_weights(path)
        return path.read_bytes()


def _non_default_arguments(
    spec: LayerSpec, arguments: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Splits arguments into those Keras requires and those that differ from its defaults."""
    if spec.role is Role.INPUT:
        return {}, {}
    chosen = inspect.signature(getattr(keras.layers, spec.title).__init__).parameters
    required = [key for key, p in chosen.items() if p.default is p.empty and key in arguments]
    optional = {}
    for key, value in arguments.items():
        default = chosen[key].default if key in chosen else inspect.Parameter.empty
        is_same = value == default or (value == "linear" and default is None)
        if key not in required and (
            not is_same or isinstance(value, bool) != isinstance(default, bool)
        ):
            optional[key] = value
    return {key: arguments[key] for key in required}, optional
