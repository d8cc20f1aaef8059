"""Edits of the augmentation layers as one chain."""

from __future__ import annotations

import pytest

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.projects.project import Project
from workbench.document.project_document import ProjectDocument
from workbench.errors import GraphError, ParamError
from workbench.layers import all_layers


@pytest.fixture
def document(qapp, tmp_path):
    """Input → flip → rescaling → contrast → two branches."""
    kinds = {
        "a": "input", "b": "random_flip", "c": "rescaling", "d": "random_contrast",
        "e": "flatten", "f": "dense", "g": "dense",
    }  # fmt: skip
    layers = all_layers()
    nodes = [Node(key, kind, key, layers[kind].defaults()) for key, kind in kinds.items()]
    edges = ["ab", "bc", "cd", "de", "ef", "dg"]
    graph = Graph.of(nodes, [Edge(*pair) for pair in edges])
    found = ProjectDocument(layers, state_folder=tmp_path)
    found.new(Project(graph=graph))
    return found


def edges(document):
    return {edge.source + edge.target for edge in document.graph.edges}


def test_layers_change_places_and_others_stay(document):
    places = dict(document.positions)
    assert document.augmentation == ("b", "d")
    document.reorder_augmentation(["d", "b"])
    assert document.augmentation == ("d", "b")
    assert edges(document) == {"ad", "dc", "cb", "be", "bg", "ef"}
    assert (document.positions["b"], document.positions["d"]) == (places["d"], places["b"])
    assert document.undo_stack.undoText() == "Reorder augmentation"
    document.undo_stack.undo()
    assert edges(document) == {"ab", "bc", "cd", "de", "ef", "dg"}
    assert dict(document.positions) == places
    with pytest.raises(GraphError):
        document.reorder_augmentation(["b"])


def test_a_layer_is_added_at_the_end_before_another_and_removed(document):
    last = document.add_augmentation("random_zoom", {"height_factor": 0.3})
    assert document.augmentation == ("b", "d", last)
    assert document.graph.nodes[last].params["height_factor"] == 0.3
    assert set(document.graph.targets(last)) == {"e", "g"}
    first = document.add_augmentation("random_rotation", before="b")
    assert document.augmentation == (first, "b", "d", last)
    document.remove_augmentation("d")
    assert document.augmentation == (first, "b", last)
    assert document.graph.sources(last) == ("c",)
    assert document.positions.keys() == document.graph.nodes.keys()
    with pytest.raises(ParamError):
        document.add_augmentation("random_zoom", {"height_factor": 30})


def test_the_whole_chain_is_replaced_in_one_step(document):
    chain = [("random_flip", {"mode": "vertical"}), ("random_brightness", {})]
    document.replace_augmentation(chain)
    first, second = document.augmentation
    assert document.graph.nodes[first].params["mode"] == "vertical"
    assert document.graph.sources(first) == ("a",)
    assert document.graph.sources("c") == (second,)
    document.replace_augmentation([])
    assert not document.augmentation
    assert edges(document) == {"ac", "ce", "cg", "ef"}
    document.undo_stack.undo()
    document.undo_stack.undo()
    assert document.augmentation == ("b", "d")


def test_a_network_without_input_takes_none(document):
    document.remove(["a"])
    for edit in (
        lambda: document.add_augmentation("random_flip"),
        lambda: document.replace_augmentation([("random_flip", {})]),
    ):
        with pytest.raises(GraphError, match="Input"):
            edit()
