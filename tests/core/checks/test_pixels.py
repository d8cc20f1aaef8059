"""Images whose values go into the first layer that learns as they are."""

from __future__ import annotations

import pytest

from tests.core.checks.rest import NOT_SCALED
from tests.core.checks.test_shapes import INPUT, chain
from workbench.backbones import all_backbones, insert_backbone, pretrained_layer
from workbench.core.checks.analysis import analyse
from workbench.core.checks.images import DatasetFacts
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers
from workbench.templates import list_templates

LAYERS = all_layers()
CIFAR = DatasetFacts((32, 32, 3), 10, "CIFAR-10")
CONV, FLAT = ("conv2d", {"activation": "relu"}), ("flatten", {})
END = ("dense", {"units": 10, "activation": "softmax"})
FLIP = ("random_flip", {})


def found(graph, layers=LAYERS):
    problems = analyse(
        graph, layers, recipe=TrainingRecipe(), dataset=CIFAR, pretrained=pretrained_layer
    ).problems
    return [problem for problem in problems if problem.title == NOT_SCALED]


@pytest.mark.parametrize(
    ("kinds", "first"),
    [
        ([CONV, FLAT, END], "b"),
        ([FLAT, END], "c"),
        ([FLIP, ("max_pooling2d", {}), CONV, FLAT, END], "d"),
        ([("dropout", {}), FLAT, ("dense", {"units": 9, "activation": "relu"}), END], "d"),
    ],
)
def test_the_first_layer_that_gets_pixels_is_named(kinds, first):
    (problem,) = found(chain(INPUT, *kinds))
    assert (problem.node, problem.severity) == (first, "hint")
    assert "0 to 255" in problem.message


@pytest.mark.parametrize(
    "kinds",
    [
        [("rescaling", {}), CONV, FLAT, END],
        [("normalization", {}), CONV, FLAT, END],
        [("batch_normalization", {}), CONV, FLAT, END],
        [("layer_normalization", {}), FLAT, END],
        [("conv2d", {}), ("batch_normalization", {}), ("relu", {}), FLAT, END],
        [("softmax", {}), FLAT, END],
        [CONV, FLAT, ("dense", {**END[1], "kernel_initializer": "zeros"})],
    ],
)
def test_nothing_is_said_where_values_are_scaled_or_do_not_matter(kinds):
    assert found(chain(INPUT, *kinds)) == []


@pytest.mark.parametrize("template", list_templates(), ids=lambda template: template.key)
def test_no_template_is_warned_of(template):
    assert found(template.project.graph) == []


@pytest.mark.parametrize("spec", all_backbones().values(), ids=lambda spec: spec.key)
def test_no_pretrained_network_is_warned_of(spec):
    start = Graph.of([Node("n1", "input", "input", {"shape": list(spec.input_shape)})], [])
    inserted = insert_backbone(start, spec, "n1", spec.input_shape)
    graph = inserted.graph
    end = graph.order[-1]
    graph = graph.with_node(Node("end", "dense", "end", END[1])).with_edge(Edge(end, "end"))
    assert found(graph) == []


def test_a_network_that_is_not_right_yet_has_other_problems():
    assert found(chain(INPUT, CONV)) == []
    assert found(chain(CONV, FLAT, END)) == []
    assert found(chain(INPUT)) == []


def test_the_fix_scales_behind_the_augmentation_and_is_right():
    graph = chain(INPUT, FLIP, CONV, FLAT, END)
    (problem,) = found(graph)
    (fix,) = problem.fixes
    assert fix.title == "Insert Rescaling (÷ 255)"
    fixed = fix.apply(graph)
    assert [fixed.nodes[key].kind for key in fixed.order] == [
        "input",
        "random_flip",
        "rescaling",
        "conv2d",
        "flatten",
        "dense",
    ]
    assert found(fixed) == []
    assert analyse(fixed, LAYERS, recipe=TrainingRecipe(), dataset=CIFAR).is_trainable


def test_the_fix_feeds_all_branches_and_leaves_a_graph_without_input_alone():
    graph = chain(INPUT, CONV, ("add", {}), FLAT, END)
    graph = graph.with_node(Node("x", "conv2d", "x", CONV[1]))
    graph = graph.with_edge(Edge("a", "x")).with_edge(Edge("x", "c", 1))
    (problem,) = found(graph)
    (fix,) = problem.fixes
    fixed = fix.apply(graph)
    (added,) = fixed.targets("a")
    assert set(fixed.targets(added)) == {"b", "x"}
    bare = chain(CONV, FLAT)
    assert fix.apply(bare) == bare


def test_without_a_layer_that_scales_there_is_nothing_to_offer():
    others = {key: spec for key, spec in LAYERS.items() if spec.range_of is None}
    assert found(chain(INPUT, CONV, FLAT, END), Registry[LayerSpec](others)) == []
