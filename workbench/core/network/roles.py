"""Nodes by what they are for in a network: where images come in, what runs in the input
pipeline, what gives the answer, and what computes in float32.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from workbench.core.format import list_text
from workbench.core.network.graph import Edge, Graph, Node, Training
from workbench.core.params import check_all
from workbench.core.registry import Registry
from workbench.core.specs import SOFTMAX, VALUE_CATEGORIES, LayerSpec, Role, Shape
from workbench.errors import GraphError

Layers = Registry[LayerSpec]
"""The layer types by key."""


def specs_of(layers: Layers, role: Role) -> list[LayerSpec]:
    """The layer types of a role, by key."""
    return [spec for spec in layers.values() if spec.role is role]


def has_role(node: Node, layers: Layers, role: Role) -> bool:
    """Whether a node is of a layer type of that role."""
    spec = layers.get(node.kind)
    return spec is not None and spec.role is role


def input_nodes(graph: Graph, layers: Layers) -> list[Node]:
    """The Input nodes: one, unless the network is not finished."""
    return [node for node in graph.nodes.values() if has_role(node, layers, Role.INPUT)]


def shape_params(spec: LayerSpec, shape: Shape | None) -> dict[str, Any]:
    """Parameters of a new layer: an Input has the shape of the images, where that is known."""
    is_wanted = spec.role is Role.INPUT and shape is not None and len(shape) == 3
    return {spec.params[0].key: shape} if is_wanted else {}


def input_node(graph: Graph, layers: Layers) -> Node | None:
    """The one Input; None where there is none, or more than one."""
    nodes = input_nodes(graph, layers)
    return nodes[0] if len(nodes) == 1 else None


def pipeline_nodes(graph: Graph, layers: Layers) -> tuple[str, ...]:
    """Ids of the nodes right behind Input that run in the input pipeline, in order.

    They form one unbroken chain of layers whose place is "pipeline" or "either": it ends
    at the first other layer, and where the graph branches.
    """
    start = input_node(graph, layers)
    if start is None:
        return ()
    chain: list[str] = []
    at = start.id
    while True:
        targets = graph.targets(at)
        if len(targets) != 1 or len(graph.edges_into(targets[0])) != 1:
            return tuple(chain)
        at = targets[0]
        spec = layers.get(graph.nodes[at].kind)
        if spec is None or spec.place == "model":
            return tuple(chain)
        chain.append(at)


def find_outputs(graph: Graph, layers: Layers) -> tuple[str, ...]:
    """Ids of the nodes that data from Input reaches and that feed no other node."""
    reached = {node.id for node in input_nodes(graph, layers)}
    for node_id in graph.order:
        if not reached.isdisjoint(graph.sources(node_id)):
            reached.add(node_id)
    return tuple(node for node in graph.order if node in reached and not graph.edges_from(node))


def param_value(graph: Graph, layers: Layers, node_id: str, key: str) -> Any:
    """The value of a parameter with its default; None for a parameter the node lacks."""
    node = graph.nodes[node_id]
    spec = layers.get(node.kind)
    values: Mapping[str, Any] = {} if spec is None else spec.defaults()
    return node.params.get(key, values.get(key)) if key in values else None


def ends_in_softmax(graph: Graph, layers: Layers, output: str) -> bool:
    """True when the output node gives probabilities, not logits."""
    spec = layers.get(graph.nodes[output].kind)
    if spec is None or spec.activation is None:
        return spec is not None and spec.role is Role.SOFTMAX
    return bool(param_value(graph, layers, output, spec.activation.key) == SOFTMAX)


def tail(graph: Graph, layers: Layers, output: str) -> tuple[str, ...]:
    """The output node and, before it, those that only change the values of its scores.

    From the end to the start; the last one is the layer that makes the scores.
    """
    nodes = [output]
    while True:
        spec = layers.get(graph.nodes[nodes[-1]].kind)
        sources = graph.sources(nodes[-1])
        changes_values = spec is not None and spec.category in VALUE_CATEGORIES
        if not changes_values or len(sources) != 1:
            return tuple(nodes)
        nodes.append(sources[0])


def float32_nodes(graph: Graph, layers: Layers) -> frozenset[str]:
    """Ids of the nodes that make scores and probabilities, and of those through which
    TensorFlow learns in float32 only, in a network with one output.
    """
    fragile = {
        node.id
        for node in graph.nodes.values()
        if (spec := layers.get(node.kind)) is not None
        and spec.needs_float32({**spec.defaults(), **node.params})
    }
    return frozenset({*tail(graph, layers, find_outputs(graph, layers)[0]), *fragile})


# hidden --------------------------------------------------------------------------------------
# The last hidden layer: what a network knows of an image before it chooses a class.


def last_hidden(graph: Graph, layers: Layers, has_kernel: Callable[[str], bool]) -> str | None:
    """The node whose outputs the layer that makes the scores takes; None where there is no such
    layer, or it takes more than one.

    Args:
        graph: A network without errors.
        layers: The layer types.
        has_kernel: Whether a node multiplies by weights; pooling behind it is passed over.
    """
    node = tail(graph, layers, find_outputs(graph, layers)[0])[-1]
    while True:
        sources = graph.sources(node)
        if len(sources) != 1:
            return None
        if has_kernel(node):
            return sources[0]
        node = sources[0]


# outputs -------------------------------------------------------------------------------------
# The dense layer that makes a network's scores, and how many classes it scores.


def num_outputs(graph: Graph, layers: Layers) -> int | None:
    """How many classes the network scores; None where no dense layer makes the scores of its only
    output.
    """
    node_id = _scores(graph, layers)
    if node_id is None:
        return None
    width = layers[graph.nodes[node_id].kind].width
    units: int | None = param_value(graph, layers, node_id, width)
    return units


def with_num_outputs(graph: Graph, layers: Layers, num_classes: int) -> Graph:
    """The graph with scores for so many classes; unchanged where `num_outputs` is None."""
    node_id = _scores(graph, layers)
    if node_id is None:
        return graph
    return graph.with_params(node_id, **{layers[graph.nodes[node_id].kind].width: num_classes})


def _scores(graph: Graph, layers: Layers) -> str | None:
    outputs = find_outputs(graph, layers)
    if len(outputs) != 1:
        return None
    last = tail(graph, layers, outputs[0])[-1]
    return last if has_role(graph.nodes[last], layers, Role.DENSE) else None


# augmentation --------------------------------------------------------------------------------
# The augmentation layers of a network: those of the input pipeline that change images at random.
# Pure functions from a graph to a new one.


def is_augmentation(spec: LayerSpec | None) -> bool:
    """Whether a layer type runs in the input pipeline only: it changes training images."""
    return spec is not None and spec.place == "pipeline"


def augmentation_nodes(graph: Graph, layers: Layers) -> tuple[str, ...]:
    """Ids of the augmentation layers in the order in which images go through them."""
    chain = pipeline_nodes(graph, layers)
    return tuple(key for key in chain if is_augmentation(layers.get(graph.nodes[key].kind)))


def end_of_augmentation(graph: Graph, layers: Layers) -> str:
    """The node behind which a further augmentation layer goes: the last one, or Input.

    Raises:
        GraphError: there is not exactly one Input.
    """
    start, chain = input_node(graph, layers), augmentation_nodes(graph, layers)
    if start is None:
        raise GraphError(
            "The network does not have exactly one Input layer.",
            fix="Add an Input layer; augmentation comes right behind it.",
        )
    return chain[-1] if chain else start.id


def reordered(graph: Graph, old: Sequence[str], new: Sequence[str]) -> Graph:
    """The graph with some nodes, of one input and one output each, in each other's places.

    Args:
        graph: The network.
        old: The nodes, by place.
        new: The same nodes: which is to be in each of these places.
    """
    at = dict(zip(old, new, strict=True))
    edges = (
        Edge(at.get(edge.source, edge.source), at.get(edge.target, edge.target), edge.port)
        for edge in graph.edges
    )
    nodes = dict(graph.nodes)
    for key, put in at.items():  # a group keeps its places
        nodes[put] = replace(graph.nodes[put], group=graph.nodes[key].group)
    return Graph.of(nodes.values(), edges)


# learning ------------------------------------------------------------------------------------
# Phases in which layers learn: edits of a graph, and which part of it is frozen.


def with_training(graph: Graph, node_ids: Iterable[str], training: Training) -> Graph:
    """The graph in which these layers learn in these phases."""
    return graph.with_nodes(replace(graph.nodes[key], training=training) for key in node_ids)


def learning_from(graph: Graph, node_id: str, training: Training, layers: Layers) -> Graph:
    """A layer and all behind it in its group (where it has none: in the network) learn then, the
    others of the group never.

    Layers that normalize by the batch stay frozen, so that they keep the statistics of their
    pretrained weights: https://keras.io/guides/transfer_learning, on BatchNormalization.
    """
    group = graph.nodes[node_id].group
    scope = graph.groups[group] if group else graph.order
    behind = graph.descendants(node_id) | {node_id}
    learning = {key for key in scope if key in behind and not keeps_statistics(graph, key, layers)}
    rest = [key for key in scope if key not in learning and (group or key not in behind)]
    return with_training(with_training(graph, learning, training), rest, "never")


def keeps_statistics(graph: Graph, node_id: str, layers: Layers) -> bool:
    """Whether a layer has pretrained statistics of batches that learning would overwrite."""
    node = graph.nodes[node_id]
    spec = layers.get(node.kind)
    return bool(node.pretrained or node.group) and spec is not None and spec.has_batch_statistics


def with_weights(graph: Graph, pretrained: Mapping[str, str]) -> Graph:
    """The graph in which layers start with other weights: id -> pretrained layer, "" for random
    weights.
    """
    return graph.with_nodes(
        replace(graph.nodes[key], pretrained=name) for key, name in pretrained.items()
    )


def with_random_weights(graph: Graph, node_ids: Iterable[str]) -> Graph:
    """The graph in which these layers start with random weights instead of pretrained ones."""
    return with_weights(graph, dict.fromkeys(node_ids, ""))


def frozen_part(graph: Graph, learning: Iterable[str]) -> frozenset[str]:
    """Ids of the layers before which, and in which, none of `learning` is: in training their
    outputs need no gradient.
    """
    reached = set(learning)
    for key in graph.order:
        if not reached.isdisjoint(graph.sources(key)):
            reached.add(key)
    return frozenset(graph.nodes.keys() - reached)


# text ----------------------------------------------------------------------------------------
# Nodes in messages: a layer type and its name.

MOST_NAMED = 4


def node_text(node: Node, layers: Layers) -> str:
    """A node in messages: its type and its name, e.g. Conv2D “conv_3”."""
    spec = layers.get(node.kind)
    return f"{spec.title if spec else node.kind} “{node.name}”"


def nodes_text(node_ids: Iterable[str], graph: Graph, layers: Layers) -> str:
    """Nodes in a sentence; only the first few by name where there are many."""
    ids = tuple(node_ids)
    named = ids if len(ids) <= MOST_NAMED else ids[: MOST_NAMED - 1]
    items = [node_text(graph.nodes[node_id], layers) for node_id in named]
    if len(named) < len(ids):
        items.append(f"{len(ids) - len(named)} more layers")
    return list_text(items)


def named_in(text: str, graph: Graph) -> frozenset[str]:
    """Ids of the nodes whose names are in a text, as `node_text` writes them."""
    quoted = set(re.findall("“([^”]*)”", text))
    return frozenset(key for key, node in graph.nodes.items() if node.name in quoted)


# search --------------------------------------------------------------------------------------
# Finding layers of a network by what people read on them: type, name, settings.

_SHAPE = re.compile(r"\d+(?:x\d+)+")
_TOKEN = re.compile(r"[\w.%-]+")


class NetworkSearch:
    """Searches one network after the other; keeps the words of nodes that have not changed."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._words: dict[str, tuple[Node, frozenset[str]]] = {}

    def find(self, graph: Graph, text: str) -> tuple[str, ...]:
        """Ids of the nodes that all words of a text fit, from Input to the end.

        A word fits a part of a type, a name, or a setting's name or value; a number fits only
        the same number: 3 does not find 32.
        """
        words = _tokens(text)
        if not words:
            return ()
        found = []
        for node_id in graph.order:
            known = self._words_of(graph.nodes[node_id])
            if all(_fits(word, known) for word in words):
                found.append(node_id)
        return tuple(found)

    def prepare(self, graph: Graph, limit: int) -> bool:
        """Finds the words of up to `limit` nodes more; True while others are left."""
        new = [node for node in graph.nodes.values() if not self._is_known(node)]
        for node in new[:limit]:
            self._words_of(node)
        return len(new) > limit

    def _is_known(self, node: Node) -> bool:
        kept = self._words.get(node.id)
        return kept is not None and kept[0] is node

    def _words_of(self, node: Node) -> frozenset[str]:
        kept = self._words.get(node.id)
        if kept is None or kept[0] is not node:
            words = frozenset(_node_words(node, self._layers.get(node.kind)))
            kept = self._words[node.id] = (node, words)
        return kept[1]


def _tokens(text: str) -> list[str]:
    """A text in words: "3 × 3 Relu" -> ["3x3", "relu"]; a shape is one word."""
    joined = re.sub(r"(?<=\d)\s*[×x]\s*(?=\d)", "x", text.lower())
    return _TOKEN.findall(re.sub(r"(?<=\d),(?=\d{3})", "", joined))


def _fits(word: str, known: frozenset[str]) -> bool:
    if word[0].isdigit():
        return word in known
    return any(word in each for each in known)


def _node_words(node: Node, spec: LayerSpec | None) -> Iterator[str]:
    yield from _tokens(f"{node.kind} {node.name}")
    if spec is None:
        return
    values, _ = check_all(spec.params, node.params)
    settings = (
        f"{param.title} {param.show(values[param.key])}"
        for param in spec.params
        if values[param.key] != param.default or not param.is_advanced
    )
    for word in _tokens(" ".join((spec.title, spec.describe(values), *settings))):
        yield word
        if _SHAPE.fullmatch(word):
            yield from word.split("x")
