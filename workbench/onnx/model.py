"""Conversion of a network and its weights to an ONNX model of uint8 images."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from workbench.core.checks.shapes import Propagation
from workbench.core.checks.structure import check_inputs, check_outputs
from workbench.core.network.graph import Graph, Node, keras_names
from workbench.core.network.roles import Layers, ends_in_softmax, find_outputs
from workbench.core.specs.layer import Array, OnnxValue, Shape
from workbench.errors import GraphError, WeightsError
from workbench.onnx import protobuf
from workbench.onnx.writer import OnnxWriter, WrittenLayer

OPSET = 17
IMAGES, SCORES, HIDDEN = "images", "scores", "hidden"
"""Names of the model's input and outputs."""

_BATCH = "n"
_HEAD_BYTES = 4096
"""Room for what is in a model beside the parts of its graph."""


def onnx_model(
    graph: Graph,
    layers: Layers,
    weights: Mapping[str, Array],
    *,
    hidden: str | None = None,
    more: Mapping[str, str] = MappingProxyType({}),
    as_logits: bool = False,
) -> bytes:
    """The whole network, preprocessing inside, what only training does left out.

    Args:
        graph: A network without errors.
        layers: The layer types.
        weights: By "layer/weight", as `runs.store.weights_file` keeps them.
        hidden: A node whose outputs are wanted too: of feature maps the mean over their places.
        as_logits: The scores are those before a softmax at the end, where the network has one.
        more: Other nodes whose outputs are wanted too, flat, by the names of these outputs.

    Returns:
        A model of `images`, uint8 (n, height, width, channels), for `scores`, float32 (n, classes),
        and for `hidden` and `more`, float32 (n, d).

    Raises:
        GraphError: the network has errors or a layer that has no rule, or would be longer than an
            ONNX file can be.
        WeightsError: a weight is missing, or a layer has more or fewer numbers than it should.
    """
    known = Propagation(graph, layers)
    _refuse_errors(graph, layers, known)
    output = find_outputs(graph, layers)[0]
    writer = OnnxWriter()
    _refuse_misfits(graph, layers, known, weights)
    values = _written(writer, graph, layers, known, weights)
    scores = values[output]
    if as_logits and ends_in_softmax(graph, layers, output):
        scores = replace(scores, name=writer.before_softmax(scores.name))
    means = {} if hidden is None else {HIDDEN: _mean_over_places(writer, values[hidden])}
    ends = {SCORES: scores, **means, **{name: values[node] for name, node in more.items()}}
    return _model(writer, known.shapes[next(iter(graph.order))], ends)


def _written(
    writer: OnnxWriter,
    graph: Graph,
    layers: Layers,
    known: Propagation,
    weights: Mapping[str, Array],
) -> dict[str, OnnxValue]:
    """The output of each node."""
    values: dict[str, OnnxValue] = {}
    names = keras_names(graph)
    for node in graph.order:
        write = layers[graph.nodes[node].kind].onnx
        if write is None:
            raise _no_rule(graph.nodes[node])
        shape = known.shapes[node]
        sources = [values[source] for source in graph.sources(node)]
        inputs = sources or [OnnxValue(IMAGES, shape)]
        layer = WrittenLayer(writer, known.params[node], inputs, shape, weights, names[node])
        values[node] = write(layer)
    return values


def _mean_over_places(writer: OnnxWriter, value: OnnxValue) -> OnnxValue:
    rank = len(value.shape)
    if rank == 1:
        return value
    first = 2 if value.is_channels_first else 1
    places = list(range(first, first + rank - 1))
    name = writer.op("ReduceMean", value.name, axes=places, keepdims=0)
    return OnnxValue(name, value.shape[-1:])


def _refuse_errors(graph: Graph, layers: Layers, known: Propagation) -> None:
    ports = (*check_inputs(graph, layers, None), *check_outputs(graph, layers, known))
    for problem in (*known.problems, *ports):
        if problem.stops_training:
            message = f"The network cannot be written in ONNX: {problem.message}"
            raise GraphError(message, where=problem.title)


def _refuse_misfits(
    graph: Graph, layers: Layers, known: Propagation, weights: Mapping[str, Array]
) -> None:
    """Fewer numbers than a layer has could be repeated unnoticed."""
    sizes: Counter[str] = Counter()
    for key, array in weights.items():
        sizes[key.rpartition("/")[0]] += array.size
    for node, name in keras_names(graph).items():
        count = layers[graph.nodes[node].kind].count_params
        wanted = count(known.params[node], known.inputs[node]).total
        if sizes[name] != wanted:
            raise WeightsError(
                "These weights do not fit this network.",
                where=name,
                received=f"{sizes[name]:,} numbers",
                expected=f"{wanted:,}",
            )


def _no_rule(node: Node) -> GraphError:
    return GraphError("This layer cannot be written in ONNX.", where=node.name, received=node.kind)


def _model(writer: OnnxWriter, picture: Shape, ends: Mapping[str, OnnxValue]) -> bytes:
    ports = []
    for name, value in ends.items():
        flat = writer.last(value)
        if len(value.shape) > 1:
            flat = writer.op("Flatten", flat, axis=1)
        writer.name(flat, name)
        ports.append(protobuf.port(name, "float32", [_BATCH, math.prod(value.shape)]))
    images = protobuf.port(IMAGES, "uint8", [_BATCH, *picture])
    if sum(map(len, writer.parts)) > protobuf.MAX_BYTES - _HEAD_BYTES:
        raise GraphError("The network is too large for an ONNX file.", expected="at most 2 GB")
    return protobuf.model(writer.parts, [images], ports, OPSET)
