"""Layers whose pretrained weights are no longer theirs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.small_projects import network_on
from workbench.backbones import all_backbones, insert_backbone, pretrained_layer
from workbench.core.checks.analysis import analyse
from workbench.core.network.graph import Edge, Graph, Node, removed
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers

SHAPE = (64, 64, 3)
KEY = next(key for key, spec in all_backbones().items() if spec.is_bundled)


@pytest.fixture
def graph():
    start = Graph.of([Node("n1", "input", "image", {"shape": SHAPE})])
    found = insert_backbone(start, all_backbones()[KEY], "n1", SHAPE)
    head = Node("head", "dense", "head", {"units": 5, "activation": "softmax"})
    return found.graph.with_node(head).with_edge(Edge(found.last, "head"))


def problems(graph, **more):
    found = analyse(
        graph, all_layers(), recipe=TrainingRecipe(), **{"pretrained": pretrained_layer, **more}
    )
    return [problem for problem in found.problems if "retrained" in problem.title]


def named(graph, name):
    return next(node for node in graph.nodes.values() if node.name == name)


def test_a_backbone_as_it_was_inserted_has_none(graph):
    assert problems(graph) == []


def test_changed_settings_are_restored_or_the_weights_forgotten(graph):
    conv = named(graph, "conv1")
    changed = graph.with_params(conv.id, kernel_size=(5, 5))
    (problem,) = problems(changed)
    assert (problem.node, problem.severity) == (conv.id, "error")
    assert "600" in problem.message
    assert "216" in problem.message
    restore, forget = problem.fixes
    assert restore.apply(changed).nodes[conv.id] == conv
    started = forget.apply(changed).nodes[conv.id]
    assert (started.pretrained, started.training) == ("", "always")
    assert started.params["kernel_size"] == (5, 5)
    assert problems(restore.apply(changed)) == problems(forget.apply(changed)) == []


def test_where_the_inputs_have_changed_only_forgetting_helps(graph):
    conv = named(graph, "conv1")
    forgotten = replace(conv, pretrained="", params={**conv.params, "filters": 16})
    found = problems(graph.with_node(forgotten))
    assert found[0].node == named(graph, "conv1_bn").id
    keys = [fix.key for fix in found[0].fixes]
    assert keys == ["forget_pretrained", "forget_pretrained_all"]


def test_settings_without_weights_are_free(graph):
    relu = named(graph, "conv1_relu")
    assert problems(graph.with_params(relu.id, max_value=0.0)) == []


def test_weights_that_nobody_knows_are_an_error(graph):
    conv = named(graph, "conv1")
    for name in ("nonet/conv1", f"{KEY}/nolayer", "nothing"):
        (problem,) = problems(graph.with_node(replace(conv, pretrained=name)))
        assert name in problem.message
        (forget,) = problem.fixes
        assert problems(forget.apply(graph.with_node(replace(conv, pretrained=name)))) == []


def test_they_are_not_checked_where_nobody_finds_them(graph):
    changed = graph.with_params(named(graph, "conv1").id, kernel_size=(5, 5))
    assert problems(changed, pretrained=None) == []


# the range of the values -------------------------------------------------------------------


def ranges(graph):
    found = analyse(
        graph, all_layers(), recipe=TrainingRecipe(), pretrained=pretrained_layer
    ).problems
    return [problem for problem in found if problem.title.startswith("Values ")]


UNIT = ("rescaling", {"scale": 1 / 255})


@pytest.mark.parametrize("spec", all_backbones().values(), ids=lambda spec: spec.key)
def test_values_that_were_scaled_before_are_scaled_twice(spec):
    assert ranges(network_on(spec)) == []
    assert ranges(network_on(spec, ("random_flip", {}), ("resizing", {}))) == []
    graph = network_on(spec, ("random_flip", {}), UNIT)
    (problem,) = ranges(graph)
    assert (problem.severity, problem.title) == ("warning", "Values are scaled twice")
    assert graph.nodes[problem.node].kind == "rescaling"
    assert spec.title in problem.message
    (fix,) = problem.fixes
    fixed = fix.apply(graph)
    assert len(fixed.nodes) == len(graph.nodes) - 1
    assert ranges(fixed) == []


@pytest.mark.parametrize("kind", ["normalization", "batch_normalization", "layer_normalization"])
def test_normalized_values_are_scaled_twice_too(kind):
    (problem,) = ranges(network_on(all_backbones()[KEY], (kind, {})))
    assert [fix.title.split()[0] for fix in problem.fixes] == ["Remove"]


def test_several_are_removed_together_and_two_that_cancel_out_are_left():
    spec = all_backbones()[KEY]
    graph = network_on(spec, UNIT, ("rescaling", {"scale": 2.0, "offset": -1.0}))
    (problem,) = ranges(graph)
    assert problem.message.count("Rescaling “") == 2
    assert ranges(problem.fixes[0].apply(graph)) == []
    assert ranges(network_on(spec, UNIT, ("rescaling", {"scale": 255.0}))) == []


def test_layers_that_learn_in_front_of_a_backbone_are_left_alone():
    color = ("conv2d", {"filters": 3, "kernel_size": (1, 1), "padding": "same"})
    assert ranges(network_on(all_backbones()[KEY], UNIT, color)) == []


def test_a_backbone_without_its_own_rescaling_needs_another(graph):
    own = next(node for node in graph.nodes.values() if node.kind == "rescaling")
    bare = removed(graph, [own.id])
    (problem,) = ranges(bare)
    assert (problem.node, problem.severity) == (named(graph, "conv1").id, "warning")
    assert "from 0 to 255" in problem.message
    assert "from −1 to 1" in problem.message
    mine = network_on(all_backbones()[KEY], (own.kind, dict(own.params)))
    members = [k for k, n in mine.nodes.items() if n.group and n.kind == "rescaling"]
    assert ranges(removed(mine, members)) == []


def test_a_backbone_without_images_or_behind_an_unknown_layer_has_no_range_to_compare(graph):
    def titles(changed):
        found = analyse(changed, all_layers(), recipe=TrainingRecipe(), pretrained=pretrained_layer)
        return {problem.title for problem in found.problems}

    ranges = {"Values are scaled twice", "Values are not as in the training of the weights"}
    alone = graph.without_nodes(["n1"])
    first = graph.targets("n1")[0]
    unknown = Node("odd", "no_such_layer", "odd")
    behind = graph.without_edge(Edge("n1", first)).with_node(unknown)
    behind = behind.with_edge(Edge("n1", "odd")).with_edge(Edge("odd", first))
    both = graph.without_edge(Edge("n1", first))
    both = both.with_node(Node("two", "relu", "two")).with_node(Node("sum", "add", "sum"))
    for edge in (Edge("n1", "two"), Edge("n1", "sum"), Edge("two", "sum", 1), Edge("sum", first)):
        both = both.with_edge(edge)
    for changed in (alone, behind, both):
        assert not ranges & titles(changed)
