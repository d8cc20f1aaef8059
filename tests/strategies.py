"""Random values and valid graphs for tests (invalid ones: mistakes.py): seeded, so that a seed in a message is enough
to see a case again.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.params import (
    BoolParam,
    ChoiceParam,
    FloatParam,
    IntParam,
    Param,
    ShapeParam,
    SizeParam,
)
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec, Shape, ShapeProblem

Layers = Registry[LayerSpec]

MOST_VALUES = 20_000  # a larger layer would only make the oracle slow
MOST_WEIGHTS = 200_000


# values of parameters --------------------------------------------------------------------


def random_value(rng: random.Random, param: Param) -> Any:
    """A small allowed value of a parameter."""
    if isinstance(param, BoolParam):
        return rng.random() < 0.5
    if isinstance(param, ChoiceParam):
        return rng.choice(param.choices)
    if isinstance(param, IntParam):
        return rng.randint(param.minimum, min(param.maximum, param.minimum + rng.choice((3, 12))))
    if isinstance(param, FloatParam):
        low = max(param.minimum, -1.0)
        value = low + rng.random() * 0.9 * (min(param.maximum, 1.0) - low)
        return param.check(max(value, 1e-4) if low >= 0 else value)
    if isinstance(param, SizeParam):
        return _random_size(rng, param)
    assert isinstance(param, ShapeParam), param
    return tuple(rng.randint(1, 4) for _ in range(rng.randint(1, 3)))


def _random_size(rng: random.Random, param: SizeParam) -> tuple[int, ...]:
    most = param.minimum + 3
    same = rng.randint(param.minimum, most)
    if rng.random() < 0.6:
        return (same,) * len(param.axes)
    return tuple(rng.randint(param.minimum, most) for _ in param.axes)


def random_params(rng: random.Random, spec: LayerSpec) -> dict[str, Any]:
    """Values for some of a layer's parameters; the others keep their defaults."""
    share = rng.choice((0.2, 0.5, 0.9))
    return {p.key: random_value(rng, p) for p in spec.params if rng.random() < share}


def random_target(rng: random.Random, shape: Shape) -> tuple[int, ...]:
    """A shape that holds as many values as `shape`."""
    left = math.prod(shape)
    target: list[int] = []
    for _ in range(rng.randint(0, 2)):
        divisors = [n for n in range(1, min(left, 12) + 1) if left % n == 0]
        target.append(rng.choice(divisors))
        left //= target[-1]
    target.append(left)
    rng.shuffle(target)
    if rng.random() < 0.5:
        target[rng.randrange(len(target))] = -1
    return tuple(target)


# valid graphs ----------------------------------------------------------------------------


class Growing:
    """A graph that grows layer by layer, with the shape at every node."""

    def __init__(self, rng: random.Random, layers: Layers) -> None:
        self.rng = rng
        self.layers = layers
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.shapes: dict[str, Shape] = {}
        self.chain_length = 0  # nodes before the end of the chain for the input pipeline
        self.refused: list[tuple[Node, tuple[str, ...], ShapeProblem]] = []

    def graph(self) -> Graph:
        return Graph.of(self.nodes, self.edges)

    def make(self, kind: str, params: dict[str, Any]) -> Node:
        number = len(self.nodes) + 1
        return Node(f"n{number}", kind, f"{kind}_{number}", params)

    def put(self, node: Node, sources: Sequence[str] = ()) -> str:
        self.nodes.append(node)
        self.edges += [Edge(source, node.id, port) for port, source in enumerate(sources)]
        return node.id

    def try_put(self, kind: str, sources: Sequence[str], params: dict[str, Any]) -> bool:
        """Adds a layer when it fits and stays small; a refusal is kept in `refused`."""
        spec = self.layers[kind]
        values = {**spec.defaults(), **params}
        node = self.make(kind, params)
        inputs = [self.shapes[source] for source in sources]
        try:
            shape = spec.infer_shape(values, inputs)
        except ShapeProblem as problem:
            self.refused.append((node, tuple(sources), problem))
            return False
        weights = spec.count_params(values, inputs).total
        if math.prod(shape) > MOST_VALUES or weights > MOST_WEIGHTS:
            return False
        self.shapes[self.put(node, sources)] = shape
        return True

    def start(self) -> None:
        rng = self.rng
        side = rng.choice((4, 8, 12, 20))
        shape = (rng.randint(1, side), rng.randint(1, side), rng.choice((1, 2, 3, 4, 6, 8)))
        self.shapes[self.put(self.make("input", {"shape": shape}))] = shape
        random_kinds = [s.key for s in self.layers.values() if s.place != "model"]
        for _ in range(rng.choice((0, 0, 1, 3))):
            kind = rng.choice(random_kinds)
            self.try_put(kind, [self.nodes[-1].id], random_params(rng, self.layers[kind]))
        self.chain_length = len(self.nodes) - 1

    def step(self) -> bool:
        rng = self.rng
        kinds = [s for s in self.layers.values() if s.place != "pipeline" and s.key != "input"]
        spec = rng.choice(kinds)
        known = list(self.shapes)[self.chain_length :]
        first = known[-1] if rng.random() < 0.7 else rng.choice(known)
        sources = [first]
        if spec.min_inputs > 1:
            count = 2 if spec.max_inputs == 2 else rng.choice((2, 2, 3))
            alike = [key for key in known if self.shapes[key] == self.shapes[first]]
            pool = alike if rng.random() < 0.5 else known
            sources += [rng.choice(pool) for _ in range(count - 1)]
            rng.shuffle(sources)
        params = random_params(rng, spec)
        if spec.key == "reshape" and rng.random() < 0.8:
            params["target_shape"] = random_target(rng, self.shapes[first])
        if spec.stops_learning({**spec.defaults(), **params}):
            del params["interpolation"]  # the check refuses it behind what learns
        if spec.key == "group_normalization" and rng.random() < 0.7:
            params["groups"] = rng.choice((-1, 1, 2))
        return self.try_put(spec.key, sources, params)

    def close(self) -> None:
        """Joins all ends and puts a classifier behind them."""
        rng = self.rng
        used = {edge.source for edge in self.edges}
        ends = []
        for key in [key for key in self.shapes if key not in used]:
            if len(self.shapes[key]) == 1:
                ends.append(key)
            elif self.try_put("flatten", [key], {}):
                ends.append(self.nodes[-1].id)
        if len(ends) > 1:
            values = sum(self.shapes[key][0] for key in ends)
            node = self.make("concatenate", {})
            self.shapes[self.put(node, ends)] = (values,)
            ends = [node.id]
        units = rng.randint(2, 5)
        activation = rng.choice(("softmax", "linear"))
        node = self.make("dense", {"units": units, "activation": activation})
        self.shapes[self.put(node, ends)] = (units,)


def random_valid_graph(rng: random.Random, layers: Layers) -> Graph:
    """A network of up to about twenty layers: chains, branches, merges, every kind of layer."""
    growing = Growing(rng, layers)
    growing.start()
    for _ in range(rng.choice((3, 8, 20))):
        growing.step()
    growing.close()
    return growing.graph()
