"""Pretrained networks as layers: what their files hold, and how they get into a graph."""

from __future__ import annotations

import hashlib

import pytest

from workbench.assets import resource_path
from workbench.backbones import all_backbones, block_of, insert_backbone
from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.network.roles import find_outputs, pipeline_nodes
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import parse_project, project_text
from workbench.core.specs import BundledWeights
from workbench.errors import GraphError
from workbench.layers import all_layers

KEYS = list(all_backbones())
SHAPE = (224, 224, 3)


def with_input(shape=SHAPE) -> Graph:
    return Graph.of([Node("n1", "input", "image", {"shape": shape})])


def inserted(key, shape=SHAPE):
    return insert_backbone(with_input(shape), all_backbones()[key], "n1", shape)


@pytest.mark.parametrize("key", KEYS)
def test_shapes_and_parameters_are_those_of_the_spec(key):
    spec, result = all_backbones()[key], inserted(key)
    found = Propagation(result.graph, all_layers())
    assert found.problems == []
    assert found.shapes[result.last] == (spec.num_features,)
    layers = all_layers()
    total = 0
    for node in result.nodes:
        graph_node = result.graph.nodes[node]
        count = layers[graph_node.kind].count_params(found.params[node], found.inputs[node])
        name = graph_node.pretrained.partition("/")[2]
        weights = block_of(spec).layers.get(name)
        assert count.total == (weights.num_parameters if weights else 0)
        total += count.total
    assert total == spec.num_parameters


@pytest.mark.parametrize("key", KEYS)
def test_it_is_one_group_that_never_learns_and_ends_in_its_features(key):
    result = inserted(key)
    nodes = [result.graph.nodes[node] for node in result.nodes]
    assert {(node.group, node.training) for node in nodes} == {(result.group, "never")}
    assert result.group == all_backbones()[key].title
    assert find_outputs(result.graph, all_layers()) == (result.last,)
    assert result.graph.sources(result.first) == ("n1",)


def test_a_second_one_gets_names_and_a_group_of_its_own():
    first = inserted(KEYS[0])
    second = insert_backbone(first.graph, all_backbones()[KEYS[0]], "", SHAPE)
    names = [node.name for node in second.graph.nodes.values()]
    assert len(set(names)) == len(names)
    assert second.group != first.group
    weights = [second.graph.nodes[node].pretrained for node in second.nodes]
    assert weights == [first.graph.nodes[node].pretrained for node in first.nodes]
    assert second.graph.sources(second.first) == ()


def test_other_connections_of_the_node_stay():
    graph = with_input().with_node(Node("n2", "flatten", "flatten")).with_edge(Edge("n1", "n2"))
    result = insert_backbone(graph, all_backbones()[KEYS[0]], "n1", SHAPE)
    assert set(result.graph.targets("n1")) == {"n2", result.first}


@pytest.mark.parametrize("key", KEYS)
def test_small_grayscale_images_become_large_ones_in_color(key):
    result = inserted(key, (28, 28, 1))
    found = Propagation(result.graph, all_layers())
    assert found.problems == []
    spec = all_backbones()[key]
    shapes = [found.shapes[node] for node in result.nodes[:2]]
    assert shapes == [(*spec.input_shape[:2], 1), spec.input_shape]
    assert found.shapes[result.last] == (spec.num_features,)


@pytest.mark.parametrize("side", [32, 160, 225])
@pytest.mark.parametrize("key", KEYS)
def test_every_size_that_is_large_enough_gives_features(key, side):
    shape = (side, side + 1, 3)
    result = inserted(key, shape)
    found = Propagation(result.graph, all_layers())
    assert found.problems == []
    assert found.shapes[result.last] == (all_backbones()[key].num_features,)


@pytest.mark.parametrize("shape", [(224, 224, 4), (224,), (7, 7, 256)])
def test_what_is_no_image_is_refused(shape):
    with pytest.raises(GraphError, match="takes images only"):
        inserted(KEYS[0], shape)


def test_a_node_that_is_not_there_is_refused():
    with pytest.raises(GraphError, match="There is no layer"):
        insert_backbone(Graph(), all_backbones()[KEYS[0]], "n9", SHAPE)


def test_preprocessing_runs_in_the_input_pipeline_where_it_can():
    chains = {key: pipeline_nodes(inserted(key).graph, all_layers()) for key in KEYS}
    rescaled = [key for key, chain in chains.items() if chain]
    assert [key for key in KEYS if all_backbones()[key].is_bundled] == [
        key for key in rescaled if all_backbones()[key].is_bundled
    ]


def test_a_project_with_it_is_saved_and_opened_again():
    graph = inserted(KEYS[0]).graph
    again = parse_project(project_text(Project(graph=graph)), "here")
    assert again.graph == graph


@pytest.mark.parametrize("key", KEYS)
def test_bundled_weights_are_the_file_that_the_spec_names(key):
    spec = all_backbones()[key]
    if isinstance(spec.weights, BundledWeights):
        data = resource_path(spec.weights_resource).read_bytes()
        assert hashlib.sha256(data).hexdigest() == spec.weights.sha256
    else:
        assert spec.weights.address.startswith("https://")
        assert len(spec.weights.checksum) in {0, 32, 64}
