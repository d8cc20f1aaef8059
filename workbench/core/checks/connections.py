"""Fixes that connect a layer that lacks an input, best first."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import islice
from typing import Any

from workbench.core.checks import fixes
from workbench.core.checks.fixes import insert_fix
from workbench.core.checks.problems import Fix
from workbench.core.format import list_text
from workbench.core.network.graph import Edge, Graph
from workbench.core.network.roles import Layers, ends_in_softmax, find_outputs, input_node, tail
from workbench.core.params import Params
from workbench.core.specs import LayerSpec, Shape, ShapeProblem

# merges --------------------------------------------------------------------------------------
# How the inputs of a merge layer can be brought to shapes that fit: fixes, best first.
#
# What changes is a branch: the layers that lead to one input of the merge and to no other.

_LONGEST_BRANCH = 12
"""Layers of a branch that are checked: what is further up has little to do with the merge."""

_MATCH = "match_inputs:"

Changes = Mapping[str, Mapping[str, Any]]
"""Node id -> values of its parameters."""


@dataclass(frozen=True)
class Merge:
    """A merge layer whose inputs do not fit.

    Attributes:
        graph: The network.
        layers: The layer types.
        node: Id of the merge layer.
        shapes: Output shapes by node id.
        params: Checked parameters by node id.
        projecting: Layer types of which one may be inserted, best first.
    """

    graph: Graph
    layers: Layers
    node: str
    shapes: Mapping[str, Shape]
    params: Mapping[str, Params]
    projecting: Sequence[LayerSpec]

    def fixes(self) -> Iterator[Fix]:
        """Yields other settings of the layers of a branch, then a layer inserted into one."""
        branches = sorted(range(len(self._inputs)), key=lambda port: -len(self._branch(port)))
        for port in branches:
            yield from self._same_everywhere(port)
        for port in branches:
            yield from islice(self._settings(port), 2)
        # The shortest branch is the shortcut.
        yield from islice((fix for port in reversed(branches) for fix in self._insertions(port)), 1)

    @property
    def _inputs(self) -> list[Shape]:
        return [self.shapes[source] for source in self.graph.sources(self.node)]

    def _branch(self, port: int) -> list[str]:
        """The layers that lead only to this input, from the merge up."""
        sources = self.graph.sources(self.node)
        shared: set[str] = set()
        for other in (*sources[:port], *sources[port + 1 :]):
            shared |= self.graph.ancestors(other) | {other}
        branch: list[str] = []
        at = sources[port]
        while at not in shared and len(branch) < _LONGEST_BRANCH:
            branch.append(at)
            if len(self.graph.sources(at)) != 1:
                break
            at = self.graph.sources(at)[0]
        return branch

    def _wanted(self, port: int) -> list[Shape]:
        """Shapes of the other inputs."""
        inputs = self._inputs
        others = dict.fromkeys((*inputs[:port], *inputs[port + 1 :]))
        return [shape for shape in others if shape != inputs[port]]

    def _settings(self, port: int) -> Iterator[Fix]:
        """One layer of a branch with other settings, the nearest to the merge first."""
        for key in self._branch(port):
            for values in self._refits(key, port):
                if self._fits(port, {key: values}):
                    yield self._set_fix({key: values})

    def _refits(self, key: str, port: int) -> Iterator[Mapping[str, Any]]:
        spec = self.layers[self.graph.nodes[key].kind]
        for wanted in self._wanted(port):
            yield from spec.refits(self.params[key], self.shapes[key], wanted)

    def _same_everywhere(self, port: int) -> Iterator[Fix]:
        """All layers of a branch with the first other setting that they share, where it takes
        all of them; and with that, a layer inserted on the shortcut.
        """
        firsts = [
            (key, values)
            for key in self._branch(port)
            if (values := next(iter(self._refits(key, port)), None)) is not None
        ]
        alike = {key: values for key, values in firsts if values == firsts[0][1]}
        if len(alike) < 2 or any(self._fits(port, {key: alike[key]}) for key in alike):
            return
        if self._fits(port, alike):
            yield self._set_fix(alike)
        elif (shape := self._shape_with(port, alike)) is not None:
            yield from self._set_and_insert(port, alike, shape)

    def _set_and_insert(self, port: int, changes: Changes, shape: Shape) -> Iterator[Fix]:
        first = self._set_fix(changes)
        for other, given in enumerate(self._inputs):
            found = None if other == port else self._projected(other, given, shape)
            if found is not None:
                yield one_after_another("set_and_insert", [first, found])
                return

    def _insertions(self, port: int) -> Iterator[Fix]:
        """One layer at an input, or where several differ from this one, one at each of them."""
        inputs = self._inputs
        for wanted in self._wanted(port):
            found = self._projected(port, inputs[port], wanted)
            if found is not None and self._is_right({port: wanted}):
                yield found
        others = {at: shape for at, shape in enumerate(inputs) if shape != inputs[port]}
        made = [self._projected(at, shape, inputs[port]) for at, shape in others.items()]
        found_all = [fix for fix in made if fix is not None]
        if len(others) > 1 and len(found_all) == len(others):
            yield one_after_another("insert_all", found_all)

    def _projected(self, port: int, shape: Shape, wanted: Shape) -> Fix | None:
        """A layer at an input that brings it from one shape to another."""
        edge = self.graph.edges_into(self.node)[port]
        for spec in self.projecting:
            values = spec.projection(shape, wanted)
            if values is not None:
                settings = spec.describe({**spec.defaults(), **values})
                name = self.graph.nodes[edge.source].name
                more = f" ({settings})" if settings else ""
                title = f"Insert {spec.title}{more} after “{name}”"
                return insert_fix(
                    self.node, spec.key, self.layers, params=values, port=edge.port, title=title
                )
        return None

    def _set_fix(self, changes: Changes) -> Fix:
        nodes = self.graph.nodes
        key = next(iter(changes))
        names = [f"“{nodes[node].name}”" for node in reversed(list(changes))]
        titles = {param.key: param for param in self.layers[nodes[key].kind].params}
        parts = [
            (titles[name].title.lower(), titles[name].show(value))
            for name, value in changes[key].items()
        ]
        first, *more = parts
        words = f"Set {first[0]} of {list_text(names)} to {first[1]}"
        words += "".join(f" and {title} to {value}" for title, value in more)
        return Fix("_".join(["set", *changes[key]]), words, partial(_set_all, changes))

    def _fits(self, port: int, changes: Changes) -> bool:
        shape = self._shape_with(port, changes)
        return shape is not None and self._is_right({port: shape})

    def _is_right(self, replaced: Mapping[int, Shape]) -> bool:
        """Whether the merge takes its inputs with some of them replaced."""
        inputs = [replaced.get(port, shape) for port, shape in enumerate(self._inputs)]
        return self._shape_of(self.node, {}, inputs) is not None

    def _shape_with(self, port: int, changes: Changes) -> Shape | None:
        """The shape at an input after these changes of its branch."""
        shapes: dict[str, Shape] = {}
        branch = self._branch(port)
        for key in reversed(branch):
            sources = self.graph.sources(key)
            inputs = [shapes.get(source, self.shapes[source]) for source in sources]
            shape = self._shape_of(key, changes.get(key, {}), inputs)
            if shape is None:
                return None
            shapes[key] = shape
        return shapes.get(branch[0]) if branch else None

    def _shape_of(
        self, key: str, values: Mapping[str, Any], inputs: Sequence[Shape]
    ) -> Shape | None:
        spec = self.layers[self.graph.nodes[key].kind]
        try:
            return spec.infer_shape({**self.params[key], **values}, inputs)
        except ShapeProblem:
            return None


def matching_kinds(keys: Sequence[str]) -> tuple[str, ...]:
    """The layer types that a merge's ShapeProblem names as "match_inputs:<kind>,<kind>" in its
    fixes: one may be inserted at an input, the best first.
    """
    named = (key.removeprefix(_MATCH).split(",") for key in keys if key.startswith(_MATCH))
    return tuple(kind for kinds in named for kind in kinds)


def one_after_another(key: str, steps: Sequence[Fix]) -> Fix:
    """A fix that applies several in order, with their titles as one."""
    first, *more = (step.title for step in steps)
    title = list_text([first, *(words[0].lower() + words[1:] for words in more)])
    return Fix(key, title, lambda graph: reduce(lambda done, step: step.apply(done), steps, graph))


def _set_all(changes: Changes, graph: Graph) -> Graph:
    for key, values in changes.items():
        if key in graph.nodes:
            graph = graph.with_params(key, **values)
    return graph


# connections ---------------------------------------------------------------------------------

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
