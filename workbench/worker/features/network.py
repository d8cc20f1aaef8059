"""A network cut where its frozen part ends: the extractor before, the part that learns behind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from workbench.core.network.graph import Graph
from workbench.worker.model.build import BuiltModel, connect
from workbench.worker.model.inference_form import fast_inference
from workbench.worker.process.lazy_keras import keras


def freeze(built: BuiltModel, graph: Graph, learns: Callable[[str], bool]) -> None:
    """Switches learning off for the layers of a network that do not learn in a phase, and on for
    the others; `learns` is handed the value of `Node.training`.

    A frozen BatchNormalization normalizes by its running statistics and leaves them as they are.
    """
    for node_id, layer in built.layers.items():
        layer.trainable = learns(graph.nodes[node_id].training)


def behind(built: BuiltModel, graph: Graph, end: str) -> BuiltModel:
    """The network behind a layer, of the same Keras layers: its input is that layer's output."""
    before = graph.ancestors(end) | {end}
    output = built.layers[end].output
    start = keras.Input(shape=output.shape[1:], dtype=output.dtype, name="features")
    outputs = connect(graph, built.layers, {end: start}, before)
    last = next(key for key in reversed(graph.order) if key in outputs)  # the only output
    model = keras.Model(start, outputs[last], name="head")
    layers: Mapping[str, Any] = {
        key: layer for key, layer in built.layers.items() if key not in before
    }
    return replace(built, model=model, layers=layers, pipeline=(), outputs=outputs)


def extractor(built: BuiltModel, end: str) -> Callable[[Any], Any]:
    """Images (batch, height, width, channels), as the input pipeline gives them -> outputs of the
    layer `end`, computed in one call, with the weights of now.
    """
    return fast_inference(keras.Model(built.model.input, built.layers[end].output))
