"""Hints about layers without an activation: where they are right, and nowhere else."""

from __future__ import annotations

import pytest

from tests.core.checks.test_checks import END, LAYERS, check
from tests.core.checks.test_shapes import INPUT, chain
from workbench.core.checks.analysis import analyse
from workbench.core.network.graph import Edge, Graph, Node
from workbench.templates import list_templates

IN_A_ROW, NONE = "Two linear layers in a row", "No activation"
RELU = {"activation": "relu"}


def hints(graph):
    found = check(graph).problems
    return [(p.node, p.title) for p in found if p.title in {IN_A_ROW, NONE}]


def conv(filters=32, **params):
    return ("conv2d", {"filters": filters, "padding": "same", **params})


def dense(units=128, **params):
    return ("dense", {"units": units, **params})


FLAT = ("flatten", {})


@pytest.mark.parametrize(
    ("kinds", "found"),
    [
        ([FLAT, dense()], [("c", IN_A_ROW)]),
        ([FLAT, dense(), ("dropout", {})], [("c", IN_A_ROW)]),
        ([conv(), FLAT], [("b", IN_A_ROW)]),
        ([conv(), conv(**RELU), FLAT], [("b", IN_A_ROW)]),
        ([conv(), ("batch_normalization", {}), conv(), FLAT], [("b", IN_A_ROW), ("d", IN_A_ROW)]),
        ([conv(), ("average_pooling2d", {}), FLAT], [("b", IN_A_ROW)]),
        ([conv(), ("depthwise_conv2d", {}), FLAT], [("b", IN_A_ROW)]),
        ([conv(), ("max_pooling2d", {}), FLAT], [("b", NONE)]),
        ([FLAT, dense(), ("layer_normalization", {})], [("c", NONE)]),
    ],
)
def test_a_layer_without_an_activation_is_named(kinds, found):
    assert hints(chain(INPUT, *kinds, END)) == found


@pytest.mark.parametrize(
    "kinds",
    [
        [FLAT],
        [FLAT, dense(**RELU)],
        [conv(**RELU), ("max_pooling2d", {}), FLAT, dense(activation="tanh")],
        [conv(), ("relu", {}), FLAT],
        [conv(), ("batch_normalization", {}), ("max_pooling2d", {}), ("prelu", {}), FLAT],
        [conv(), ("depthwise_conv2d", RELU), FLAT],  # the activation comes with the next one
        [("depthwise_conv2d", {}), conv(**RELU), FLAT],  # a separable convolution in two parts
        [conv(64, **RELU), conv(8), conv(64, **RELU), FLAT],  # a linear bottleneck
        [FLAT, dense(), ("mystery", {})],
    ],
)
def test_nothing_is_said_where_all_is_right_or_meant(kinds):
    assert hints(chain(INPUT, *kinds, END)) == []


def test_the_sum_of_a_residual_block_and_a_branch_are_left_alone():
    same = {"filters": 8, "padding": "same"}
    nodes = [
        Node("i", "input", "i", {"shape": (32, 32, 3)}),
        Node("a", "conv2d", "a", same),  # branches
        Node("b", "conv2d", "b", {**same, **RELU}),
        Node("c", "conv2d", "c", same),  # ends in the sum
        Node("s", "add", "s", {}),
        Node("f", "flatten", "f", {}),
        Node("d", "dense", "d", END[1]),
    ]
    pairs = (("i", "a"), ("a", "b"), ("b", "c"), ("c", "s"), ("s", "f"), ("f", "d"))
    edges = [*(Edge(*pair) for pair in pairs), Edge("a", "s", 1)]
    assert hints(Graph.of(nodes, edges)) == []


def test_the_fix_sets_the_activation_and_the_hint_is_gone():
    graph = chain(INPUT, FLAT, dense(), END)
    (problem,) = check(graph).problems
    assert problem.severity == "hint"
    assert problem.message == (
        "Dense “c” has no activation before Dense “d”: without one, the two compute no more than a "
        "single linear layer can."
    )
    (fix,) = [fix for fix in problem.fixes if fix.key == "set_activation"]
    assert fix.title == "Set activation to relu"
    assert check(fix.apply(graph)).problems == []


@pytest.mark.parametrize("template", list_templates(), ids=lambda template: template.key)
def test_no_template_gets_such_a_hint(template):
    project = template.project
    found = analyse(project.graph, LAYERS, recipe=project.recipe).problems
    assert [p.message for p in found if p.title in {IN_A_ROW, NONE}] == []
