"""Feature maps and filters of real networks: what they show is known, of graphs of any shape."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.built_networks import graph_of, runner_of
from tests.strategies import random_valid_graph
from tests.worker.conftest import chain
from workbench.errors import RunError, UsageError
from workbench.layers import all_layers
from workbench.worker.feature_maps import looker_of, planes_of, sheet, tile_levels
from workbench.worker.process.lazy_keras import keras

pytestmark = pytest.mark.worker

IMAGE = ("input", {"shape": (8, 8, 3)})
CONV = ("conv2d", {"filters": 4, "padding": "same"})
POOL = ("global_average_pooling2d", {})
HEAD = ("dense", {"units": 3, "activation": "softmax"})


def picture(shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def branches():
    """Two heads on two convolutions, whose scores are averaged."""
    return graph_of(
        [("i", "a"), ("i", "b"), ("a", "p"), ("b", "q"), ("p", "c"), ("q", "d"), ("c", "m"),
         ("d", "m")],
        i=IMAGE, a=CONV, b=("conv2d", {"filters": 5, "strides": (2, 2)}), p=POOL, q=POOL,
        c=HEAD, d=HEAD, m=("average", {}),
    )  # fmt: skip


def test_maps_are_the_outputs_of_keras_layer_by_layer():
    runner = runner_of(branches())
    looker, image = looker_of(runner), picture((8, 8, 3))
    assert [place.name for place in looker.places] == list("iabpqcdm")
    assert [place.shape for place in looker.places][:4] == [[8, 8, 3], [8, 8, 4], [3, 3, 5], [4]]
    model = runner.built.model
    for place in looker.places[1:]:
        one = keras.Model(model.input, model.get_layer(place.name).output)
        expected = np.asarray(one(np.float32(image[None])))[0]
        found = looker.maps(place.name, image)
        assert found.shape[-1] == place.shape[-1]
        np.testing.assert_array_equal(found.reshape(expected.shape), expected)
    np.testing.assert_array_equal(looker.maps("i", image), image)
    assert looker_of(runner) is looker


def test_layers_before_the_network_proper_and_augmentation_have_maps_too():
    runner = runner_of(
        chain(IMAGE, ("rescaling", {"scale": 0.5}), ("random_flip", {}), CONV, POOL, HEAD)
    )
    image = picture((8, 8, 3))
    looker = looker_of(runner)
    np.testing.assert_allclose(looker.maps("rescaling_1", image), image * 0.5)
    np.testing.assert_allclose(looker.maps("random_flip_2", image), image * 0.5)  # at rest


@pytest.mark.parametrize("seed", range(6))
def test_any_graph_has_maps_of_each_layer_and_filters_of_those_that_say_so(seed):
    runner = runner_of(random_valid_graph(random.Random(seed), all_layers()))
    looker = looker_of(runner)
    image = picture(runner.card.input_shape, seed)
    for place in looker.places:
        planes = planes_of(looker.maps(place.name, image), "strength", 8)
        assert len(tile_levels(planes)) == min(8, place.shape[-1])
        if place.has_filters:
            assert looker.filters(place.name).values.ndim == 4
    assert looker.choose("", "maps", is_preferred=False).place in looker.places


def test_the_filters_of_the_first_convolution_are_in_color():
    runner = runner_of(chain(IMAGE, ("rescaling", {}), CONV, CONV, POOL, HEAD))
    looker = looker_of(runner)
    first, second = looker.filters("conv2d_2"), looker.filters("conv2d_3")
    assert (first.is_color, second.is_color) == (True, False)
    kernel = np.asarray(runner.built.layers["n2"].kernel)
    np.testing.assert_array_equal(first.values, kernel)
    assert second.shape == (3, 3, 4, 4)
    # Three channels that were learned are no colors.
    learned = runner_of(chain(IMAGE, ("conv2d", {"filters": 3}), CONV, POOL, HEAD))
    assert not looker_of(learned).filters("conv2d_2").is_color


def test_each_kind_of_kernel_is_laid_out_as_height_width_inputs_filters():
    kinds = [
        ("conv2d_transpose", {"filters": 5, "kernel_size": (2, 2)}),
        ("depthwise_conv2d", {"depth_multiplier": 2, "kernel_size": (3, 3)}),
        ("separable_conv2d", {"filters": 7, "kernel_size": (3, 3)}),
    ]
    runner = runner_of(chain(IMAGE, *kinds, POOL, HEAD))
    looker = looker_of(runner)
    shapes = [looker.filters(place.name).values.shape for place in looker.places[1:4]]
    assert shapes == [(2, 2, 3, 5), (3, 3, 1, 10), (3, 3, 1, 10)]
    kernel = np.asarray(runner.built.layers["n1"].kernel)
    found = looker.filters("conv2d_transpose_1").values
    np.testing.assert_array_equal(found[:, :, 2, 4], kernel[:, :, 4, 2])


def test_a_dense_layer_right_behind_the_image_has_a_filter_for_each_unit():
    runner = runner_of(
        chain(("input", {"shape": (4, 6, 1)}), ("flatten", {}), ("dropout", {}), HEAD, HEAD)
    )
    looker = looker_of(runner)
    assert [place.name for place in looker.places if place.has_filters] == ["dense_3"]
    weights = np.asarray(runner.built.layers["n3"].kernel)
    found = looker.filters("dense_3").values
    np.testing.assert_array_equal(found[2, 5, 0], weights[2 * 6 + 5])


def test_the_layer_shown_first_has_filters_and_a_wrong_name_is_an_error():
    looker = looker_of(runner_of(chain(IMAGE, CONV, POOL, HEAD)))
    assert looker.choose("", "maps", is_preferred=False).place.name == "conv2d_1"
    assert looker.choose("gone", "maps", is_preferred=True).place.name == "conv2d_1"
    with pytest.raises(UsageError, match="no such layer"):
        looker.choose("gone", "maps", is_preferred=False)
    with pytest.raises(UsageError, match="no filters"):
        looker.choose("dense_3", "filters", is_preferred=False)
    assert looker.choose("dense_3", "filters", is_preferred=True).what == "maps"


def test_outputs_that_are_not_finite_are_an_error_with_the_layer():
    runner = runner_of(chain(IMAGE, CONV, CONV, POOL, HEAD))
    bias = runner.built.layers["n2"].bias
    bias.assign(np.full(4, np.nan))
    looker = looker_of(runner)
    assert np.isfinite(looker.maps("conv2d_1", picture((8, 8, 3)))).all()
    with pytest.raises(RunError, match="not finite") as caught:
        looker.maps("conv2d_2", picture((8, 8, 3)))
    assert caught.value.where == "conv2d_2"


def test_filters_that_are_not_finite_are_an_error_with_the_layer():
    runner = runner_of(chain(IMAGE, CONV, POOL, HEAD))
    kernel = runner.built.layers["n1"].kernel
    kernel.assign(np.full(kernel.shape, np.nan))
    with pytest.raises(RunError, match="filters of this layer are not finite") as caught:
        looker_of(runner).filters("conv2d_1")
    assert caught.value.where == "conv2d_1"


def test_channels_have_their_statistics_strongest_first():
    values = np.zeros((2, 2, 3), np.float32)
    values[..., 1] = [[-4, 0], [0, 2]]
    values[..., 2] = 1
    planes = planes_of(values, "strength", 2)
    first, second = planes.channels
    assert (first.index, first.least, first.largest, first.mean) == (1, -4, 2, -0.5)
    assert (first.strength, first.zeros, first.low, first.high) == (1.5, 0.5, -4, 2)
    assert (sum(first.histogram), first.histogram[0], first.histogram[-1]) == (4, 1, 1)
    assert (second.index, second.zeros, second.histogram[0]) == (2, 0, 4)
    tiles = tile_levels(planes)
    assert tiles[0].tolist() == [[0, 170], [170, 255]]
    assert [one.index for one in planes_of(values, "index", 9).channels] == [0, 1, 2]


def test_weights_are_drawn_around_zero():
    values = np.zeros((1, 2, 2), np.float32)
    values[0, :, 0] = [-1, 4]
    tiles = tile_levels(planes_of(values, "index", 9, is_signed=True))
    assert tiles.tolist() == [[[96, 255]], [[128, 128]]]


def test_large_maps_are_reduced_and_laid_out_row_by_row():
    values = np.arange(64, dtype=np.float32) * np.ones((300, 200, 64), np.float32)
    values[150:] += 1
    tiles = tile_levels(planes_of(values, "index", 64))
    assert 1_000_000 < tiles.size <= 1_500_000
    whole = sheet(tiles, 8)
    height, width = tiles.shape[1:]
    assert whole.shape == (8 * height, 8 * width)
    np.testing.assert_array_equal(whole[height : 2 * height, width : 2 * width], tiles[9])
    assert (tiles[9, 0, 0], tiles[9, -1, 0]) == (0, 255)
