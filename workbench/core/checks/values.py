"""Findings about the range of the values that reach pretrained weights: scaled twice, or not as
the weights were trained.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.core.checks.learning import FindPretrained
from workbench.core.checks.problems import Fix, Problem
from workbench.core.checks.shapes import Propagation
from workbench.core.format import list_text
from workbench.core.network.graph import Graph
from workbench.core.network.removal import removed
from workbench.core.network.roles import Layers, has_role
from workbench.core.network.text import node_text
from workbench.core.specs import ACTIVATION_CATEGORY, PretrainedLayer, Role, ValueRange

PIXELS: ValueRange = (0.0, 255.0)
"""Lowest and highest value of an image."""

_SAME = 0.02
"""Ranges are the same where their ends differ by at most so much of their width: rounding, and the
different means of well-known networks.
"""


def check_ranges(
    graph: Graph, layers: Layers, found: Propagation, find: FindPretrained
) -> Iterator[Problem]:
    """Where the values that reach the first pretrained weights of a network have another range than
    in its training. Nothing is said where layers that learn come before.
    """
    for node in graph.nodes.values():
        weights = find(node.pretrained) if node.pretrained else None
        if weights is None or weights.input_range is None:
            continue
        path = _path(graph, layers, found, node.id)
        if path is None:
            continue
        wanted = _trained_range(weights, layers)
        got = _range_behind(path, graph, layers, found)
        if _is_same(got, wanted):
            continue
        foreign = [
            key
            for key in path
            if graph.nodes[key].group != node.group and _scales(graph, layers, key)
        ]
        rest = [key for key in path if key not in foreign]
        name = node_text(node, layers)
        if foreign and _is_same(_range_behind(rest, graph, layers, found), wanted):
            yield _twice(graph, layers, foreign, node.group or name)
        else:
            yield _other_range(node.id, name, got, wanted)


def _path(graph: Graph, layers: Layers, found: Propagation, node_id: str) -> list[str] | None:
    """The layers between Input and a node, in order; None where their values cannot be known."""
    path: list[str] = []
    at = node_id
    while True:
        sources = set(graph.sources(at))
        if len(sources) != 1:
            return None
        (at,) = sources
        if at not in found.shapes:
            return None
        if has_role(graph.nodes[at], layers, Role.INPUT):
            return path[::-1]
        spec = layers[graph.nodes[at].kind]
        counts = spec.count_params(found.params[at], found.inputs[at])
        is_open = counts.total or spec.category == ACTIVATION_CATEGORY
        if is_open and spec.range_of is None:
            return None
        path.append(at)


def _scales(graph: Graph, layers: Layers, key: str) -> bool:
    return layers[graph.nodes[key].kind].range_of is not None


def _range_behind(
    path: Sequence[str], graph: Graph, layers: Layers, found: Propagation
) -> ValueRange:
    values = PIXELS
    for key in path:
        change = layers[graph.nodes[key].kind].range_of
        values = values if change is None else change(found.params[key], values)
    return values


def _trained_range(weights: PretrainedLayer, layers: Layers) -> ValueRange:
    """What reached the weights when they were trained."""
    values = weights.input_range or PIXELS
    for kind, params in weights.before:
        spec = layers[kind]
        if spec.range_of is not None:
            values = spec.range_of({**spec.defaults(), **params}, values)
    return values


def _is_same(one: ValueRange, other: ValueRange) -> bool:
    width = other[1] - other[0]
    return all(abs(a - b) <= _SAME * width for a, b in zip(one, other, strict=True))


def _twice(graph: Graph, layers: Layers, foreign: list[str], block: str) -> Problem:
    names = list_text([node_text(graph.nodes[key], layers) for key in foreign])
    title = "Remove " + list_text([f"“{graph.nodes[key].name}”" for key in foreign])
    return Problem(
        foreign[0],
        "warning",
        "Values are scaled twice",
        f"{names} before {block} changes the pixel values, but {block} takes images as they are "
        "and scales them itself. Its pretrained weights get other values than in their training.",
        (Fix("scale_once", title, lambda graph: removed(graph, foreign)),),
    )


def _other_range(node_id: str, name: str, got: ValueRange, wanted: ValueRange) -> Problem:
    return Problem(
        node_id,
        "warning",
        "Values are not as in the training of the weights",
        f"{name} gets values from {_words(got)}. Its pretrained weights were trained with values "
        f"from {_words(wanted)}: with others its features are of little use.",
    )


def _words(values: ValueRange) -> str:
    return " to ".join(f"{value:.3g}".replace("-", "−") for value in values)
