"""What XLA makes of a project's training step: its text, a refusal with fixes, or no answer."""

from __future__ import annotations

import re
from dataclasses import replace

import msgspec

from workbench.core.checks.fixes import move_behind_input_fix, set_fix
from workbench.core.checks.problems import Fix, Problem
from workbench.core.network.graph import Graph
from workbench.core.network.roles import input_node
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec

_MARK = re.compile(r"(?<![A-Za-z0-9])node(\d{1,6})x")


class Lowered(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The step can be compiled.

    Attributes:
        text: The step of one replica in StableHLO: variables are arguments, their new values
            are outputs that take over the arguments' memory. Its paths name the layers as
            `marked` does: `node_of` and `with_names` read them.
        seconds: It took, building the network included.
    """

    text: str
    seconds: float = 0.0


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The step cannot be compiled for a TPU.

    Attributes:
        op: TensorFlow's operation that is at fault; "" where none is named.
        node: Id of the layer that it belongs to; "" where it belongs to none.
        words: What is wrong, in one sentence.
        fix: What helps, in one sentence.
        settings: (parameter, value) of the layer with which the layer compiles; tried.
        can_move: The layer may run in the input pipeline instead, right behind Input; tried.
        seconds: It took to find out.
    """

    op: str
    node: str
    words: str
    fix: str
    settings: list[tuple[str, str]] = []
    can_move: bool = False
    seconds: float = 0.0


class Unchecked(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A step may or may not compile: that cannot be known here, and a TPU may well take it.

    Attributes:
        op: An operation that only a TPU's compiler has; "" for another reason.
        node: Id of its layer; "" where there is none.
        words: Why.
        seconds: It took to find out.
    """

    op: str = ""
    node: str = ""
    words: str
    seconds: float = 0.0


Lowering = Lowered | Refused | Unchecked


def marked(graph: Graph) -> Graph:
    """The graph with names that are found again in the paths of TensorFlow's operations, where
    "conv_1" could be a node of that name as well as the second call of "conv".
    """
    nodes = [
        replace(node, name=f"node{number}x") for number, node in enumerate(graph.nodes.values())
    ]
    return Graph.of(nodes, graph.edges)


def node_of(path: str, graph: Graph) -> str:
    """The id of the layer that a path of an operation belongs to; "" for none.

    Args:
        path: From a network of the `marked` graph, e.g. "gradient_tape/network/node3x_1/Mul".
        graph: The network.
    """
    ids, mark = list(graph.nodes), _MARK.search(path)
    return ids[int(mark[1])] if mark and int(mark[1]) < len(ids) else ""


def with_names(text: str, graph: Graph) -> str:
    """A text about the `marked` graph with the names shown to people."""
    names = [node.name for node in graph.nodes.values()]

    def name(found: re.Match[str]) -> str:
        number = int(found.group(1))
        return names[number] if number < len(names) else found.group()

    return _MARK.sub(name, text)


def problem_of(answer: Refused | Unchecked, graph: Graph, layers: Registry[LayerSpec]) -> Problem:
    """An answer as a finding about the graph, with buttons for what was tried and helps."""
    node = answer.node if answer.node in graph.nodes else None
    if isinstance(answer, Unchecked):
        return Problem(node, "warning", "Not checked here", answer.words)
    message = f"{answer.words} {answer.fix}"
    return Problem(
        node, "error", "Cannot be compiled for a TPU", message, fixes_of(answer, graph, layers)
    )


def fixes_of(answer: Refused, graph: Graph, layers: Registry[LayerSpec]) -> tuple[Fix, ...]:
    """The changes to the graph that a refusal offers; none for a graph without its node."""
    node = graph.nodes.get(answer.node)
    spec = None if node is None else layers.get(node.kind)
    if node is None or spec is None:
        return ()
    params = {param.key: param for param in spec.params}
    found = [
        set_fix(node.id, params[key], value) for key, value in answer.settings if key in params
    ]
    start = input_node(graph, layers)
    if answer.can_move and start is not None:
        found.append(move_behind_input_fix(node.id, start.id, node.name))
    return tuple(found)
