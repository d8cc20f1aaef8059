"""Fixes that connect a layer that lacks an input, best first."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice

from workbench.core.checks import fixes
from workbench.core.checks.merges import Merge, matching_kinds, one_after_another
from workbench.core.checks.problems import Fix
from workbench.core.network.graph import Edge, Graph
from workbench.core.network.roles import Layers, ends_in_softmax, find_outputs, input_node, tail
from workbench.core.params import Params
from workbench.core.specs import Shape, ShapeProblem

_MOST_SOURCES = 2


class Connecting:
    """Finds the sources and places that suit a node which lacks an input.

    Args:
        graph: The network.
        layers: The layer types.
        shapes: Output shapes, where they are known.
        params: Checked parameters, where the layer type is known.
        target: Id of the node.
    """

    def __init__(
        self,
        graph: Graph,
        layers: Layers,
        shapes: Mapping[str, Shape],
        params: Mapping[str, Params],
        target: str,
    ) -> None:
        self._graph, self._layers, self._target = graph, layers, target
        self._shapes, self._params = shapes, params

    @cached_property
    def _head(self) -> frozenset[str]:
        return _head(self._graph, self._layers)

    def fixes(self) -> Iterator[Fix]:
        """Connect to an open end or the nearest layer that suits, or insert into a chain."""
        graph, node = self._graph, self._graph.nodes[self._target]
        start = input_node(graph, self._layers)
        if self._layers[node.kind].place == "pipeline":
            if start is not None:
                yield fixes.move_behind_input_fix(node.id, start.id, node.name)
            return
        sources = self._sources()
        if not any(self._is_open(key) for key in sources):
            yield from islice(self._insertions(), 1)
        for key in sources[:_MOST_SOURCES]:
            yield self._connect_fix(key)
        if graph.sources(node.id) and not sources:
            yield from islice(self._fitted(self._ranked(self._free())), _MOST_SOURCES)

    def _connect_fix(self, key: str) -> Fix:
        name = self._graph.nodes[key].name
        return fixes.connect_fix(key, self._target, name)

    def _fitted(self, sources: Iterable[str]) -> Iterator[Fix]:
        """Connect a source of another shape, and change a setting or insert a layer so that the
        shapes fit.
        """
        for key in sources:
            connect = self._connect_fix(key)
            graph = connect.apply(self._graph)
            kinds = [self._layers[kind] for kind in self._matching(graph)]
            merge = Merge(graph, self._layers, self._target, self._shapes, self._params, kinds)
            for fix in islice(merge.fixes() if kinds else (), 1):
                yield one_after_another(f"connect_{key}_fitted", [connect, fix])

    def _matching(self, graph: Graph) -> tuple[str, ...]:
        """The layer types that may bring the node's inputs to shapes that fit."""
        sources = graph.sources(self._target)
        if self._shapes.keys() >= set(sources):
            try:
                inputs = [self._shapes[key] for key in sources]
                self._layers[graph.nodes[self._target].kind].infer_shape(
                    self._params[self._target], inputs
                )
            except ShapeProblem as problem:
                return matching_kinds(problem.fixes)
        return ()

    def _free(self) -> list[str]:
        """The layers that may be connected without a cycle, and are not yet."""
        graph, target = self._graph, self._target
        barred = {target, *graph.descendants(target), *graph.sources(target), *self._head}
        return [key for key in graph.order if key not in barred and key in self._shapes]

    def _sources(self) -> list[str]:
        """All that can be connected as they are, best first."""
        return self._ranked(key for key in self._free() if self.suits(key))

    def _ranked(self, keys: Iterable[str]) -> list[str]:
        """Sorts layers: the same shape as the inputs that are there before others; open ends, then
        what is nearest upstream.
        """
        graph, target = self._graph, self._target
        given = {self._shapes[key] for key in graph.sources(target) if key in self._shapes}
        away = self._distances()
        late = {key: -place for place, key in enumerate(graph.order)}

        def rank(key: str) -> tuple[bool, bool, int, int]:
            is_other = bool(given) and self._shapes[key] not in given
            return is_other, not self._is_open(key), away.get(key, len(late)), late[key]

        return sorted(keys, key=rank)

    def _is_open(self, key: str) -> bool:
        return not self._graph.edges_from(key)

    def suits(self, source: str) -> bool:
        """Whether the node takes the output of another as its next input. An input whose shape
        is not known yet may become the same, if what it starts with takes that output, too.
        """
        graph, shape = self._graph, self._shapes.get(source)
        inputs = [self._shapes.get(key, shape) for key in graph.sources(self._target)]
        inputs.insert(graph.free_port(self._target), shape)
        if self._shape_for(self._target, inputs) is None:
            return False
        return all(self._shape_for(key, [shape]) is not None for key in self._loose_starts)

    @cached_property
    def _loose_starts(self) -> list[str]:
        """The layers without an input that the node's inputs start with."""
        return [
            key
            for key in self._distances()
            if key in self._params and key not in self._shapes and not self._graph.sources(key)
        ]

    def _shape_for(self, key: str, inputs: list[Shape | None]) -> Shape | None:
        """The output shape of a node for these inputs; None where they do not fit."""
        known = [shape for shape in inputs if shape is not None]
        if len(known) < len(inputs) or key not in self._params:
            return None
        try:
            return self._layers[self._graph.nodes[key].kind].infer_shape(self._params[key], known)
        except ShapeProblem:
            return None

    def _distances(self) -> dict[str, int]:
        """How many connections upstream of the node's inputs each layer is."""
        found = dict.fromkeys(self._graph.sources(self._target), 0)
        waiting = deque(found)
        while waiting:
            key = waiting.popleft()
            for source in self._graph.sources(key):
                if source not in found:
                    found[source] = found[key] + 1
                    waiting.append(source)
        return found

    def _insertions(self) -> Iterator[Fix]:
        """Connections that can take the node in, from the end of the network up."""
        graph, target = self._graph, self._target
        if graph.edges_from(target) or self._layers[graph.nodes[target].kind].max_inputs != 1:
            return
        behind = [key for key in self._head if not self._is_open(key)]
        for below in reversed(graph.order):
            for edge in graph.edges_into(below):
                if edge.source not in behind and self._can_take(edge):
                    yield _insert_into(edge, target, graph)

    def _can_take(self, edge: Edge) -> bool:
        shape = self._shape_for(self._target, [self._shapes.get(edge.source)])
        if shape is None or shape == self._shapes.get(edge.source):
            return shape is not None
        sources = self._graph.edges_into(edge.target)
        inputs = [shape if into == edge else self._shapes.get(into.source) for into in sources]
        return self._shape_for(edge.target, inputs) is not None


def continuing_fixes(
    graph: Graph,
    layers: Layers,
    shapes: Mapping[str, Shape],
    params: Mapping[str, Params],
    end: str,
) -> Iterator[Fix]:
    """Connect an end to the first layers that lack an input: what was cut apart is joined again."""
    return islice(_continuing(graph, layers, shapes, params, end), _MOST_SOURCES)


def _continuing(
    graph: Graph,
    layers: Layers,
    shapes: Mapping[str, Shape],
    params: Mapping[str, Params],
    end: str,
) -> Iterator[Fix]:
    for key, node in graph.nodes.items():
        spec, sources = layers.get(node.kind), graph.sources(key)
        if spec is None or spec.place == "pipeline" or len(sources) >= spec.min_inputs:
            continue
        is_free = end not in {key, *sources, *graph.descendants(key)}
        is_free = is_free and key not in graph.descendants(end)
        if is_free and Connecting(graph, layers, shapes, params, key).suits(end):
            yield fixes.connect_fix(end, key, node.name)


def _head(graph: Graph, layers: Layers) -> frozenset[str]:
    """The layers that make the probabilities: nothing is to follow them."""
    ends = [key for key in find_outputs(graph, layers) if ends_in_softmax(graph, layers, key)]
    making = [key for key in graph.nodes if ends_in_softmax(graph, layers, key)]
    return frozenset(making).union(*(tail(graph, layers, end) for end in ends))


def _insert_into(edge: Edge, node_id: str, graph: Graph) -> Fix:
    above, below = graph.nodes[edge.source].name, graph.nodes[edge.target].name

    def change(graph: Graph) -> Graph:
        if edge not in graph.edges or node_id not in graph.nodes:
            return graph
        graph = graph.without_edge(edge).with_edge(Edge(edge.source, node_id))
        return graph.with_edge(Edge(node_id, edge.target, edge.port))

    return Fix("insert_between", f"Insert between “{above}” and “{below}”", change)
