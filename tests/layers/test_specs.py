"""Every layer type keeps the contract of a plug-in file."""

import json
import random

import pytest

from tests.strategies import random_params
from workbench.core.checks.shapes import propagate
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.params import check_all
from workbench.core.specs import CATEGORIES, ParamCount, ShapeProblem
from workbench.layers import all_layers

KEYS = tuple(all_layers())

ISSUE_2 = """Input Rescaling Normalization Conv2D SeparableConv2D DepthwiseConv2D Conv2DTranspose
MaxPooling2D AveragePooling2D GlobalAveragePooling2D GlobalMaxPooling2D Dense Flatten Reshape
Dropout SpatialDropout2D GaussianNoise BatchNormalization LayerNormalization GroupNormalization
Activation ReLU LeakyReLU ELU PReLU Softmax Add Subtract Multiply Average Maximum Concatenate
ZeroPadding2D Cropping2D UpSampling2D Resizing RandomFlip RandomRotation RandomZoom
RandomTranslation RandomContrast RandomBrightness"""


def test_all_layers_of_the_issue_are_there():
    assert {spec.title for spec in all_layers().values()} == set(ISSUE_2.split())


@pytest.mark.parametrize("key", KEYS)
def test_spec(key):
    spec = all_layers()[key]
    assert spec.key == key
    assert spec.category in CATEGORIES
    assert spec.summary.endswith(".")
    assert spec.keywords
    keys = [param.key for param in spec.params]
    assert len(keys) == len(set(keys))
    for param in spec.params:
        assert param.help.endswith("."), param.key
        assert param.title[0].isupper()
        assert param.check(param.default) == param.default
        assert param.expected()
        assert param.show(param.default)
    assert check_all(spec.params, spec.defaults()) == (spec.defaults(), [])


@pytest.mark.parametrize("key", KEYS)
def test_values_survive_json(key):
    spec = all_layers()[key]
    for seed in range(20):
        values = {**spec.defaults(), **random_params(random.Random(seed), spec)}
        checked, errors = check_all(spec.params, values)
        assert not errors
        again, errors = check_all(spec.params, json.loads(json.dumps(checked)))
        assert (again, errors) == (checked, [])


@pytest.mark.parametrize("key", KEYS)
def test_words_and_counts_for_random_values(key):
    spec = all_layers()[key]
    inputs = [(8, 8, 4)] * max(spec.min_inputs, 1 if spec.max_inputs else 0)
    for seed in range(30):
        values = {**spec.defaults(), **random_params(random.Random(seed), spec)}
        words = spec.describe(values)
        assert "None" not in words
        assert "{" not in words
        assert words == words.strip()
        assert isinstance(spec.keras_arguments(values), dict)
        shape, problem = _shape_or_problem(spec, values, inputs)
        if problem is not None:
            assert problem.title
            assert str(problem).endswith(".")
            continue
        assert all(isinstance(n, int) and n > 0 for n in shape)
        assert isinstance(spec.count_params(values, inputs), ParamCount)
        assert spec.count_multiply_adds(values, inputs, shape) >= 0
        assert isinstance(spec.tpu_hint(values, shape), str)


def _shape_or_problem(spec, values, inputs):
    try:
        return spec.infer_shape(values, inputs), None
    except ShapeProblem as problem:
        return (), problem


@pytest.mark.parametrize(
    ("key", "params", "words"),
    [
        (
            "conv2d",
            {"filters": 32, "padding": "same", "activation": "relu"},
            "32 filters · 3×3 · same · relu",
        ),
        ("conv2d", {"filters": 1, "strides": (2, 2), "groups": 1}, "1 filter · 3×3 · stride 2×2"),
        ("conv2d", {"use_bias": False, "kernel_l2": 0.01}, "32 filters · 3×3 · no bias · L2 0.01"),
        ("dense", {"units": 10, "activation": "softmax"}, "10 units · softmax"),
        ("dropout", {"rate": 0.25}, "25%"),
        ("max_pooling2d", {}, "2×2"),
        ("max_pooling2d", {"strides": (1, 1)}, "2×2 · stride 1×1"),
        ("rescaling", {}, "÷ 255"),
        ("rescaling", {"scale": 1 / 127.5, "offset": -1.0}, "÷ 127.5 − 1"),
        ("random_rotation", {}, "± 18°"),
        ("batch_normalization", {}, ""),
        ("zero_padding2d", {"padding": (1, 0, 2, 0)}, "top 1, left 2"),
    ],
)
def test_settings_in_words(key, params, words):
    spec = all_layers()[key]
    assert spec.describe({**spec.defaults(), **params}) == words


@pytest.mark.parametrize("key", KEYS)
def test_every_fix_a_layer_names_can_be_made(key):
    """Fix keys are plain text in a layer file: each must be one that the core understands."""
    layers = all_layers()
    spec = layers[key]
    if spec.min_inputs != 1:
        return
    for seed in range(60):
        rng = random.Random(seed)
        shape = rng.choice([(4, 4, 3), (2, 2, 5), (1, 1, 1)])
        params = dict(zip([p.key for p in spec.params], _wild(rng, spec), strict=True))
        nodes = [
            Node("a", "input", "a", {"shape": shape}),
            Node("b", "flatten" if rng.random() < 0.3 else "relu", "b"),
            Node("c", key, "c", params),
        ]
        graph = Graph.of(nodes, [Edge("a", "b"), Edge("b", "c")])
        for problem in propagate(graph, layers).problems:
            for fix in problem.fixes:
                assert fix.title
                assert fix.apply(graph) != graph


def _wild(rng, spec):
    values = {**spec.defaults(), **random_params(rng, spec)}
    for param in spec.params:
        value = values[param.key]
        if param.kind == "size" and rng.random() < 0.5:
            value = tuple(n + 5 for n in value)
        yield value


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        (128, ""),
        (256, ""),
        (32, "32 filters fill 25% of a TPU's 128-wide matrix unit. 64 or 128 would take"),
        (1, "1 filter fills 1% of"),
        (200, "200 filters take 2 passes through a TPU's 128-wide matrix unit and fill 78%"),
    ],
)
def test_tpu_hint_says_how_full_the_matrix_unit_is(filters, words):
    spec = all_layers()["conv2d"]
    hint = spec.tpu_hint({**spec.defaults(), "filters": filters}, (8, 8, filters))
    assert hint.startswith(words)
    assert bool(hint) == bool(words)
