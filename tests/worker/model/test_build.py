"""Keras models from graphs, and their weights by name."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.checks.test_shapes import INPUT, chain
from workbench.core.network.graph import Edge, Graph, Node
from workbench.errors import GraphError, WeightsError
from workbench.layers import all_layers
from workbench.worker.model.build import assign_weights, build_model, read_weights

pytestmark = pytest.mark.worker

LAYERS = all_layers()
END = ("dense", {"units": 3, "activation": "softmax"})
SMALL = ("input", {"shape": [6, 6, 3]})


@pytest.fixture(scope="module")
def keras():
    import keras

    yield keras
    keras.backend.clear_session()


def augmented():
    return chain(
        SMALL,
        ("random_flip", {}),
        ("normalization", {}),
        ("conv2d", {"filters": 4, "kernel_l2": 0.01}),
        ("batch_normalization", {}),
        ("flatten", {}),
        ("dropout", {}),
        END,
    )


def test_pipeline_layers_stand_outside_the_model(keras):
    built = build_model(augmented(), LAYERS)
    assert [node_id for node_id, _ in built.pipeline] == ["b", "c"]
    assert [layer.name for layer in built.model.layers] == ["a", "d", "e", "f", "g", "h"]
    assert built.input_shape == (6, 6, 3)
    assert set(built.layers) == set("bcdefgh")


def test_whole_model_holds_every_layer(keras):
    built = build_model(augmented(), LAYERS, whole=True)
    assert built.pipeline == ()
    assert [layer.name for layer in built.model.layers] == list("abcdefgh")


def test_resized_pictures_enter_the_model_at_their_new_size(keras):
    graph = chain(INPUT, ("resizing", {"height": 8, "width": 10}), ("flatten", {}), END)
    built = build_model(graph, LAYERS)
    assert built.model.input_shape == (None, 8, 10, 3)
    assert built.input_shape == (32, 32, 3)


@pytest.mark.parametrize(
    ("end", "is_logits"),
    [
        ([("dense", {})], True),
        ([END], False),
        ([("dense", {}), ("softmax", {})], False),
        ([("dense", {}), ("activation", {"activation": "softmax"})], False),
        ([("softmax", {}), ("dense", {})], True),
        ([("dense", {"activation": "relu"})], True),
    ],
)
def test_logits_or_probabilities(keras, end, is_logits):
    built = build_model(chain(SMALL, ("flatten", {}), *end), LAYERS)
    assert built.is_logits is is_logits


def test_bfloat16_keeps_scores_and_preprocessing_in_float32(keras):
    graph = chain(
        SMALL,
        ("rescaling", {}),
        ("conv2d", {}),
        ("add", {}),
        ("flatten", {}),
        ("dense", {"units": 3}),
        ("softmax", {}),
    ).with_edge(Edge("c", "d", 1))
    before = keras.config.dtype_policy().name
    built = build_model(graph, LAYERS, precision="bfloat16")
    policies = {key: layer.dtype_policy.name for key, layer in built.layers.items()}
    assert policies == {
        "b": "float32",
        "c": "mixed_bfloat16",
        "d": "mixed_bfloat16",
        "e": "mixed_bfloat16",
        "f": "float32",
        "g": "float32",
    }
    assert keras.config.dtype_policy().name == before
    assert {str(array.dtype) for array in read_weights(built).values()} == {"float32"}
    assert built.model(np.ones((1, 6, 6, 3), "float32")).dtype == "float32"


def test_same_seed_same_weights_and_same_noise(keras):
    one, two = (build_model(augmented(), LAYERS, seed=5) for _ in range(2))
    other = read_weights(build_model(augmented(), LAYERS, seed=6))
    first, second = read_weights(one), read_weights(two)
    assert all(np.array_equal(first[name], second[name]) for name in first)
    assert not np.array_equal(first["d/kernel"], other["d/kernel"])
    x = np.random.default_rng(0).random((4, 6, 6, 3), dtype="float32")
    assert np.array_equal(one.model(x, training=True), two.model(x, training=True))


def test_weights_are_named_by_node_and_variable(keras):
    names = set(read_weights(build_model(augmented(), LAYERS)))
    assert names == {
        "c/mean",
        "c/variance",
        "c/count",
        "d/kernel",
        "d/bias",
        "e/gamma",
        "e/beta",
        "e/moving_mean",
        "e/moving_variance",
        "h/kernel",
        "h/bias",
    }


def test_assigned_weights_predict_the_same(keras):
    one = build_model(augmented(), LAYERS, whole=True, seed=1)
    weights = read_weights(one)
    weights["c/mean"] += np.float32([0.2, 0.4, 0.6])
    weights["e/moving_mean"] += np.float32(0.5)
    assign_weights(one, weights)
    two = build_model(augmented(), LAYERS, whole=True, seed=2)
    x = np.random.default_rng(0).random((4, 6, 6, 3), dtype="float32")
    assert not np.allclose(one.model(x, training=False), two.model(x, training=False))
    assign_weights(two, weights)
    np.testing.assert_array_equal(one.model(x, training=False), two.model(x, training=False))


def test_wrong_weights_are_all_listed_and_nothing_changes(keras):
    built = build_model(augmented(), LAYERS)
    before = read_weights(built)
    wrong = {name: array + 1 for name, array in before.items()}
    del wrong["d/bias"]
    wrong["d/kernel"] = np.zeros((1, 2), "float32")
    wrong["h/bias"] = np.array(["a", "b", "c"])
    wrong["x/kernel"] = np.zeros(3)
    with pytest.raises(WeightsError) as caught:
        assign_weights(built, wrong)
    for word in ("d/bias", "d/kernel", "(1, 2)", "h/bias", "x/kernel"):
        assert word in str(caught.value)
    after = read_weights(built)
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_names_that_keras_cannot_take(keras):
    nodes = [
        Node("a", "input", "my pictures"),
        Node("b", "flatten", "to/row"),
        Node("c", "dense", "größe", END[1]),
    ]
    built = build_model(Graph.of(nodes, [Edge("a", "b"), Edge("b", "c")]), LAYERS)
    assert [layer.name for layer in built.model.layers] == ["my_pictures", "to_row", "gr_e"]
    assert set(read_weights(built)) == {"gr_e/kernel", "gr_e/bias"}


@pytest.mark.parametrize(
    "graph",
    [
        Graph(),
        chain(SMALL, ("flatten", {}), ("conv2d", {})),
        chain(SMALL, ("quantum", {}), ("flatten", {})),
        chain(SMALL, ("dense", {"units": -1})),
        chain(SMALL, ("flatten", {})).with_node(Node("z", "dense", "z")),
    ],
)
def test_graphs_with_errors_are_refused_in_words(keras, graph):
    with pytest.raises(GraphError, match="cannot be built"):
        build_model(graph, LAYERS)


def test_our_faster_layers_are_trained_and_never_exported(keras):
    kinds = ("depthwise_conv2d", "batch_normalization", "flatten")
    graph = chain(SMALL, *((kind, {}) for kind in kinds), ("dense", {"units": 4}), END)
    whole = build_model(graph, LAYERS, whole=True)
    assert all(type(layer).__module__.startswith("keras.") for layer in whole.layers.values())
    names = {
        precision: [type(layer).__name__ for layer in built.layers.values()]
        for precision in ("float32", "bfloat16")
        for built in [build_model(graph, LAYERS, precision=precision)]
    }
    plain = ["DepthwiseConv2D", "FusedBatchNormalization", "Flatten", "Dense", "Dense"]
    assert names["float32"] == plain
    biased = ["ExactBias", "FusedBatchNormalization", "Flatten", "ExactBias", "WideDense"]
    assert names["bfloat16"] == biased  # the last layer computes in float32
    for built in (whole, build_model(graph, LAYERS, precision="bfloat16")):
        assert set(read_weights(built)) == set(read_weights(whole))


@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("resizing", {"height": 4, "width": 4, "interpolation": "bicubic"}),
        ("resizing", {"height": 4, "width": 4, "interpolation": "lanczos3", "fit": "pad"}),
        ("up_sampling2d", {"interpolation": "bicubic"}),
        ("up_sampling2d", {"interpolation": "lanczos5"}),
    ],
)
def test_in_bfloat16_what_comes_before_an_interpolation_learns(keras, kind, params):
    """TensorFlow has these gradients for float32 alone: there is none, or an error."""
    import tensorflow as tf

    graph = chain(SMALL, ("conv2d", {"filters": 4}), (kind, params), ("flatten", {}), END)
    built = build_model(graph, LAYERS, precision="bfloat16", seed=1)
    assert built.layers["b"].compute_dtype == "bfloat16"
    assert built.layers["c"].compute_dtype == "float32"
    pictures = tf.random.stateless_uniform((2, *built.input_shape), (1, 2))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(built.model(pictures, training=True)))
    for gradient in tape.gradient(loss, built.model.trainable_variables):
        assert gradient is not None
        assert float(tf.norm(gradient)) > 0
