"""The form that predicts fastest gives what the model predicts."""

from __future__ import annotations

import numpy as np
import pytest

from tests.worker.backbone_references import graph_with, patterns
from workbench.backbones import all_backbones
from workbench.core.network.graph import Edge, Graph, Node
from workbench.layers import all_layers
from workbench.worker.model.build import build_model
from workbench.worker.model.inference_form import fast_inference, with_hidden

pytestmark = pytest.mark.worker

BUNDLED = [key for key, spec in all_backbones().items() if spec.is_bundled]


@pytest.fixture(autouse=True)
def clear():
    yield
    import keras

    keras.backend.clear_session()


def pair(graph, images, precision="float32"):
    """What the model and its fast form give, in float32."""
    import tensorflow as tf

    built = build_model(graph, all_layers(), precision=precision, seed=1)
    is_pretrained = any(node.pretrained for node in graph.nodes.values())
    for weight in built.model.weights:
        if not is_pretrained and weight.name != "kernel":
            random = np.random.default_rng(len(weight.path))
            weight.assign(random.uniform(0.5, 1.5, weight.shape))
    for _, layer in built.pipeline:
        images = layer(images)
    images = tf.cast(images, built.input_dtype)
    fast = fast_inference(built.model)
    return tuple(
        tf.cast(made, tf.float32).numpy()
        for made in (built.model(images, training=False), fast(images))
    )


@pytest.mark.full_but("mobilenet")
@pytest.mark.parametrize("key", BUNDLED)
def test_a_backbone_in_float32_differs_by_rounding(key):
    images = patterns(3).astype(np.float32)
    plain, fast = pair(graph_with(all_backbones()[key]), images)
    assert plain.max() > 1
    assert np.abs(plain - fast).max() < 1e-4


@pytest.mark.full_but("mobilenet")
@pytest.mark.parametrize("key", BUNDLED)
def test_a_backbone_in_bfloat16_is_as_near_to_float32_as_the_model_is(key):
    graph, images = graph_with(all_backbones()[key]), patterns(3).astype(np.float32)
    truth, _ = pair(graph, images)
    plain, fast = pair(graph, images, "bfloat16")
    plain_error, fast_error = (np.abs(made - truth).mean() for made in (plain, fast))
    assert 0 < fast_error < 2 * plain_error


def network(*layers, edges=()) -> Graph:
    """Layers one behind another, and some more edges by position."""
    nodes = [Node("n0", "input", "image", {"shape": (13, 17, 3)})]
    nodes += [
        Node(f"n{i}", kind, f"layer{i}", params) for i, (kind, params) in enumerate(layers, 1)
    ]
    chain = [Edge(f"n{i}", f"n{i + 1}") for i in range(len(layers))]
    return Graph.of(nodes, [*chain, *(Edge(f"n{a}", f"n{b}", port) for a, b, port in edges)])


NORM = ("batch_normalization", {})
CASES = {
    "activation of its own": network(("conv2d", {"filters": 8, "activation": "silu"}), NORM),
    "same padding and strides": network(
        ("conv2d", {"filters": 8, "padding": "same", "strides": (2, 2), "kernel_size": (5, 3)}),
        NORM,
        ("relu", {"max_value": 6.0}),
        ("depthwise_conv2d", {"padding": "same", "depth_multiplier": 2, "use_bias": False}),
        NORM,
        ("relu", {}),
    ),
    "dilation": network(("conv2d", {"filters": 4, "dilation_rate": (2, 2)}), NORM),
    "groups": network(("conv2d", {"filters": 6, "groups": 3}), NORM, ("relu", {})),
    "used twice": network(
        ("conv2d", {"filters": 8, "padding": "same"}), NORM, ("add", {}), edges=[(1, 3, 1)]
    ),
    "normalization first": network(NORM, ("conv2d", {"filters": 4}), NORM, NORM),
    "no scale, no offset": network(
        ("conv2d", {"filters": 4}), ("batch_normalization", {"scale": False, "center": False})
    ),
    "a factor per channel": network(
        ("conv2d", {"filters": 4}), ("depthwise_conv2d", {"kernel_size": (1, 1)}), ("relu", {})
    ),
    "leaky and limited from below": network(
        ("conv2d", {"filters": 4}), ("relu", {"negative_slope": 0.1, "threshold": 0.5})
    ),
    "dropout and other layers": network(
        ("conv2d_transpose", {"filters": 4}),
        NORM,
        ("dropout", {}),
        ("separable_conv2d", {"filters": 4}),
        ("layer_normalization", {}),
        ("global_average_pooling2d", {}),
        ("dense", {"units": 3}),
        NORM,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_layers_that_can_be_folded_and_those_that_cannot(case):
    images = np.random.default_rng(2).normal(0, 1, (4, 13, 17, 3)).astype(np.float32)
    plain, fast = pair(CASES[case], images)
    assert np.ptp(plain) > 0
    assert np.abs(plain - fast).max() < 1e-5 * max(1, np.abs(plain).max())


def test_any_number_of_images_of_any_type_is_taken():
    built = build_model(CASES["same padding and strides"], all_layers(), seed=1)
    fast = fast_inference(built.model)
    images = np.random.default_rng(3).integers(0, 256, (5, 13, 17, 3), dtype=np.uint8)
    whole = fast(images).numpy()
    for part in (images[:1], images[:2].astype(np.float64)):
        assert np.allclose(fast(part).numpy(), whole[: len(part)], rtol=1e-5, atol=1e-5)


def test_what_the_model_learns_later_changes_nothing():
    built = build_model(CASES["same padding and strides"], all_layers(), seed=1)
    images = np.ones((2, 13, 17, 3), np.float32)
    fast = fast_inference(built.model)
    before = fast(images).numpy()
    for weight in built.model.weights:
        weight.assign(weight * 2)
    assert np.array_equal(fast(images).numpy(), before)


@pytest.mark.parametrize("hidden", ["n1", "n2", "n3", "n0"])
def test_outputs_of_a_layer_inside_are_given_too(hidden):
    graph = network(("conv2d", {"filters": 8}), NORM, ("relu", {}), ("conv2d", {"filters": 2}))
    built = build_model(graph, all_layers(), seed=1)
    model = with_hidden(built, hidden)
    images = np.random.default_rng(4).normal(0, 1, (3, 13, 17, 3)).astype(np.float32)
    found = zip(model(images, training=False), fast_inference(model)(images), strict=True)
    for plain, fast in found:
        assert np.ptp(plain) > 0
        assert np.allclose(plain, fast, rtol=1e-5, atol=1e-5)
