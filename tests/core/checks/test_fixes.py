"""Fixes of problems: what they change, and that they suit the graph of the moment."""

from __future__ import annotations

from tests.core.checks.test_shapes import INPUT, chain
from workbench.core.checks import fixes
from workbench.core.checks.analysis import analyse
from workbench.core.network.graph import Graph
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers

LAYERS = all_layers()


def test_a_fix_leaves_a_graph_that_has_changed_since_as_it_is():
    graph = chain(INPUT, ("flatten", {}), ("dense", {"units": 10}))
    (flat,) = [node.id for node in graph.nodes.values() if node.kind == "flatten"]
    start = next(iter(graph.nodes))
    assert fixes.connect_fix("gone", flat, "Flatten").apply(graph) == graph
    assert fixes.connect_fix(flat, start, "Input").apply(graph) == graph  # a cycle
    assert fixes.move_behind_input_fix(flat, "gone", "Flatten").apply(graph) == graph
    assert fixes.remove_fix("gone", "Flatten").apply(graph) == graph
    assert fixes.insert_fix(start, "relu", LAYERS).apply(graph) == graph  # nothing before it


def test_a_layer_needs_a_layer_before_it():
    graph = chain(INPUT, ("dense", {"units": 10}))
    (dense,) = [node for node in graph.nodes.values() if node.kind == "dense"]
    (fix,) = fixes.spec_fixes(("insert_flatten",), dense, LAYERS)
    mended = fix.apply(graph)
    assert [mended.nodes[key].kind for key in mended.sources(dense.id)] == ["flatten"]


def test_the_fix_of_an_output_that_is_gone_changes_nothing():
    graph = chain(INPUT, ("conv2d", {}))
    offered = [
        fix for p in analyse(graph, LAYERS, recipe=TrainingRecipe()).problems for fix in p.fixes
    ]
    assert offered
    assert [fix.apply(Graph()) for fix in offered] == [Graph()] * len(offered)
