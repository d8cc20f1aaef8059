"""Problems and fixes across processes: a fix is a function, and a report is data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.core.checks.fixes import move_behind_input_fix
from workbench.core.checks.problems import Fix, Problem
from workbench.core.network.graph import Graph
from workbench.core.network.roles import input_node
from workbench.layers import all_layers
from workbench.protocol.preflight import ReportFix, ReportProblem

_MOVE = "move_behind_input"


def report_problem(problem: Problem, graph: Graph) -> ReportProblem:
    """A finding as the report carries it.

    Args:
        problem: What was found.
        graph: The network it was found in.
    """
    return ReportProblem(
        node=problem.node,
        severity=problem.level,
        title=problem.title,
        message=problem.message,
        fixes=[
            ReportFix(
                key=fix.key,
                title=fix.title,
                recipe=dict(fix.recipe),
                params=_set_params(fix, problem.node, graph),
            )
            for fix in problem.fixes
        ],
    )


def fixes_of(problem: ReportProblem, graph: Graph) -> tuple[Fix, ...]:
    """The fixes of a reported problem that can be applied: those that set values, and the move
    behind Input. For others, which are of the check of every project, ask that check.
    """
    made = (_fix(fix, problem.node, graph) for fix in problem.fixes)
    return tuple(fix for fix in made if fix is not None)


def _fix(fix: ReportFix, node: str | None, graph: Graph) -> Fix | None:
    if fix.recipe:
        return Fix(fix.key, fix.title, lambda graph: graph, fix.recipe)
    if node is None or node not in graph.nodes:
        return None
    if fix.params:
        return Fix(fix.key, fix.title, lambda graph: _with_params(graph, node, fix.params))
    start = input_node(graph, all_layers())
    if fix.key == _MOVE and start is not None:
        return move_behind_input_fix(node, start.id, graph.nodes[node].name)
    return None


def _with_params(graph: Graph, node: str, params: Mapping[str, Any]) -> Graph:
    return graph.with_params(node, **params) if node in graph.nodes else graph


def _set_params(fix: Fix, node_id: str | None, graph: Graph) -> dict[str, Any]:
    """What a fix sets at its node, where it does nothing else."""
    if node_id is None or node_id not in graph.nodes:
        return {}
    fixed = fix.apply(graph)
    if fixed.edges != graph.edges or fixed.nodes.keys() != graph.nodes.keys():
        return {}
    old, new = graph.nodes[node_id], fixed.nodes[node_id]
    if new.kind != old.kind or new.name != old.name:
        return {}
    return {key: value for key, value in new.params.items() if old.params.get(key) != value}
