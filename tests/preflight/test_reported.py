"""Fixes cross processes as data, and do afterwards what they did before."""

from __future__ import annotations

import itertools

import msgspec

from workbench.core.checks.fixes import insert_fix, move_behind_input_fix, set_fix
from workbench.core.checks.problems import Problem, recipe_fix
from workbench.core.network.graph import Edge, Graph, Node
from workbench.layers import all_layers
from workbench.preflight.report import fixes_of, report_problem
from workbench.protocol.preflight import ReportProblem

LAYERS = all_layers()
KINDS = ["input", "conv2d", "resizing", "flatten", "dense"]
NODES = [Node(f"n{i}", kind, f"{kind}_{i}", {}) for i, kind in enumerate(KINDS)]
GRAPH = Graph.of(NODES, [Edge(a.id, b.id) for a, b in itertools.pairwise(NODES)])
PARAM = next(param for param in LAYERS["resizing"].params if param.key == "interpolation")


def crossed(*fixes, node="n2"):
    problem = report_problem(Problem(node, "error", "Title", "Words.", fixes), GRAPH)
    return msgspec.json.decode(msgspec.json.encode(problem), type=ReportProblem)


def test_values_and_moves_are_the_same_on_the_other_side():
    setting = set_fix("n2", PARAM, "bilinear")
    nearest = set_fix("n2", PARAM, "nearest")
    move = move_behind_input_fix("n2", "n0", "resizing_2")
    batch = recipe_fix("Set the batch to 64", batch_size=64)
    made = fixes_of(crossed(setting, nearest, move, batch), GRAPH)
    assert [fix.title for fix in made] == [f.title for f in (setting, nearest, move, batch)]
    for ours, theirs in zip((setting, nearest, move, batch), made, strict=True):
        assert theirs.apply(GRAPH) == ours.apply(GRAPH)
        assert theirs.recipe == ours.recipe


def test_a_fix_that_does_more_is_left_to_the_check():
    assert fixes_of(crossed(insert_fix("n4", "relu", LAYERS), node="n4"), GRAPH) == ()


def test_a_node_that_is_gone_has_no_fixes():
    problem = crossed(set_fix("n2", PARAM, "nearest"))
    assert fixes_of(problem, GRAPH.without_nodes(["n2"])) == ()
    (fix,) = fixes_of(problem, GRAPH)
    assert fix.apply(GRAPH.without_nodes(["n2"])) == GRAPH.without_nodes(["n2"])
