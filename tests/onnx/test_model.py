"""A network's graph and weights as an ONNX model, run by ONNX Runtime; without TensorFlow."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import onnxruntime
import pytest

from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.registry import Registry
from workbench.errors import GraphError, WeightsError
from workbench.layers import all_layers
from workbench.onnx import protobuf
from workbench.onnx.model import HIDDEN, IMAGES, SCORES, onnx_model
from workbench.onnx.writer import OnnxWriter

KERNEL = np.random.default_rng(1).normal(size=(12, 3)).astype(np.float32)
BIAS = np.array([0.5, -1, 0], np.float32)
WEIGHTS = {"scores/kernel": KERNEL, "scores/bias": BIAS}
PIXELS = np.random.default_rng(2).integers(0, 256, (5, 2, 2, 3)).astype(np.uint8)


def graph_of(*middle, last="dense", **params):
    """A chain from an image of 2 x 2 x 3."""
    nodes = [
        Node("input", "input", "input", {"shape": (2, 2, 3)}),
        Node("scale", "rescaling", "scale"),
        *(Node(kind, kind, kind) for kind in middle),
        Node("flat", "flatten", "flat"),
        Node("scores", last, "scores", {"units": 3, **params}),
    ]
    return Graph.of(nodes, [Edge(a.id, b.id) for a, b in itertools.pairwise(nodes)])


def session_of(*arguments, **more):
    model = onnx_model(*arguments, **more)
    return onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])


def expected(pixels):
    return pixels.reshape(len(pixels), 12) / np.float32(255) @ KERNEL + BIAS


@pytest.mark.parametrize("count", [0, 1, 5])
def test_scores_of_any_number_of_images(count):
    session = session_of(graph_of(), all_layers(), WEIGHTS)
    (got,) = session.run(None, {IMAGES: PIXELS[:count]})
    assert got.dtype == np.float32
    assert got == pytest.approx(expected(PIXELS[:count]), rel=1e-5, abs=1e-6)


def test_the_ports_say_what_goes_in_and_comes_out():
    session = session_of(graph_of("max_pooling2d"), all_layers(), WEIGHTS_OF_ONE, hidden="scale")
    (images,), outputs = session.get_inputs(), session.get_outputs()
    assert (images.name, images.type, images.shape) == (IMAGES, "tensor(uint8)", ["n", 2, 2, 3])
    assert {port.name: port.shape for port in outputs} == {SCORES: ["n", 3], HIDDEN: ["n", 3]}


WEIGHTS_OF_ONE = {"scores/kernel": KERNEL[:3], "scores/bias": BIAS}
"""Of the three values that a pooling of the image leaves."""


def test_hidden_outputs_of_feature_maps_are_means_over_their_places():
    session = session_of(graph_of("zero_padding2d"), all_layers(), PADDED, hidden="zero_padding2d")
    got = dict(zip((SCORES, HIDDEN), session.run([SCORES, HIDDEN], {IMAGES: PIXELS}), strict=True))
    padded = np.pad(PIXELS / np.float32(255), [(0, 0), (1, 1), (1, 1), (0, 0)])
    assert got[HIDDEN] == pytest.approx(padded.mean(axis=(1, 2)), rel=1e-5)
    assert got[SCORES] == pytest.approx(padded.reshape(5, -1) @ PADDED["scores/kernel"] + BIAS)


PADDED = {
    "scores/kernel": np.random.default_rng(3).normal(size=(48, 3)).astype(np.float32),
    "scores/bias": BIAS,
}


def test_images_may_be_the_scores_source_and_the_hidden_output():
    """An image that nothing changes: outputs are the same tensor twice."""
    graph = graph_of().without_nodes(["scale", "flat", "scores"])
    session = session_of(graph, all_layers(), {}, hidden="input")
    scores, hidden = session.run([SCORES, HIDDEN], {IMAGES: PIXELS})
    np.testing.assert_array_equal(scores, PIXELS.reshape(5, -1))
    assert hidden == pytest.approx(PIXELS.mean(axis=(1, 2)), rel=1e-6)


@pytest.mark.parametrize("last", ["softmax", "linear"])
def test_logits_are_the_scores_before_a_softmax_at_the_end(last):
    session = session_of(graph_of(activation=last), all_layers(), WEIGHTS, as_logits=True)
    (got,) = session.run(None, {IMAGES: PIXELS})
    assert got == pytest.approx(expected(PIXELS), rel=1e-5, abs=1e-6)


def test_logits_of_probabilities_are_their_logarithms():
    writer = OnnxWriter()
    assert writer.before_softmax(writer.op("Softmax", "x", axis=1)) == "x"
    count = len(writer.parts)
    assert writer.before_softmax("p") not in ("p", "x")
    (added,) = writer.parts[count:]
    assert b"Log" in added


def test_names_that_keras_cannot_bear_find_their_weights():
    graph = graph_of()
    graph = graph.with_node(replace(graph.nodes["scores"], name="my scores!"))
    weights = {"my_scores/kernel": KERNEL, "my_scores/bias": BIAS}
    (got,) = session_of(graph, all_layers(), weights).run(None, {IMAGES: PIXELS})
    assert got == pytest.approx(expected(PIXELS), rel=1e-5, abs=1e-6)


def test_a_layer_type_without_a_rule_is_refused_by_the_layers_name():
    without = replace(all_layers()["gaussian_noise"], onnx=None)
    layers = Registry({**all_layers(), "gaussian_noise": without})
    graph = graph_of("gaussian_noise")
    graph = graph.with_node(replace(graph.nodes["gaussian_noise"], name="my noise"))
    with pytest.raises(GraphError, match="cannot be written in ONNX") as caught:
        onnx_model(graph, layers, WEIGHTS)
    assert caught.value.where == "my noise"
    assert onnx_model(graph, all_layers(), WEIGHTS)


def test_a_model_longer_than_a_protobuf_is_refused(monkeypatch):
    length = len(onnx_model(graph_of(), all_layers(), WEIGHTS))
    monkeypatch.setattr(protobuf, "MAX_BYTES", length - 1)
    with pytest.raises(GraphError, match="too large") as caught:
        onnx_model(graph_of(), all_layers(), WEIGHTS)
    assert caught.value.expected == "at most 2 GB"


def test_a_missing_weight_is_named():
    with pytest.raises(WeightsError, match="scores/bias"):
        onnx_model(graph_of(), all_layers(), {"scores/kernel": KERNEL, "scores/other": BIAS})


@pytest.mark.parametrize(
    ("weights", "number"),
    [
        ({**WEIGHTS, "scores/bias": BIAS[:1]}, "37"),  # ONNX would repeat it
        ({**WEIGHTS, "scores/more": BIAS}, "42"),
        ({"other/kernel": KERNEL, "other/bias": BIAS}, "0"),
        ({**WEIGHTS, "flat/kernel": BIAS}, "3"),
    ],
)
def test_weights_of_another_network_are_refused(weights, number):
    with pytest.raises(WeightsError, match="do not fit") as caught:
        onnx_model(graph_of(), all_layers(), weights)
    assert caught.value.received == f"{number} numbers"
    assert caught.value.where in {"scores", "flat"}


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (lambda graph: graph.without_nodes(["input"]), "no input"),
        (lambda graph: graph.with_node(Node("more", "relu", "more")), "more"),
        (lambda graph: graph.without_nodes(graph.nodes), "empty"),
        (
            lambda graph: graph.with_node(Node("end", "relu", "end")).with_edge(
                Edge("flat", "end")
            ),
            "ends in 2 layers",
        ),
        (
            lambda graph: graph.with_node(Node("input", "input", "input", {"shape": (2, 2, 0)})),
            "0",
        ),
    ],
    ids=["no input", "unconnected", "empty", "two ends", "wrong parameter"],
)
def test_a_network_with_errors_is_refused_in_words(changed, words):
    with pytest.raises(GraphError, match="cannot be written in ONNX") as caught:
        onnx_model(changed(graph_of()), all_layers(), WEIGHTS)
    assert words in str(caught.value)


@pytest.mark.parametrize("key", all_layers())
def test_every_layer_type_of_the_program_has_a_rule(key):
    assert all_layers()[key].onnx is not None
