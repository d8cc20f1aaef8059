"""The outputs of a network's last hidden layer beside its scores."""

from __future__ import annotations

from typing import Any

from workbench.core.network.graph import Graph
from workbench.core.network.hidden import last_hidden
from workbench.layers import all_layers
from workbench.worker.model.build import BuiltModel, connect
from workbench.worker.process.lazy_keras import keras, tf


def hidden_node(built: BuiltModel, graph: Graph) -> str | None:
    """The last hidden layer; None where the scores are not those of one layer."""
    return last_hidden(graph, all_layers(), lambda node: _has_kernel(built.layers.get(node)))


def _has_kernel(layer: Any) -> bool:
    return layer is not None and any(len(weight.shape) > 1 for weight in layer.weights)


def with_hidden(built: BuiltModel, hidden: str) -> Any:
    """A Keras model that gives (scores (n, classes), outputs of the node `hidden`)."""
    # What the input pipeline has done to an image is what the model begins with.
    on_host = {node for node, _ in built.pipeline}
    inside = built.layers.get(hidden) if hidden not in on_host else None
    output = built.model.input if inside is None else inside.output
    return keras.Model(built.model.input, [built.model.output, output], name="with_hidden")


def head_with_hidden(built: BuiltModel, graph: Graph, end: str, hidden: str) -> Any | None:
    """A Keras model as of `with_hidden` that takes the outputs of the layer `end`; None where the
    last hidden layer is before that.
    """
    before = graph.ancestors(end) | {end}
    output = built.layers[end].output
    start = keras.Input(shape=output.shape[1:], dtype=output.dtype)
    tensors = {end: start, **connect(graph, built.layers, {end: start}, before)}
    if hidden not in tensors:
        return None
    last = next(key for key in reversed(graph.order) if key in tensors)  # the only output
    return keras.Model(start, [tensors[last], tensors[hidden]], name="head_with_hidden")


def flat_hidden(output: Any) -> Any:
    """Hidden outputs as float32 (n, d): of feature maps the mean over their places."""
    values = tf.cast(output, tf.float32)
    between = list(range(1, len(values.shape) - 1))
    return tf.reduce_mean(values, axis=between) if between else values
