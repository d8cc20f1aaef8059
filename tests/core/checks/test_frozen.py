"""The frozen part of a network: where it ends, and when there is none."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from workbench.core.checks.costs import frozen_end
from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.training.progress_rules import phase_after, phases_of
from workbench.core.training.recipe import TrainingRecipe
from workbench.layers import all_layers


def a_chain(*kinds, frozen=()):
    """A network of layers in a row behind an Input of 8 x 8 colors; `frozen` by name."""
    nodes = [Node("n0", "input", "input", {"shape": (8, 8, 3)})]
    for number, kind in enumerate(kinds, 1):
        name, _, param = kind.partition(":")
        params = {"rate": float(param)} if param else {}
        node = Node(f"n{number}", name, f"{name}_{number}", params)
        nodes.append(replace(node, training="never" if node.name in frozen else "always"))
    edges = [Edge(a.id, b.id) for a, b in pairwise(nodes)]
    return Graph.of(nodes, edges)


def end_of(graph, *, is_fine_tuning=False):
    recipe = TrainingRecipe(epochs=10, fine_tuning_after=5)
    phase = phases_of(recipe)[1 if is_fine_tuning else 0]
    layers = all_layers()
    found = Propagation(graph, layers)
    assert not found.problems
    end = frozen_end(graph, layers, found, lambda node: phase.learns(node.training))
    return graph.nodes[end].name if end else None


def test_the_frozen_part_goes_on_through_layers_without_weights():
    graph = a_chain(
        "conv2d", "relu", "global_average_pooling2d", "dropout:0.2", "dense", frozen=["conv2d_1"]
    )
    assert end_of(graph) == "global_average_pooling2d_3"


def test_a_dropout_that_draws_nothing_does_not_end_it():
    graph = a_chain("conv2d", "flatten", "dropout:0.0", "dense", frozen=["conv2d_1"])
    assert end_of(graph) == "dropout_3"


def test_nothing_is_frozen_where_all_layers_learn():
    assert end_of(a_chain("rescaling", "conv2d", "flatten", "dense")) is None


def test_layers_that_compute_nothing_are_not_worth_computing_ahead():
    assert end_of(a_chain("random_flip", "rescaling", "conv2d", "flatten", "dense")) is None
    assert end_of(a_chain("rescaling", "average_pooling2d", "flatten", "dense")) is None


def test_without_an_input_nothing_is_frozen():
    graph = a_chain("conv2d", "flatten", "dense", frozen=["conv2d_1"]).without_nodes(["n0"])
    layers = all_layers()
    assert frozen_end(graph, layers, Propagation(graph, layers), lambda node: False) is None


def test_augmentation_belongs_to_the_frozen_part():
    graph = a_chain("random_flip", "conv2d", "flatten", "dense", frozen=["conv2d_2"])
    assert end_of(graph) == "flatten_3"


def test_a_frozen_layer_behind_one_that_learns_is_computed_in_each_step():
    graph = a_chain("conv2d", "conv2d", "flatten", "dense", frozen=["conv2d_2"])
    assert end_of(graph) is None


def test_batch_statistics_that_are_followed_end_it():
    learned = a_chain("conv2d", "batch_normalization", "flatten", "dense", frozen=["conv2d_1"])
    both = a_chain(
        "conv2d",
        "batch_normalization",
        "flatten",
        "dense",
        frozen=["conv2d_1", "batch_normalization_2"],
    )
    assert end_of(learned) == "conv2d_1"
    assert end_of(both) == "flatten_3"


def test_in_fine_tuning_it_ends_where_layers_begin_to_learn():
    graph = a_chain("conv2d", "conv2d", "flatten", "dense", frozen=["conv2d_1"])
    tuned = graph.with_node(replace(graph.nodes["n2"], training="fine_tuning"))
    assert end_of(tuned) == "flatten_3"
    assert end_of(tuned, is_fine_tuning=True) == "conv2d_1"


def test_a_branch_around_a_layer_is_no_end():
    """What is kept must be all that the rest of the network computes with."""
    nodes = [
        Node("i", "input", "input", {"shape": (8, 8, 3)}),
        Node("a", "conv2d", "a", {"filters": 4, "padding": "same"}, training="never"),
        Node("b", "conv2d", "b", {"filters": 4, "padding": "same"}, training="never"),
        Node("m", "add", "m"),
        Node("c", "conv2d", "c", {"filters": 4}),
        Node("f", "flatten", "f"),
        Node("d", "dense", "d", {"units": 2}),
    ]
    edges = [("i", "a", 0), ("a", "b", 0), ("a", "m", 0), ("b", "m", 1), ("m", "c", 0)]
    edges += [("c", "f", 0), ("f", "d", 0)]
    graph = Graph.of(nodes, [Edge(*edge) for edge in edges])
    assert end_of(graph) == "m"
    assert end_of(graph.with_node(replace(graph.nodes["b"], training="always"))) == "a"


def test_the_phase_of_each_epoch():
    recipe = TrainingRecipe(epochs=5, fine_tuning_after=3, learning_rate=0.1)
    kinds = [phase_after(recipe, done).is_fine_tuning for done in range(6)]
    assert kinds == [False, False, False, True, True, True]
    assert [(p.first_epoch, p.end_epoch) for p in phases_of(recipe)] == [(0, 3), (3, 5)]
    assert len(phases_of(TrainingRecipe(epochs=5))) == 1
