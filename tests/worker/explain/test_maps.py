"""Heat maps of real networks: where they are hot, which layers they look at, and any graph at all."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.built_networks import graph_of, runner_of
from tests.explained import Grayed, random_correlation
from tests.strategies import random_valid_graph
from tests.worker.conftest import chain
from workbench.core.network.graph import Graph
from workbench.errors import RunError, UsageError
from workbench.layers import all_layers
from workbench.worker.explain import explainer_of, random_weights, rank_correlation
from workbench.worker.model.build import read_weights
from workbench.worker.process.lazy_keras import keras

pytestmark = pytest.mark.worker


IMAGE = ("input", {"shape": (16, 16, 3)})
CONV = ("conv2d", {"filters": 4, "padding": "same"})
HEAD = ("dense", {"units": 3, "activation": "softmax"})
POOL = ("global_average_pooling2d", {})


def gated(kind: str) -> Graph:
    """Input, a convolution times a gate that is made of its mean values, and a head."""
    return graph_of(
        [
            ("i", "a"),
            ("a", "p"),
            ("p", "g"),
            ("g", "r"),
            ("a", "m"),
            ("r", "m"),
            ("m", "q"),
            ("q", "d"),
        ],
        i=IMAGE,
        a=CONV,
        p=POOL,
        g=("dense", {"units": 4, "activation": "sigmoid"}),
        r=("reshape", {"target_shape": (1, 1, 4)}),
        m=(kind, {}),
        q=POOL,
        d=HEAD,
    )


def two_scales() -> Graph:
    """The scores are made of the mean values behind the first and the second convolution."""
    return graph_of(
        [("i", "a"), ("a", "b"), ("a", "p"), ("b", "q"), ("p", "c"), ("q", "c"), ("c", "d")],
        i=IMAGE,
        a=CONV,
        b=("conv2d", {"filters": 4, "strides": (2, 2)}),
        p=POOL,
        q=POOL,
        c=("concatenate", {}),
        d=HEAD,
    )


def made_up_plane() -> Graph:
    """A convolution behind a plane that was made of a flat list: its places are not the image's."""
    return graph_of(
        [("i", "a"), ("a", "f"), ("f", "e"), ("e", "r"), ("r", "b"), ("b", "p"), ("p", "d")],
        i=IMAGE,
        a=CONV,
        f=("flatten", {}),
        e=("dense", {"units": 48}),
        r=("reshape", {"target_shape": (4, 4, 3)}),
        b=CONV,
        p=POOL,
        d=HEAD,
    )


@pytest.mark.parametrize(
    ("graph", "last"),
    [
        (chain(IMAGE, CONV, ("max_pooling2d", {}), ("flatten", {}), HEAD), {"max_pooling2d_2"}),
        (chain(IMAGE, CONV, POOL, HEAD, ("softmax", {})), {"conv2d_1"}),
        (gated("multiply"), {"m"}),
        (two_scales(), {"a", "b"}),
        (made_up_plane(), {"a"}),
        (chain(IMAGE, ("flatten", {}), HEAD), set()),
    ],
    ids=["flatten", "softmax layer", "gate", "two scales", "made-up plane", "no convolution"],
)
def test_the_last_planes_on_every_way_to_the_scores_are_looked_at(graph, last):
    explainer = explainer_of(runner_of(graph))
    assert {graph.nodes[key].name for key in explainer.places.last} == last


@pytest.mark.parametrize("end", ["softmax", "log_softmax", "linear"])
@pytest.mark.parametrize("middle", [POOL, ("flatten", {})], ids=["pooling", "flatten"])
def test_the_map_is_hot_where_the_evidence_is_also_where_the_model_is_sure(middle, end):
    graph = chain(
        ("input", {"shape": (16, 16, 1)}),
        ("conv2d", {"filters": 1, "kernel_size": (1, 1), "padding": "same"}),
        middle,
        ("dense", {"units": 2, "activation": end}),
    )
    runner = runner_of(graph)
    conv, dense = runner.built.layers["n1"], runner.built.layers["n3"]
    conv.kernel.assign([[[[1.0]]]])
    dense.kernel.assign(np.tile([[50.0, -50.0]], (dense.kernel.shape[0], 1)))
    image = np.zeros((1, 16, 16, 1), np.uint8)
    image[0, 2:6, 9:13] = 200
    found = explainer_of(runner).explain(image, np.array([0]))
    assert found.method == "gradcam"
    expected = np.where(image[0, ..., 0] > 0, 1.0, 0.0)
    np.testing.assert_allclose(found.heat[0], expected, atol=1e-5)
    # Nothing raises the score of the other class: the map is empty, and is not noise.
    assert not explainer_of(runner).explain(image, np.array([1])).heat.any()
    assert dense.activation is keras.activations.get(end)


def test_occlusion_and_gradients_are_hot_at_what_the_class_depends_on():
    graph = chain(("input", {"shape": (14, 14, 1)}), ("flatten", {}), HEAD)
    runner = runner_of(graph)
    kernel = np.zeros((14, 14, 3), np.float32)
    kernel[4:8, 8:12, 1] = 0.002
    runner.built.layers["n2"].kernel.assign(kernel.reshape(-1, 3))
    image = np.full((1, 14, 14, 1), 20, np.uint8)
    image[0, 4:8, 8:12] = 250
    explainer, wanted = explainer_of(runner), np.array([1])
    for method in ("occlusion", "gradcam"):
        found = explainer.explain(image, wanted, method)
        hot = found.heat[0] > 0.5
        assert hot[5:7, 9:11].all()
        assert not hot[:, :6].any()
        assert not hot[10:].any()
    assert found.method == "gradients"
    assert found.layers == (("input_0",),)
    nothing = explainer.explain(image, np.array([2]), "occlusion")
    assert not nothing.heat.any()  # less likely where the patch covers nothing of it


def test_a_layer_can_be_chosen_and_an_unknown_one_is_refused_with_all_names():
    graph = two_scales()
    explainer = explainer_of(runner_of(graph))
    image = np.random.default_rng(0).integers(0, 256, (2, 16, 16, 3)).astype(np.uint8)
    found = explainer.explain(image, np.array([0, 2]), layers=["a"])
    assert (found.layers, found.heat.shape) == ((("a",), ("a",)), (2, 16, 16))
    with pytest.raises(UsageError) as refused:
        explainer.explain(image, np.array([0, 2]), layers=["p"])
    assert (refused.value.received, refused.value.expected) == ("p", "i, a, b")


@pytest.mark.parametrize("seed", range(12))
def test_any_network_can_be_explained_by_every_method(seed):
    graph = random_valid_graph(random.Random(f"explain {seed}"), all_layers())
    runner = runner_of(graph, seed=seed)
    shape, classes = runner.built.input_shape, len(runner.card.class_names)
    images = np.random.default_rng(seed).integers(0, 256, (2, *shape)).astype(np.uint8)
    for method in ("gradcam", "gradients", "occlusion"):
        found = explainer_of(runner).explain(images, np.array([0, classes - 1]), method)
        assert found.heat.shape == (2, *shape[:2])
        assert found.heat.dtype == np.float32
        assert set(found.heat.max(axis=(1, 2)).round(4).tolist()) <= {0.0, 1.0}
        assert found.heat.min() >= 0


def test_random_weights_change_the_map_and_are_taken_back():
    graph = chain(IMAGE, ("normalization", {}), CONV, ("batch_normalization", {}), POOL, HEAD)
    runner = runner_of(graph)
    explainer = explainer_of(runner)
    image = np.random.default_rng(3).integers(0, 256, (1, 16, 16, 3)).astype(np.uint8)
    before, weights = explainer.explain(image, np.array([0])).heat, read_weights(runner.built)
    with random_weights(runner.built, 1):
        other = explainer.explain(image, np.array([0])).heat
        random_ones = read_weights(runner.built)
    kernels = [each["conv2d_2/kernel"] for each in (random_ones, weights)]
    assert not np.array_equal(*kernels)
    np.testing.assert_array_equal(*(np.sort(each, axis=None) for each in kernels))
    mean = "normalization_1/mean"
    np.testing.assert_array_equal(random_ones[mean], weights[mean])
    assert not np.array_equal(before, other)
    after = read_weights(runner.built)
    assert all(np.array_equal(after[name], values) for name, values in weights.items())
    np.testing.assert_array_equal(explainer.explain(image, np.array([0])).heat, before)


def test_the_rank_correlation_is_spearmans():
    first = np.array([[1.0, 2.0, 2.0], [3.0, 4.0, 0.0]])
    assert rank_correlation(first, np.exp(first)) == pytest.approx(1)
    assert rank_correlation(first, -first) == pytest.approx(-1)
    # By hand: ranks 1 2 3 4 and 2 1 4 3, 1 - 6 * 4 / (4 * 15).
    assert rank_correlation(np.array([1, 2, 3, 4]), np.array([2, 1, 4, 3])) == pytest.approx(0.6)
    assert rank_correlation(first, np.zeros((2, 3))) is None


def test_where_there_is_no_gradient_nothing_counts():
    graph = chain(IMAGE, ("flatten", {}), HEAD)
    runner = runner_of(graph)
    kernel = np.zeros((16 * 16 * 3, 3), np.float32)
    kernel[:48] = np.nan
    kernel[48:96, 1] = 0.1
    runner.built.layers["n2"].kernel.assign(kernel)
    image = np.ones((1, 16, 16, 3), np.uint8)
    heat = explainer_of(runner).explain(image, np.array([1]), "gradients").heat[0]
    assert np.isfinite(heat).all()
    with pytest.raises(RunError):
        runner.predict(image)


def residual():
    """Two convolutions around which a way goes, one before and one behind."""
    return graph_of(
        [("i", "a"), ("a", "b"), ("b", "r"), ("r", "s"), ("a", "s"), ("s", "e"), ("e", "p"),
         ("p", "d")],
        i=IMAGE,
        a=CONV,
        b=CONV,
        r=("activation", {"activation": "relu"}),
        s=("add", {}),
        e=("conv2d", {"filters": 6, "strides": (2, 2)}),
        p=POOL,
        d=HEAD,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("graph", "passages"),
    [
        (chain(IMAGE, CONV, ("relu", {}), CONV, POOL, HEAD), ["relu_2", "conv2d_3"]),
        (residual(), ["a", "s", "e"]),
        (gated("multiply"), ["m"]),
        (two_scales(), ["a"]),
        (chain(IMAGE, ("flatten", {}), HEAD), []),
    ],
    ids=["chain", "residual", "gate", "two scales", "no convolution"],
)
def test_no_way_goes_around_a_passage(graph, passages):
    explainer = explainer_of(runner_of(graph))
    assert [graph.nodes[key].name for key in explainer.places.passages] == passages


def test_a_map_of_a_passage_is_the_same_beside_others_and_alone():
    explainer = explainer_of(runner_of(residual()))
    image = np.random.default_rng(0).integers(0, 256, (16, 16, 3)).astype(np.uint8)
    for heat, (key,) in explainer.maps_at_passages(image, 1):
        (alone,) = explainer.explain(image[None], np.array([1]), layers=[key]).heat
        top = max(float(heat.max()), 1e-12)
        np.testing.assert_allclose(np.maximum(heat, 0) / top, alone, atol=1e-4)


def blobs(count, seed):
    """Noise with a square, and the color of the square: 0 is red, 1 green, 2 blue."""
    rng = np.random.default_rng(seed)
    images = rng.integers(90, 165, (count, 24, 24, 3)).astype(np.uint8)
    labels = rng.integers(0, 3, count)
    for image, label, (top, left) in zip(
        images, labels, rng.integers(0, 18, (count, 2)), strict=True
    ):
        image[top : top + 6, left : left + 6, label] = 250
    return images, labels


@pytest.fixture(scope="module")
def taught():
    """A runner whose network knows the squares."""
    graph = chain(
        ("input", {"shape": (24, 24, 3)}),
        ("rescaling", {"scale": 1 / 128, "offset": -1.0}),
        ("conv2d", {"filters": 8, "padding": "same", "activation": "relu"}),
        ("conv2d", {"filters": 8, "padding": "same", "strides": (2, 2), "activation": "relu"}),
        ("conv2d", {"filters": 8, "padding": "same", "activation": "relu"}),
        POOL,
        HEAD,
    )
    runner = runner_of(graph)
    images, labels = blobs(600, 0)
    optimizer = keras.optimizers.Adam(0.01)
    runner.built.model.compile(optimizer, "sparse_categorical_crossentropy")
    runner.built.model.fit(images, labels, batch_size=50, epochs=6, verbose=0)
    return runner


def test_graying_out_what_is_hot_counts_more_than_another_place_of_its_shape(taught):
    explainer, rng, grayed = explainer_of(taught), np.random.default_rng(0), Grayed()
    images, labels = blobs(60, 1)
    right = np.flatnonzero(taught.predict(images).argmax(axis=1) == labels)
    assert len(right) > 50
    for at in right.tolist():
        heat = explainer.explain(images[at : at + 1], labels[at : at + 1]).heat[0]
        grayed.add(taught, images[at], int(labels[at]), heat, rng)
    assert grayed.count == len(right)
    assert grayed.share >= 0.85, grayed


def test_maps_of_random_weights_are_others(taught):
    explainer = explainer_of(taught)
    images, labels = blobs(20, 2)
    found = [
        random_correlation(explainer, taught, image, int(label))
        for image, label in zip(images, labels, strict=True)
    ]
    known = [abs(value) for value in found if value is not None]
    assert len(known) > 10
    assert np.mean(known) < 0.6
