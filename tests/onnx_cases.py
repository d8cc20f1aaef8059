"""Every layer type with values of all its parameters, for the comparison of its ONNX rule with Keras.

One network has all cases of a layer type that begin with the same shape: branches that start at the
rescaled image and end in one list of all values, so that Keras and ONNX Runtime run once for many
cases. Each case is there twice: its images with the channels last, as in Keras, and first.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tests.strategies import random_params, random_target, random_value
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.params import BoolParam, ChoiceParam, IntParam, Param
from workbench.core.specs import LayerSpec, Role, Shape, ShapeProblem
from workbench.layers import all_layers

IMAGES: tuple[Shape, ...] = ((7, 5, 4), (8, 8, 2), (1, 6, 3))
LARGE: Shape = (50, 37, 1)
LISTS: tuple[Shape, ...] = ((6,), (5, 4))
SIDES = ("valid", "same")
STRETCH = {"scale": 16 / 255, "offset": -8.0}
"""Of the pixels in front of every case: to -8 to 8."""

ALL = "all"
"""Name of the node with the values of all cases."""

MOST_VALUES = 6_000
MOST_AT_ONCE = 60
"""Cases in a network."""

Params = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """A layer with its parameters behind inputs of these shapes; the first is the image's."""

    kind: str
    params: Params
    inputs: tuple[Shape, ...]
    shape: Shape

    def __str__(self) -> str:
        defaults = all_layers()[self.kind].defaults()
        said = {key: value for key, value in self.params.items() if defaults[key] != value}
        return f"{self.kind} {said} of {' and '.join(map(str, self.inputs))}"


# cases -------------------------------------------------------------------------------------


def cases_of(spec: LayerSpec, *, num_random: int = 12, seed: int = 0) -> list[Case]:
    """Cases of a layer type: each parameter alone with each choice or some numbers, windows in all
    combinations, and `num_random` draws of all parameters at once, for each group of inputs.
    """
    made: dict[str, Case] = {}
    for inputs in input_groups(spec):
        rng = random.Random(f"{spec.key} {inputs} {seed}")
        for params in itertools.chain(_one_by_one(rng, spec, inputs[0]), _windows(spec)):
            _add(made, spec, params, inputs)
        for _ in range(num_random):
            _add(made, spec, _drawn(rng, spec, inputs[0]), inputs)
    return list(made.values())


def some_of(cases: Sequence[Case], share: float) -> list[Case]:
    """Cases that have each value of every parameter and all groups of inputs among them, and a share
    of the others.
    """
    rng, seen, kept = random.Random(len(cases)), set(), []
    for case in cases:
        new = {*case.params.items(), ("inputs", case.inputs)} - seen
        if new or rng.random() < share:
            kept.append(case)
            seen |= new
    return kept


def input_groups(spec: LayerSpec) -> list[tuple[Shape, ...]]:
    """The shapes of the inputs with which a layer type is tried."""
    if spec.max_inputs == 1:
        is_resizing = any(param.key == "interpolation" for param in spec.params)
        return [(shape,) for shape in (*IMAGES, *LISTS, *([LARGE] if is_resizing else []))]
    height, width, channels = image = IMAGES[0]
    others = [image, (1, 1, channels), (height, 1, 1), (channels,), (width, channels)]
    others += [(height, width, 3), (2, width, channels), (height, 2, channels)]
    groups = [(image, other) for other in others]
    if spec.max_inputs != 2:
        groups += [(image, image, image), (image, (1, 1, channels), (channels,))]
    return [*groups, ((6,), (6,)), ((6,), (1,)), ((6,), (3,)), ((5, 4), (4,)), ((5, 4), (5, 4))]


def _add(made: dict[str, Case], spec: LayerSpec, params: Params, inputs: Sequence[Shape]) -> None:
    values = {**spec.defaults(), **params}
    try:
        shape = spec.infer_shape(values, inputs)
    except ShapeProblem:
        return
    if math.prod(shape) <= MOST_VALUES:
        case = Case(spec.key, values, tuple(inputs), shape)
        made[str(case)] = case


def _one_by_one(rng: random.Random, spec: LayerSpec, shape: Shape) -> Iterator[Params]:
    small = _small(spec)
    yield small
    for param in spec.params:
        for value in _values(rng, param, shape):
            yield {**small, param.key: value}
    sides = [param for param in spec.params if isinstance(param, IntParam) and param.unit == "px"]
    ways = [param for param in spec.params if isinstance(param, ChoiceParam)]
    if len(sides) == 2:  # the size of an image: in all its ways
        for choices in itertools.product(*(way.choices for way in ways)):
            params = {way.key: choice for way, choice in zip(ways, choices, strict=True)}
            for size in ((6, 9), (23, 61), (80, 12)):
                yield {**params, **{side.key: n for side, n in zip(sides, size, strict=True)}}


def _small(spec: LayerSpec) -> Params:
    """Few outputs, where the default has many."""
    few = {"filters": 4, "units": 3, "height": 6, "width": 9, "groups": 1}
    return {param.key: few[param.key] for param in spec.params if param.key in few}


def _values(rng: random.Random, param: Param, shape: Shape) -> Iterator[Any]:
    if isinstance(param, BoolParam):
        yield from (False, True)
    elif isinstance(param, ChoiceParam):
        yield from param.choices
    elif param.key == "target_shape":
        yield from (random_target(rng, shape) for _ in range(6))
    elif isinstance(param, IntParam) and param.unit == "px":
        yield from (1, 5, 13, 64, 150)
    elif isinstance(param, IntParam) and param.key == "groups":
        yield from (value for value in (-1, 1, 2, 4) if value >= param.minimum)
    else:
        yield from (random_value(rng, param) for _ in range(4))


def _windows(spec: LayerSpec) -> Iterator[Params]:
    """All sizes, steps, dilations and borders of a layer with a window."""
    keys = {param.key for param in spec.params}
    size = next((key for key in ("kernel_size", "pool_size") if key in keys), None)
    if size is None:
        return
    sizes = ((1, 1), (2, 2), (3, 3), (2, 3), (5, 1), (4, 4))
    steps = ((1, 1), (2, 2), (3, 3), (2, 1), (1, 3))
    dilations = ((1, 1), (2, 2), (1, 2)) if "dilation_rate" in keys else ((1, 1),)
    for each, step, dilation, side in itertools.product(sizes, steps, dilations, SIDES):
        params = {**_small(spec), size: each, "strides": step, "padding": side}
        yield params if len(dilations) == 1 else {**params, "dilation_rate": dilation}


def _drawn(rng: random.Random, spec: LayerSpec, shape: Shape) -> Params:
    params = {**_small(spec), **random_params(rng, spec)}
    if "target_shape" in params:
        params["target_shape"] = random_target(rng, shape)
    if "groups" in params and rng.random() < 0.7:
        params["groups"] = rng.choice((1, 2))
    return params


# networks ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Network:
    """Cases in one network: `parts` are (what, number of values) in the order of the node `ALL`."""

    graph: Graph
    parts: tuple[tuple[str, int], ...]

    def slices(self) -> Iterator[tuple[str, slice]]:
        """Each case, and where its values are."""
        start = 0
        for what, count in self.parts:
            yield what, slice(start, start + count)
            start += count


def networks(cases: Sequence[Case]) -> Iterator[Network]:
    """Networks of all cases."""
    by_shape: dict[Shape, list[Case]] = {}
    for case in cases:
        by_shape.setdefault(case.inputs[0], []).append(case)
    for shape, alike in by_shape.items():
        for start in range(0, len(alike), MOST_AT_ONCE):
            yield network(shape, alike[start : start + MOST_AT_ONCE])


def network(shape: Shape, cases: Sequence[Case]) -> Network:
    """The network of cases whose first input has one shape."""
    growing = _Branches(shape)
    for case in cases:
        is_image = any(len(each) == 3 for each in case.inputs)
        for orders in _orders(case.inputs) if is_image else [(False,) * len(case.inputs)]:
            growing.add(case, orders)
    return growing.closed()


def _orders(inputs: Sequence[Shape]) -> list[tuple[bool, ...]]:
    """Which inputs come with the channels first."""
    are_images = [len(shape) == 3 for shape in inputs]
    some = {
        tuple(are_images),
        (False,) * len(inputs),
        tuple(is_image and place % 2 == 0 for place, is_image in enumerate(are_images)),
        tuple(is_image and place % 2 == 1 for place, is_image in enumerate(are_images)),
    }
    return sorted(some)


class _Branches:
    def __init__(self, shape: Shape) -> None:
        rows, columns, channels = {1: (1, 1), 2: (shape[0], 1), 3: shape[:2]}[len(shape)] + shape[
            -1:
        ]
        self.nodes: list[Node] = []
        self.edges: list[Edge] = []
        self.ends: list[str] = []
        self.parts: list[tuple[str, int]] = []
        self.sources: dict[tuple[Shape, int, bool], str] = {}
        start = self.put("input", {"shape": (rows, columns, channels)})
        start = self.put("rescaling", STRETCH, start)
        if len(shape) < 3:
            start = self.put("reshape", {"target_shape": shape}, start)
        self.sources[shape, 0, False] = self.start = start
        self.keep("the image", start, shape)

    def put(self, kind: str, params: Params, *sources: str) -> str:
        key = f"{kind}_{len(self.nodes)}"
        self.nodes.append(Node(key, kind, key, params))
        self.edges += [Edge(source, key, port) for port, source in enumerate(sources)]
        return key

    def keep(self, what: str, node: str, shape: Shape) -> None:
        self.ends.append(node if len(shape) == 1 else self.put("flatten", {}, node))
        self.parts.append((what, math.prod(shape)))

    def source(self, shape: Shape, port: int, *, is_first: bool) -> str:
        """Values of a shape: at the first port the image itself, else weighted sums of it."""
        key = (shape, port, is_first)
        if key not in self.sources and is_first:  # a pooling of one pixel changes nothing else
            last = self.source(shape, port, is_first=False)
            self.sources[key] = self.put("max_pooling2d", {"pool_size": (1, 1)}, last)
        elif key not in self.sources:
            flat = self.put("flatten", {}, self.start)
            made = self.put("dense", {"units": math.prod(shape)}, flat)
            self.sources[key] = self.put("reshape", {"target_shape": shape}, made)
        return self.sources[key]

    def add(self, case: Case, orders: Sequence[bool]) -> None:
        sources = [
            self.source(shape, port, is_first=is_first)
            for port, (shape, is_first) in enumerate(zip(case.inputs, orders, strict=True))
        ]
        end = self.put(case.kind, case.params, *sources)
        first = ", ".join("first" if is_first else "last" for is_first in orders)
        self.keep(f"{case}, channels {first}", end, case.shape)

    def closed(self) -> Network:
        node = Node(ALL, "concatenate", ALL)
        self.nodes.append(node)
        self.edges += [Edge(end, ALL, port) for port, end in enumerate(self.ends)]
        self.put("dense", {"units": 2}, ALL)
        return Network(Graph.of(self.nodes, self.edges), tuple(self.parts))


def kinds() -> list[LayerSpec]:
    """All layer types but Input, which is in every network."""
    return [spec for spec in all_layers().values() if spec.role is not Role.INPUT]
