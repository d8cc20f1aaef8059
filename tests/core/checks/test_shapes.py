"""Shapes through a network, and the reasons in words where there are none."""

from __future__ import annotations

import random

import pytest

from tests.mistakes import MISTAKES
from tests.strategies import random_valid_graph
from workbench.core.checks.analysis import analyse
from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers

LAYERS = all_layers()


def chain(*kinds):
    """A graph from (kind, params) in a row; ids and names are a, b, c, ..."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    nodes = [Node(letters[i], kind, letters[i], params) for i, (kind, params) in enumerate(kinds)]
    edges = [Edge(letters[i], letters[i + 1]) for i in range(len(kinds) - 1)]
    return Graph.of(nodes, edges)


INPUT = ("input", {"shape": [32, 32, 3]})


def test_shapes_of_a_chain():
    graph = chain(
        INPUT, ("conv2d", {"filters": 64}), ("max_pooling2d", {}), ("flatten", {}), ("dense", {})
    )
    found = Propagation(graph, LAYERS)
    assert found.problems == []
    assert found.shapes == {
        "a": (32, 32, 3),
        "b": (30, 30, 64),
        "c": (15, 15, 64),
        "d": (14_400,),
        "e": (128,),
    }
    assert found.inputs["c"] == ((30, 30, 64),)


@pytest.mark.parametrize(
    ("kind", "params", "title", "words"),
    [
        (
            "conv2d",
            {"kernel_size": [40, 3]},
            "too small for Conv2D",
            "40 × 3 does not fit into 32 × 32",
        ),
        ("conv2d", {"groups": 2}, "Groups do not divide", "3 input channels"),
        ("conv2d", {"strides": 2, "dilation_rate": 2}, "cannot be combined", "2 × 2"),
        ("reshape", {"target_shape": [5, -1]}, "number of values", "3,072 values"),
        ("cropping2d", {"cropping": [16, 16, 0, 0]}, "Nothing is left", "32 rows"),
        ("group_normalization", {}, "Groups do not divide", "32 groups"),
        ("conv2d", {"filters": 0}, "Filters is out of range", "whole number from 1 to"),
        ("conv2d", {"filterz": 3}, "Unknown parameter", "filterz"),
        ("convv2d", {}, "Unknown layer type", "Did you mean Conv2D"),
        ("add", {}, "Needs another input", "has one input; Add needs at least 2"),
        ("subtract", {}, "Needs another input", "needs exactly 2"),
    ],
)
def test_problem_in_words_and_its_fixes(kind, params, title, words):
    graph = chain(INPUT, (kind, params))
    problem = Propagation(graph, LAYERS).problems[0]
    assert problem.node == "b"
    assert problem.stops_training
    assert title in problem.title
    assert words in problem.message
    assert "“b”" in problem.message
    for fix in problem.fixes:
        assert fix.apply(graph) != graph


def test_a_shape_problem_names_both_nodes():
    graph = chain(INPUT, ("flatten", {}), ("conv2d", {}))
    (problem,) = Propagation(graph, LAYERS).problems
    assert "Conv2D “c” receives 3,072 from Flatten “b”." in problem.message


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("conv2d", {"kernel_size": [40, 3]}),
        ("conv2d", {"groups": 2}),
        ("conv2d", {"strides": 2, "dilation_rate": 2}),
        ("reshape", {"target_shape": [5, -1]}),
        ("cropping2d", {"cropping": [16, 16, 0, 0]}),
        ("group_normalization", {}),
        ("conv2d", {"filters": 0}),
        ("conv2d", {"filterz": 3}),
        ("convv2d", {}),
        ("average_pooling2d", {"pool_size": 33}),
    ],
)
def test_every_fix_mends(kind, params):
    graph = chain(INPUT, (kind, params))
    (problem,) = Propagation(graph, LAYERS).problems
    assert problem.fixes
    for fix in problem.fixes:
        mended = fix.apply(graph)
        assert Propagation(mended, LAYERS).problems == [], fix.title
        assert fix.apply(mended.without_nodes(["b"])) == mended.without_nodes(["b"])


def two_branches(kind, left, right):
    nodes = [
        Node("a", "input", "a", {"shape": [16, 16, 8]}),
        Node("l", left[0], "left", left[1]),
        Node("r", right[0], "right", right[1]),
        Node("m", kind, "merge"),
    ]
    return Graph.of(nodes, [Edge("a", "l"), Edge("a", "r"), Edge("l", "m"), Edge("r", "m", 1)])


@pytest.mark.parametrize("kind", ["add", "subtract", "multiply", "average", "maximum"])
def test_merge_mismatch_names_all_three_and_can_be_mended(kind):
    graph = two_branches(
        kind, ("conv2d", {"filters": 16, "strides": 2, "padding": "same"}), ("relu", {})
    )
    (problem,) = Propagation(graph, LAYERS).problems
    assert (
        "receives 8 × 8 × 16 from Conv2D “left” and 16 × 16 × 8 from ReLU “right”"
        in problem.message
    )
    assert "“merge”" in problem.message
    (fix,) = problem.fixes
    mended = Propagation(fix.apply(graph), LAYERS)
    assert mended.problems == []
    assert mended.shapes["m"] == (8, 8, 16)


def test_merge_repeats_axes_of_one_as_keras_does():
    gate = ("global_average_pooling2d", {"keepdims": True})
    found = Propagation(two_branches("multiply", ("relu", {}), gate), LAYERS)
    assert found.shapes["m"] == (16, 16, 8)


def test_concatenate_joins_channels_and_mends_by_pooling_or_by_strides():
    graph = two_branches("concatenate", ("max_pooling2d", {}), ("conv2d", {"padding": "same"}))
    (problem,) = Propagation(graph, LAYERS).problems
    left = {fix.title: Propagation(fix.apply(graph), LAYERS).shapes["m"] for fix in problem.fixes}
    assert left == {
        "Set strides of “left” to 1 × 1 and padding to same": (16, 16, 40),
        "Set strides of “right” to 2 × 2": (8, 8, 40),
        "Insert MaxPooling2D (2×2 · same) after “right”": (8, 8, 40),
    }


def test_nodes_behind_a_problem_are_not_blamed():
    graph = chain(INPUT, ("flatten", {}), ("conv2d", {}), ("dense", {}), ("softmax", {}))
    assert [problem.node for problem in Propagation(graph, LAYERS).problems] == ["c"]


def test_random_valid_graphs_have_all_shapes():
    for seed in range(150):
        graph = random_valid_graph(random.Random(seed), LAYERS)
        found = analyse(graph, LAYERS, recipe=TrainingRecipe())
        assert found.errors == (), seed
        assert set(found.shapes) == set(graph.nodes)


@pytest.mark.parametrize("mistake", sorted(set(MISTAKES), key=lambda m: m.__name__))
def test_random_mistakes_are_found(mistake):
    for seed in range(40):
        graph = mistake(random.Random(seed), LAYERS)
        found = analyse(graph, LAYERS, recipe=TrainingRecipe())
        blamed = [p for p in found.errors if p.title != "Several outputs"]
        assert blamed, seed
        for problem in found.problems:
            for fix in problem.fixes:
                assert isinstance(fix.apply(graph), Graph)
