"""Weights that other programs made, loaded into the projects of their networks: a small form of
`tests/proofs/weights.py`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import h5py
import keras
import numpy as np
import pytest
from keras import layers

from tests.built_networks import runner_of
from tests.foreign_networks import KINDS, NETWORKS, Maker, branches, make_files, save
from tests.proofs.weights import LIMIT, outcome
from workbench.core.network.graph import Graph
from workbench.errors import LayerOrderError, WeightsError
from workbench.worker.foreign.architecture import (
    UnknownNetworkError,
    match_calls,
    read_architecture,
)
from workbench.worker.foreign.foreign_weights import read_foreign_weights
from workbench.worker.model.build import assign_weights
from workbench.worker.saved_models.keras_runner import weights_layout

# Keras and tf_keras warn while they save: of NumPy, and of their own older formats.
pytestmark = [pytest.mark.worker, pytest.mark.filterwarnings("ignore")]


def made(graph: Graph, kind: str, name: str, folder: Path):
    model = Maker(keras, np.random.default_rng(2)).build(graph, kind)
    return model, save(model, name, folder, 0)


def differs(graph: Graph, model, found) -> float:
    """The largest difference between the maker's answers and ours, for noise."""
    built = runner_of(graph).built
    assign_weights(built, found.arrays)
    pictures = np.random.default_rng(3).uniform(0, 255, (3, 8, 8, 3)).astype("float32")
    theirs, ours = (np.asarray(each(pictures, training=False)) for each in (model, built.model))
    return float(np.abs(ours - theirs).max() / max(1.0, np.abs(theirs).max()))


def load(graph: Graph, path: Path, **more):
    return read_foreign_weights(path, weights_layout(runner_of(graph).built), **more)


def test_files_of_three_libraries_are_right_asked_or_refused(tmp_path):
    found = [outcome(each) for each in make_files(tmp_path, seed=7, count=24)]
    assert [why for kind, why in found if kind.startswith("swapped")] == []
    assert sum(kind.startswith("right") for kind, _ in found) >= 12


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("kind", ["exchanged", "nested"])
def test_a_whole_model_is_matched_by_the_network_in_it(tmp_path, kind, network):
    graph = NETWORKS[network](6)
    model, path = made(graph, kind, ".keras", tmp_path)
    found = load(graph, path)
    assert found.matched_by == ("structure" if kind == "exchanged" else "names")
    assert found.doubts == []
    assert differs(graph, model, found) <= LIMIT


def test_branches_that_nothing_distinguishes_in_the_file_are_asked(tmp_path):
    graph = branches(6)
    model, path = made(graph, "exchanged", ".weights.h5", tmp_path)
    with pytest.raises(LayerOrderError) as caught:
        load(graph, path)
    assert "(3×3×6×6, 6)" in caught.value.received
    assert "--layer-order file" in caught.value.fix
    found = load(graph, path, by_order=True)
    assert found.matched_by == "order"
    assert all("may be another one" in words for words in found.doubts)
    assert differs(graph, model, found) > 100 * LIMIT  # so it is: the doubt is a real one


def test_one_layer_used_twice_gives_both_layers_its_weights(tmp_path):
    graph = NETWORKS["twins"](4)
    model, path = made(graph, "shared", ".keras", tmp_path)
    found = load(graph, path)
    assert differs(graph, model, found) <= LIMIT
    assert np.array_equal(found.arrays["a1/kernel"], found.arrays["b2/kernel"])
    assert found.arrays["a1/kernel"] is not found.arrays["b2/kernel"]


@pytest.mark.parametrize("name", [".weights.h5", "whole .h5", ".keras"])
def test_names_that_contradict_are_refused_or_decided_by_the_network_in_the_file(tmp_path, name):
    graph = NETWORKS["chain"](6)
    turned = {"second": "third", "third": "second"}
    nodes = [replace(node, name=turned.get(node.name, node.name)) for node in graph.nodes.values()]
    model, path = made(Graph.of(nodes, graph.edges), "same names", name, tmp_path)
    if name == ".weights.h5":
        with pytest.raises(WeightsError) as caught:
            load(graph, path)
        assert "“third” before “second” in the file" in caught.value.received
        return
    found = load(graph, path)
    assert found.matched_by == "structure"
    assert "“third” is “second” here" in found.doubts[0]
    assert differs(graph, model, found) <= LIMIT


def test_another_network_in_the_file_is_said(tmp_path):
    """The same layers with weights, another function behind one of them, and no rescaling."""
    graph = NETWORKS["chain"](6)
    nodes = {
        node.name: replace(node, params={**node.params, "activation": "linear"})
        if node.name == "second"
        else node
        for node in graph.nodes.values()
    }
    _, path = made(Graph.of(nodes.values(), graph.edges), "same names", ".keras", tmp_path)
    found = load(graph, path)
    assert found.matched_by == "names"
    (doubt,) = found.doubts
    assert "not that of the project" in doubt
    assert "relu in the project" in doubt


def test_layers_of_the_same_shape_with_other_arrays_are_not_confused(tmp_path):
    """Batch normalization without scale has beta where one without center has gamma."""
    graph = NETWORKS["norms"](4)
    other = {"unscaled": {"center": False}, "uncentered": {"scale": False}}
    nodes = [replace(n, params=other.get(n.name, n.params)) for n in graph.nodes.values()]
    _, path = made(Graph.of(nodes, graph.edges), "renamed", "whole .h5", tmp_path)
    with pytest.raises(WeightsError, match="different model"):
        load(graph, path)


def test_layers_in_several_models_within_the_model_are_not_guessed(tmp_path):
    graph = NETWORKS["chain"](6)
    path = tmp_path / "two.weights.h5"
    _, whole = made(graph, "renamed", "unnamed .weights.h5", tmp_path)
    with h5py.File(whole) as source, h5py.File(path, "w") as file:
        source.copy("layers", file)
        file.create_group("layers/functional/layers")
        file.move("layers/conv2d_1", "layers/functional/layers/conv2d")
    with pytest.raises(WeightsError) as caught:
        load(graph, path)
    assert "several models within the model" in caught.value.received


def test_only_equal_networks_are_matched():
    def calls(network, kind="automatic"):
        model = Maker(keras, np.random.default_rng(2)).build(NETWORKS[network](4), kind)
        return read_architecture(model.to_json()).calls

    for network in NETWORKS:
        for kind in KINDS:
            if kind != "shared":
                assert match_calls(calls(network), calls(network, kind)) is not None, (
                    network,
                    kind,
                )
    assert match_calls(calls("branches"), calls("joined")) is None
    assert match_calls(calls("chain"), calls("norms")) is None


class RandomScale(layers.Layer):
    """A layer of the maker's own, whose name sounds like augmentation."""

    def call(self, x):
        return x * 0.3


class OwnModel(keras.Model):
    """The network, of half of the image."""

    def call(self, x):
        return super().call(x * 0.5)


def network(*between, kind=keras.Model, side=8, **more):
    """A network that a maker changed in one place, as Keras describes it."""
    start = keras.Input((side, side, 3))
    value = layers.Conv2D(8, 3, padding="same", name="c", **more)(start)
    for layer in between:
        value = layer(value)
    value = layers.Dense(4, activation="softmax", name="d")(layers.Flatten()(value))
    return kind(start, value).to_json()


_SHALLOW = {"activation": layers.ReLU(max_value=0.1, name="relu")}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ({}, {"between": [RandomScale()]}),
        ({"activation": "relu"}, _SHALLOW),
        ({"between": [layers.BatchNormalization()]}, {"between": [layers.BatchNormalization(1)]}),
        (
            {"between": [layers.LayerNormalization()]},
            {"between": [layers.LayerNormalization(axis=1)]},
        ),
        ({}, {"between": [layers.Softmax()]}),
    ],
)
def test_networks_that_compute_something_else_do_not_match(ours, theirs):
    calls = [
        read_architecture(network(*each.pop("between", ()), **each)).calls
        for each in ({**ours}, {**theirs})
    ]
    assert match_calls(*calls) is None
    assert match_calls(calls[0], calls[0]) is not None


def test_a_second_softmax_is_not_left_out():
    start = keras.Input((8, 8, 3))
    once = layers.Dense(4, activation="softmax")(layers.Flatten()(start))
    twice = layers.Softmax()(once)
    single, double = (
        read_architecture(keras.Model(start, end).to_json()).calls for end in (once, twice)
    )
    assert match_calls(single, double) is None


@pytest.mark.parametrize("axis", [-1, 3])
def test_the_last_axis_has_two_names(axis):
    usual = read_architecture(network(layers.BatchNormalization())).calls
    other = read_architecture(network(layers.BatchNormalization(axis))).calls
    assert match_calls(usual, other) is not None


def test_of_vectors_the_last_axis_is_another_number():
    """Keras 2 writes the number of the axis: 1 behind Flatten, 3 of images."""
    start = keras.Input((8, 8, 3))
    ends = (layers.BatchNormalization(axis)(layers.Flatten()(start)) for axis in (-1, 1))
    calls = [read_architecture(keras.Model(start, end).to_json()).calls for end in ends]
    assert match_calls(*calls) is not None


def test_a_model_of_its_own_class_cannot_be_followed():
    with pytest.raises(UnknownNetworkError, match="OwnModel"):
        read_architecture(network(kind=OwnModel))


def test_the_size_of_the_images_is_read():
    assert read_architecture(network(side=8)).image == (8, 8, 3)


def test_a_network_that_cannot_be_compared_and_another_image_size_are_said(tmp_path):
    graph = NETWORKS["chain"](6)
    model, _ = made(graph, "same names", ".keras", tmp_path)
    path = tmp_path / "two.keras"
    keras.Model(model.inputs, [model.output, model.layers[-2].output]).save(path)
    (doubt,) = load(graph, path).doubts
    assert "cannot be compared" in doubt
    nodes = [
        replace(node, params={**node.params, "shape": (16, 16, 3)})
        if node.kind == "input"
        else node
        for node in graph.nodes.values()
    ]
    _, path = made(Graph.of(nodes, graph.edges), "same names", ".keras", tmp_path)
    (doubt,) = load(graph, path).doubts
    assert "16 × 16 × 3" in doubt
    assert "8 × 8 × 3" in doubt


_LOOP = json.dumps(
    {
        "class_name": "Functional",
        "config": {
            "layers": [
                {
                    "name": "a",
                    "class_name": "Dense",
                    "config": {"name": "a"},
                    "inbound_nodes": [[["a", 0, 0, {}]]],
                }
            ],
            "input_layers": [["i", 0, 0]],
            "output_layers": [["a", 0, 0]],
        },
    }
)


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "{}", "[" * 100_000, b"\xff", '{"class_name": "Functional", "config": {}}',
        '{"class_name": "Sequential", "config": [{"class_name": "Dense"}]}',
        '{"class_name": "Sequential", "config": {"layers": [7]}}',
        _LOOP,
    ],
)  # fmt: skip
def test_a_description_that_cannot_be_followed_is_no_network(text):
    with pytest.raises(UnknownNetworkError):
        read_architecture(text)


def test_models_within_models_and_calls_have_a_limit():
    inner = {"class_name": "Dense", "config": {"name": "d", "units": 2}}
    deep = inner
    for number in range(20):
        deep = {"class_name": "Sequential", "config": {"name": f"s{number}", "layers": [deep]}}
    many = {"class_name": "Sequential", "config": {"name": "m", "layers": [inner] * 6_000}}
    for config in (deep, many):
        with pytest.raises(UnknownNetworkError):
            read_architecture(json.dumps(config))
