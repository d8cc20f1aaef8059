"""Every layer type keeps the contract of a plug-in file."""

from __future__ import annotations

import itertools
import json
import random
from typing import get_args

import pytest

from tests.strategies import random_params
from workbench.core.checks.shapes import Propagation
from workbench.core.network.graph import Edge, Graph, Node
from workbench.core.params import IntParam, check_all
from workbench.core.specs import CATEGORIES, LayerSpec, ParamCount, Role, ShapeProblem
from workbench.core.specs.layer import Place
from workbench.layers import all_layers, layers_by_title

KEYS = tuple(all_layers())
PICTURE = (8, 8, 4)


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
def test_what_a_spec_says_of_its_parameters_holds(key):
    spec = all_layers()[key]
    params = {param.key: param for param in spec.params}
    assert (spec.max_inputs == 0) == (spec.role is Role.INPUT)
    assert spec.place in get_args(Place)
    if spec.width:
        assert isinstance(params[spec.width], IntParam)
        shape, _ = _shape_or_problem(spec, {**spec.defaults(), spec.width: 7}, [PICTURE])
        assert shape[-1] == 7
    if spec.randomness:
        assert spec.place == "model"
        assert params[spec.randomness].check(0.0) == 0
        assert spec.defaults()[spec.randomness] > 0
    if spec.pipeline_form is not None:
        assert spec.place != "model"
        assert (spec.pipeline_form.draws > 0) == (spec.place == "pipeline")
    if spec.is_adapted:
        assert spec.count_params(spec.defaults(), [PICTURE]).non_trainable > 0


@pytest.mark.parametrize("key", KEYS)
def test_a_projection_brings_one_shape_to_another(key):
    spec = all_layers()[key]
    found = 0
    for shape, wanted in itertools.permutations([PICTURE, (4, 8, 4), (2, 3, 9), (5,), (11,)], 2):
        params = spec.projection(shape, wanted)
        if params is not None:
            values, errors = check_all(spec.params, params)
            assert not errors
            made = spec.infer_shape(values, [shape])
            assert made in {wanted, (*wanted[:-1], shape[-1])}
            found += 1
    assert found or spec.projection is LayerSpec.projection


def test_roles_are_played():
    def of(role):
        return [spec for spec in all_layers().values() if spec.role is role]

    assert len(of(Role.INPUT)) == 1
    assert of(Role.INPUT)[0].params[0].kind == "size"
    assert of(Role.FLATTEN)
    for spec in of(Role.FLATTEN):
        assert len(spec.infer_shape(spec.defaults(), [PICTURE])) == 1
    assert of(Role.DENSE)
    for spec in of(Role.DENSE):
        assert spec.infer_shape({**spec.defaults(), spec.width: 3}, [(9,)]) == (3,)
        assert spec.activation is not None
    assert of(Role.SOFTMAX)
    for spec in of(Role.SOFTMAX):
        assert spec.infer_shape(spec.defaults(), [(9,)]) == (9,)


def test_the_common_layers_have_an_order():
    ranks = [spec.common_rank for spec in all_layers().values() if spec.common_rank is not None]
    assert len(ranks) == len(set(ranks))
    assert min(ranks) >= 1


def test_titles_are_unique():
    assert len(layers_by_title()) == len(all_layers())


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
        ("input", {"shape": (28, 28, 1)}, "28 × 28 × 1"),
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
        for problem in Propagation(graph, layers).problems:
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


def test_a_transposed_convolution_that_no_memory_holds_is_a_problem():
    spec = all_layers()["conv2d_transpose"]
    params = {**spec.defaults(), "strides": (1_000, 1_000)}
    with pytest.raises(ShapeProblem) as caught:
        spec.infer_shape(params, [(1_000, 1_000, 1)])
    assert caught.value.title == "The output is too large"
