"""From the graph to the shape at every node, or the reason in words why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from workbench.core.checks import fixes
from workbench.core.checks.problems import Fix, Problem
from workbench.core.format import list_text, shape_text
from workbench.core.network.graph import Graph, Node
from workbench.core.network.roles import Layers, find_outputs
from workbench.core.network.text import node_text
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
    """

    def __init__(self, graph: Graph, layers: Layers) -> None:
        self._graph = graph
        self._layers = layers
        self.shapes: dict[str, Shape] = {}
        self.inputs: dict[str, tuple[Shape, ...]] = {}
        self.params: dict[str, Mapping[str, Any]] = {}
        self.problems: list[Problem] = []
        for node_id in graph.order:
            self._visit(graph.nodes[node_id])

    def _visit(self, node: Node) -> None:
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
        self.problems.append(
            Problem(
                node.id,
                "error",
                title,
                f"{node_text(node, self._layers)} has {has}; {spec.title} {verb} "
                f"{_arity_words(spec)}.",
                self._arity_fixes(node, too_many=too_many),
            )
        )
        return False

    @cached_property
    def _outputs(self) -> tuple[str, ...]:
        return find_outputs(self._graph, self._layers)

    def _arity_fixes(self, node: Node, *, too_many: bool) -> tuple[Fix, ...]:
        if too_many:
            extra = self._graph.edges_into(node.id)[-1]
            return (fixes.disconnect_fix(extra, self._graph.nodes[extra.source].name),)
        remove = fixes.remove_fix(node.id, node.name)
        ends = [other for other in self._outputs if other != node.id]
        if len(ends) != 1:
            return (remove,)
        return (fixes.connect_fix(ends[0], node.id, self._graph.nodes[ends[0]].name), remove)

    def _wrong_shape(
        self, node: Node, problem: ShapeProblem, sources: tuple[str, ...], inputs: tuple[Shape, ...]
    ) -> Problem:
        given = [
            f"{shape_text(shape)} from {node_text(self._graph.nodes[source], self._layers)}"
            for source, shape in zip(sources, inputs, strict=True)
        ]
        facts = f"{node_text(node, self._layers)} receives {list_text(given)}. " if given else ""
        found = fixes.spec_fixes(problem.fixes, node, self._layers, inputs)
        return Problem(node.id, "error", problem.title, facts + str(problem), found)


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
