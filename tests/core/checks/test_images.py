"""The shape that Input is to have for the images, by every way in, and what is lost by another."""

from __future__ import annotations

import pytest

from tests.core.checks.test_shapes import chain
from workbench.backbones import all_backbones, insert_backbone, pretrained_layer
from workbench.core.checks.analysis import analyse
from workbench.core.checks.images import (
    DatasetFacts,
    input_shape,
    pretrained_shape,
    with_input_shape,
)
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.training.recipe import TrainingRecipe
from workbench.datasets import all_datasets
from workbench.layers import all_layers

LAYERS = all_layers()
FLOWERS = DatasetFacts(None, 5, "Flowers", typical=(224, 299, 3))
CIFAR = DatasetFacts((32, 32, 3), 10, "CIFAR-10")
USUAL = (224, 224, 3)


def check(graph, facts):
    recipe = TrainingRecipe()
    return analyse(graph, LAYERS, recipe=recipe, dataset=facts, pretrained=pretrained_layer)


def resized(graph, facts):
    """The problem about the size of Input, if there is one."""
    found = [p for p in check(graph, facts).problems if p.title == "Images will be resized"]
    return found[0] if found else None


def network(shape):
    return chain(
        ("input", {"shape": shape}), ("global_average_pooling2d", {}), ("dense", {"units": 5})
    )


def on_backbone(shape, key="efficientnet_lite0"):
    """Input, a pretrained network and a head, as they are put together by hand."""
    spec = all_backbones()[key]
    start = Graph.of([Node("n1", "input", "input", {"shape": shape})])
    inserted = insert_backbone(start, spec, "n1", shape)
    head = Node("head", "dense", "head", {"units": 5, "activation": "softmax"})
    return inserted.graph.with_node(head).with_edge(Edge(inserted.last, "head"))


@pytest.mark.parametrize(
    ("facts", "pretrained", "shape"),
    [
        (CIFAR, None, (32, 32, 3)),
        (DatasetFacts((28, 28, 1), 10, ""), None, (28, 28, 1)),
        (FLOWERS, None, USUAL),
        (DatasetFacts(None, 5, "", typical=(3000, 4000, 3)), None, USUAL),
        (DatasetFacts((3000, 4000, 3), 5, ""), None, USUAL),
        (DatasetFacts(None, 5, "", typical=(100, 120, 1)), None, (96, 96, 1)),
        (DatasetFacts(None, 5, "", typical=(20, 24, 3)), None, (20, 20, 3)),
        (FLOWERS, (320, 320, 3), (320, 320, 3)),
        (CIFAR, USUAL, USUAL),
        (DatasetFacts((300, 300, 3), 5, ""), USUAL, (300, 300, 3)),
        (DatasetFacts((300, 300, 1), 5, ""), USUAL, USUAL),
        (DatasetFacts(None, None, ""), None, None),
        (None, None, None),
        (None, USUAL, USUAL),
    ],
)
def test_input_takes_the_shape_of_the_images_or_the_usual_one(facts, pretrained, shape):
    assert input_shape(facts, pretrained) == shape


def test_every_published_data_set_says_the_shape_of_its_images():
    for spec in all_datasets().values():
        facts = DatasetFacts.of(spec, {})
        assert facts is None or input_shape(facts) is not None, spec.key


def test_an_input_that_a_fix_adds_has_the_shape_of_the_images():
    graph = network(USUAL)
    graph = graph.without_nodes(["a"])
    for problem in check(graph, FLOWERS).problems:
        for fix in problem.fixes:
            if fix.title == "Add Input":
                added = [n for n in fix.apply(graph).nodes.values() if n.kind == "input"]
                assert [node.params["shape"] for node in added] == [USUAL]


@pytest.mark.parametrize(
    ("shape", "facts", "severity"),
    [
        ((28, 28, 1), FLOWERS, "warning"),
        ((192, 192, 1), FLOWERS, "warning"),  # only the color is dropped
        ((64, 64, 3), FLOWERS, "warning"),
        ((128, 128, 3), FLOWERS, "hint"),
        ((192, 192, 3), FLOWERS, ""),
        ((224, 224, 3), FLOWERS, ""),
        ((320, 320, 3), FLOWERS, ""),
        ((1024, 1024, 3), FLOWERS, "hint"),
        ((32, 32, 1), CIFAR, "warning"),
        ((28, 28, 3), CIFAR, "hint"),
        ((15, 15, 3), CIFAR, "warning"),
        ((28, 28, 3), DatasetFacts((28, 28, 1), 10, "gray"), "hint"),
        ((28, 28, 1), DatasetFacts(None, 10, "gray", typical=(30, 31, 1)), ""),
        ((28, 28, 1), DatasetFacts(None, 10, "unknown"), ""),
    ],
)
def test_what_is_lost_by_resizing_is_a_warning(shape, facts, severity):
    graph = network(shape)
    problem = resized(graph, facts)
    assert (problem.severity if problem else "") == severity
    if problem is not None:
        assert problem.fixes
        for fix in problem.fixes:
            left = resized(fix.apply(graph), facts)
            assert left is None or left.severity == "hint"


def test_what_is_lost_is_said_in_words():
    words = resized(network((28, 28, 1)), FLOWERS).message
    assert "differ in size, typically 224 × 299 × 3" in words
    assert "Their color is dropped." in words
    assert "Most of their detail is lost." in words


def test_color_comes_back_at_the_size_that_was_chosen_or_at_the_usual_one():
    problem = resized(network((192, 192, 1)), FLOWERS)
    assert {fix.title for fix in problem.fixes} == {
        "Set Input to 192 × 192 × 3",
        "Set Input to 224 × 224 × 3",
    }


@pytest.mark.parametrize("key", [key for key, s in all_backbones().items() if s.is_bundled])
@pytest.mark.parametrize("shape", [(28, 28, 1), (64, 64, 3), (20, 20, 3), (96, 96, 1)])
def test_a_backbone_behind_a_small_input_offers_its_own_size(key, shape):
    """Layers that only made up for the small, gray images go: they would triple the channels."""
    graph = on_backbone(shape, key)
    wanted = all_backbones()[key].input_shape
    assert pretrained_shape(graph, pretrained_layer) == wanted
    problem = resized(graph, FLOWERS)
    assert problem.severity == "warning"
    fix = problem.fixes[-1]
    assert fix.title == f"Set Input to {' × '.join(map(str, wanted))}"
    fixed = fix.apply(graph)
    found = check(fixed, FLOWERS)
    assert found.is_trainable
    assert resized(fixed, FLOWERS) is None
    kinds = [node.kind for node in fixed.nodes.values()]
    plain = [node.kind for node in on_backbone(wanted, key).nodes.values()]
    assert sorted(kinds) == sorted(plain)


def test_a_backbone_at_its_size_is_right_for_small_images_too():
    assert resized(on_backbone(USUAL), CIFAR) is None
    assert resized(on_backbone((32, 32, 3)), CIFAR) is None


def test_a_fix_of_an_input_that_was_deleted_since_changes_nothing():
    graph = network((32, 32, 3))
    assert with_input_shape(graph, "deleted", USUAL, LAYERS) == graph
