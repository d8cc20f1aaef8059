"""How the inputs of a merge layer can be brought to shapes that fit: fixes, best first.

What changes is a branch: the layers that lead to one input of the merge and to no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from itertools import islice
from typing import Any

from workbench.core.checks.fixes import insert_fix
from workbench.core.checks.problems import Fix
from workbench.core.format import list_text
from workbench.core.network.graph import Graph
from workbench.core.network.roles import Layers
from workbench.core.params import Params
from workbench.core.specs import LayerSpec, Shape, ShapeProblem

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
