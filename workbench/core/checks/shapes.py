"""Shape inference: the shape at every node of a graph, or the reason in words why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from workbench.core.checks import fixes
from workbench.core.checks.connections import Connecting, Merge, matching_kinds
from workbench.core.checks.problems import Fix, Problem
from workbench.core.format import list_text, shape_text
from workbench.core.network.graph import Graph, Node
from workbench.core.network.roles import Layers, input_node, node_text
from workbench.core.params import check_all
from workbench.core.specs import LayerSpec, Shape, ShapeProblem
from workbench.errors import ParamError


class Propagation:
    """The shape at every node of a graph where it can be known; never raises for a wrong graph.

    Attributes:
        shapes: Output shape by node id; nodes whose shape cannot be known are missing.
        inputs: Input shapes in the order of the ports; only where all are known.
        params: Checked parameter values by node id, with defaults for missing and wrong ones.
        problems: What is wrong at the nodes, in the order of the graph.
        kept: Nodes that are taken over from `known`: those that are the same there, with the
            same inputs, and have no problem.

    Args:
        pictures: The shape that a new Input would get, where that is known.
    """

    def __init__(
        self,
        graph: Graph,
        layers: Layers,
        known: Propagation | None = None,
        *,
        pictures: Shape | None = None,
    ) -> None:
        self._graph = graph
        self._layers = layers
        self._known = known
        self._pictures = pictures
        self.shapes: dict[str, Shape] = {}
        self.inputs: dict[str, tuple[Shape, ...]] = {}
        self.params: dict[str, Mapping[str, Any]] = {}
        self.problems: list[Problem] = []
        self.kept: set[str] = set()
        self._sound: set[str] = set()
        for node_id in graph.order:
            self._visit(graph.nodes[node_id])

    def _visit(self, node: Node) -> None:
        if self._known is not None and self._keep(node, self._known):
            return
        count = len(self.problems)
        self._work_out(node)
        if len(self.problems) == count and node.id in self.shapes:
            self._sound.add(node.id)

    def _keep(self, node: Node, known: Propagation) -> bool:
        """Takes a node over that is sound there and the same here."""
        if node.id not in known._sound or known._graph.nodes[node.id] is not node:
            return False
        inputs = tuple(self.shapes.get(source) for source in self._graph.sources(node.id))
        if inputs != known.inputs[node.id]:
            return False
        self.params[node.id], self.inputs[node.id] = known.params[node.id], known.inputs[node.id]
        self.shapes[node.id] = known.shapes[node.id]
        self.kept.add(node.id)
        self._sound.add(node.id)
        return True

    def _work_out(self, node: Node) -> None:
        spec = self._layers.get(node.kind)
        if spec is None:
            self.problems.append(_unknown_kind(node, self._layers))
            return
        params, errors = check_all(spec.params, node.params)
        self.params[node.id] = params
        for error in errors:
            self.problems.append(_wrong_param(node, spec, error))
        sources = self._graph.sources(node.id)
        if not self._is_arity_right(node, spec, len(sources)):
            return
        inputs = tuple(self.shapes[source] for source in sources if source in self.shapes)
        if len(inputs) != len(sources):
            return  # the problem further up is already reported
        self.inputs[node.id] = inputs
        try:
            self.shapes[node.id] = spec.infer_shape(params, inputs)
        except ShapeProblem as problem:
            self.problems.append(self._wrong_shape(node, problem, sources, inputs))

    def _is_arity_right(self, node: Node, spec: LayerSpec, count: int) -> bool:
        too_many = spec.max_inputs is not None and count > spec.max_inputs
        if not too_many and count >= spec.min_inputs:
            return True
        has = "no input" if count == 0 else "one input" if count == 1 else f"{count} inputs"
        title = "Too many inputs" if too_many else "Not connected"
        if count and not too_many:
            title = "Needs another input"
        verb = "accepts" if too_many else "needs"
        more = "" if too_many else " Connect one, or drag from the dot below a layer."
        name = node_text(node, self._layers)
        self.problems.append(
            Problem(
                node.id,
                "error" if too_many else "unfinished",
                title,
                f"{name} has {has}; {spec.title} {verb} {_arity_words(spec)}.{more}",
                partial(self._extra_fixes if too_many else self._missing_fixes, node),
                f"connect {name}" if count == 0 else f"connect another input to {name}",
            )
        )
        return False

    def _extra_fixes(self, node: Node) -> Iterator[Fix]:
        most = self._layers[node.kind].max_inputs
        extra = self._graph.edges_into(node.id)[most:]
        yield fixes.disconnect_fix(extra, [self._graph.nodes[edge.source].name for edge in extra])

    def _missing_fixes(self, node: Node) -> Iterator[Fix]:
        graph, layers = self._graph, self._layers
        if input_node(graph, layers) is None:
            yield from fixes.add_input_fixes(graph, layers, self._pictures)
        yield from Connecting(graph, layers, self.shapes, self.params, node.id).fixes()
        yield fixes.remove_fix(node.id, node.name)

    def _wrong_shape(
        self, node: Node, problem: ShapeProblem, sources: tuple[str, ...], inputs: tuple[Shape, ...]
    ) -> Problem:
        given = [
            f"{shape_text(shape)} from {node_text(self._graph.nodes[source], self._layers)}"
            for source, shape in zip(sources, inputs, strict=True)
        ]
        facts = f"{node_text(node, self._layers)} receives {list_text(given)}. " if given else ""
        found = partial(self._shape_fixes, node, problem.fixes)
        return Problem(node.id, "error", problem.title, facts + str(problem), found)

    def _shape_fixes(self, node: Node, keys: Sequence[str]) -> Iterator[Fix]:
        """The fixes that a layer names."""
        yield from fixes.spec_fixes(keys, node, self._layers)
        if kinds := [self._layers[kind] for kind in matching_kinds(keys)]:
            graph, layers = self._graph, self._layers
            yield from Merge(graph, layers, node.id, self.shapes, self.params, kinds).fixes()


def _arity_words(spec: LayerSpec) -> str:
    low, high = spec.min_inputs, spec.max_inputs
    if high is None:
        return f"at least {low}"
    return ("none", "one", "exactly 2")[high] if low == high and high < 3 else f"{low} to {high}"


def _unknown_kind(node: Node, layers: Layers) -> Problem:
    near = layers.near(node.kind)
    guess = f" Did you mean {' or '.join(layers[key].title for key in near)}?" if near else ""
    return Problem(
        node.id,
        "error",
        "Unknown layer type",
        f"“{node.name}” has the type “{node.kind}”, which this version does not support.{guess} It "
        "is kept, but the network cannot be trained.",
        (
            *(fixes.change_kind_fix(node.id, key, layers) for key in near),
            fixes.remove_fix(node.id, node.name),
        ),
    )


def _wrong_param(node: Node, spec: LayerSpec, error: ParamError) -> Problem:
    known = {param.key: param for param in spec.params}
    param = known.get(error.where)
    name = f"{spec.title} “{node.name}”"
    if param is None:
        fix = fixes.drop_param_fix(node.id, error.where)
        message = f"{name}: {error.what} Parameters of {spec.title}: {error.expected}."
        return Problem(node.id, "error", "Unknown parameter", message, (fix,))
    return Problem(
        node.id,
        "error",
        f"{param.title} is out of range",
        f"{name}: {error.what} Allowed: {error.expected}.",
        (fixes.set_fix(node.id, param, param.default),),
    )
