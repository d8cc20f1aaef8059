"""Networks with one mistake each, at random: seeded like strategies.py.

Each is a mistake for Keras too, so that Keras can be the judge of our checks.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from tests.strategies import Growing, Layers
from workbench.core.network.graph import Graph

PICTURE_KINDS = (
    "conv2d",
    "separable_conv2d",
    "depthwise_conv2d",
    "conv2d_transpose",
    "max_pooling2d",
    "average_pooling2d",
    "global_average_pooling2d",
    "global_max_pooling2d",
    "zero_padding2d",
    "cropping2d",
    "up_sampling2d",
    "spatial_dropout2d",
)

WRONG_VALUES: tuple[tuple[str, str, Any], ...] = (
    ("conv2d", "filters", 0),
    ("conv2d", "filters", -3),
    ("conv2d", "kernel_size", (0, 3)),
    ("conv2d", "kernel_size", (3, 3, 3)),
    ("conv2d", "strides", (0, 1)),
    ("conv2d", "padding", "diagonal"),
    ("conv2d", "activation", "rellu"),
    ("conv2d", "groups", 0),
    ("conv2d", "kernel_initializer", "he"),
    ("separable_conv2d", "depth_multiplier", 0),
    ("depthwise_conv2d", "kernel_size", (-1, 2)),
    ("conv2d_transpose", "filters", 0),
    ("max_pooling2d", "pool_size", (0, 2)),
    ("max_pooling2d", "padding", "full"),
    ("average_pooling2d", "strides", (-1, 2)),
    ("dense", "units", 0),
    ("dense", "units", -10),
    ("dense", "units", 2.5),
    ("dense", "units", "ten"),
    ("dense", "activation", "softmaxx"),
    ("dropout", "rate", 1.5),
    ("dropout", "rate", -0.1),
    ("spatial_dropout2d", "rate", 7.0),
    ("gaussian_noise", "stddev", -1.0),
    ("leaky_relu", "negative_slope", -0.5),
    ("relu", "negative_slope", -1.0),
    ("relu", "threshold", -1.0),
    ("relu", "max_value", -6.0),
    ("activation", "activation", "swisch"),
    ("up_sampling2d", "size", (0, 0)),
    ("up_sampling2d", "interpolation", "cubic-ish"),
    ("random_rotation", "fill_mode", "mirror"),
    ("random_zoom", "height_factor", 2.0),
    ("random_translation", "width_factor", 1.5),
    ("random_contrast", "factor", -0.5),
    ("group_normalization", "groups", 0),
    ("batch_normalization", "gamma_initializer", "onez"),
    ("input", "shape", (8, 2.5, 3)),  # (0, 8, 3) is no case: Keras takes empty pictures
    ("input", "shape", (8, -8, 3)),
)


def _grown(rng: random.Random, layers: Layers) -> tuple[Growing, str]:
    """A short valid network whose last node, returned by id, gives a picture."""
    growing = Growing(rng, layers)
    growing.start()
    for _ in range(rng.choice((0, 2, 5))):
        growing.step()
    pictures = [key for key, shape in growing.shapes.items() if len(shape) == 3]
    return growing, rng.choice(pictures)


def _flat_into_picture_layer(rng: random.Random, layers: Layers) -> Graph:
    growing, at = _grown(rng, layers)
    flat = growing.put(growing.make("flatten", {}), [at])
    growing.put(growing.make(rng.choice(PICTURE_KINDS), {}), [flat])
    return growing.graph()


def _window_too_large(rng: random.Random, layers: Layers) -> Graph:
    growing, at = _grown(rng, layers)
    height, width, _ = growing.shapes[at]
    size = (height + rng.randint(1, 3), 1) if rng.random() < 0.5 else (1, width + 1)
    kinds = ("conv2d", "separable_conv2d", "depthwise_conv2d", "max_pooling2d")
    kind = rng.choice((*kinds, "average_pooling2d"))
    key = "pool_size" if "pooling" in kind else "kernel_size"
    growing.put(growing.make(kind, {key: size}), [at])
    return growing.graph()


def _groups_do_not_divide(rng: random.Random, layers: Layers) -> Graph:
    growing, at = _grown(rng, layers)
    channels = growing.shapes[at][2]
    groups = rng.choice([n for n in range(2, 20) if channels % n])
    if rng.random() < 0.5:
        node = growing.make("group_normalization", {"groups": groups})
    else:
        node = growing.make("conv2d", {"groups": groups, "filters": groups, "padding": "same"})
    growing.put(node, [at])
    return growing.graph()


def _strides_and_dilation(rng: random.Random, layers: Layers) -> Graph:
    growing, at = _grown(rng, layers)
    kind = rng.choice(("conv2d", "conv2d_transpose"))
    both = {"strides": (2, 1), "dilation_rate": (1, 2), "padding": "same"}
    growing.put(growing.make(kind, both), [at])
    return growing.graph()


def _merge_of_different(rng: random.Random, layers: Layers) -> Graph:
    growing, at = _grown(rng, layers)
    height, width, channels = growing.shapes[at]
    other = growing.put(growing.make("zero_padding2d", {"padding": (height, 1, width, 1)}), [at])
    kinds = ("add", "subtract", "multiply", "average", "maximum")
    kind = rng.choice((*kinds, "concatenate"))
    sources = [at, other]
    if height == 1 or width == 1 or channels == 1:
        # an axis of 1 would be repeated: make two that differ and are not 1
        wide = {"filters": 2, "kernel_size": (1, 1)}
        more = {"filters": 3, "kernel_size": (1, 1)}
        sources = [
            growing.put(growing.make("conv2d", wide), [at]),
            growing.put(growing.make("conv2d", more), [other]),
        ]
    growing.put(growing.make(kind, {}), sources)
    return growing.graph()


def _wrong_number_of_inputs(rng: random.Random, layers: Layers) -> Graph:
    growing, at = _grown(rng, layers)
    kind = rng.choice(("subtract", "add", "concatenate", "average"))
    count = 3 if kind == "subtract" else 1
    growing.put(growing.make(kind, {}), [at] * count)
    return growing.graph()


def _reshape_to_other_size(rng: random.Random, layers: Layers) -> Graph:
    growing, at = _grown(rng, layers)
    values = math.prod(growing.shapes[at])
    prime = next(n for n in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37) if values % n)
    target = rng.choice(((values + 1,), (-1, prime), (prime, -1, 1), (values, prime)))
    growing.put(growing.make("reshape", {"target_shape": target}), [at])
    return growing.graph()


def _crop_everything(rng: random.Random, layers: Layers) -> Graph:
    growing, at = _grown(rng, layers)
    height, width, _ = growing.shapes[at]
    cut = rng.choice(((height, 0, 0, 0), (0, 0, width - 1, 1), (height, height, 1, 0)))
    growing.put(growing.make("cropping2d", {"cropping": cut}), [at])
    return growing.graph()


def _wrong_value(rng: random.Random, layers: Layers) -> Graph:
    kind, key, value = rng.choice(WRONG_VALUES)
    growing = Growing(rng, layers)
    if kind == "input":
        growing.put(growing.make("input", {key: value}))
        growing.put(growing.make("relu", {}), ["n1"])
        return growing.graph()
    growing, at = _grown(rng, layers)
    growing.put(growing.make(kind, {key: value}), [at])
    return growing.graph()


def _unknown_words(rng: random.Random, layers: Layers) -> Graph:
    growing, at = _grown(rng, layers)
    if rng.random() < 0.5:
        growing.put(growing.make(rng.choice(("convv2d", "Dense2", "lambda_code")), {}), [at])
    else:
        growing.put(growing.make(rng.choice(("conv2d", "dense")), {"filterz": 3}), [at])
    return growing.graph()


def _axes_not_there(rng: random.Random, layers: Layers) -> Graph:
    growing, at = _grown(rng, layers)
    flat = growing.put(growing.make("flatten", {}), [at])
    if rng.random() < 0.5:
        growing.put(growing.make("concatenate", {"axis": "width"}), [flat, flat])
    else:
        growing.put(growing.make("prelu", {"share_places": True}), [flat])
    return growing.graph()


def _refused_while_growing(rng: random.Random, layers: Layers) -> Graph:
    """A random layer that our own rules refused: does Keras refuse it too?"""
    while True:
        growing = Growing(rng, layers)
        growing.start()
        for _ in range(30):
            growing.step()
            if growing.refused:
                node, sources, _problem = growing.refused[-1]
                growing.put(node, sources)
                return growing.graph()


MISTAKES: tuple[Callable[[random.Random, Layers], Graph], ...] = (
    _flat_into_picture_layer,
    _window_too_large,
    _groups_do_not_divide,
    _strides_and_dilation,
    _merge_of_different,
    _wrong_number_of_inputs,
    _reshape_to_other_size,
    _crop_everything,
    _wrong_value,
    _wrong_value,
    _wrong_value,
    _unknown_words,
    _axes_not_there,
    _refused_while_growing,
    _refused_while_growing,
    _refused_while_growing,
)


def random_invalid_graph(rng: random.Random, layers: Layers) -> Graph:
    """A network with one mistake that makes it impossible to build."""
    return rng.choice(MISTAKES)(rng, layers)
