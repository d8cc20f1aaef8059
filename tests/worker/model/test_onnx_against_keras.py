"""What the layers write in ONNX is what Keras's layers compute (all cases, and more networks:
`python -m tests.proofs.onnx_layers`).
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from tests.onnx_against_keras import LIMIT, difference, differences, is_right, pair_of
from tests.onnx_cases import cases_of, kinds, networks, some_of
from tests.strategies import random_valid_graph
from workbench.core.params import ChoiceParam
from workbench.core.registry import Registry
from workbench.core.specs import LEAKY_RELU, RELU
from workbench.core.specs.layer import same
from workbench.layers import all_layers

pytestmark = [
    pytest.mark.worker,
    # right for random networks: an axis of one value under a softmax
    pytest.mark.filterwarnings("ignore:You are using a softmax over axis"),
]

SHARE = 0.1
"""Of the cases that have no value of their own."""


@pytest.fixture(scope="module", autouse=True)
def _cleared():
    import keras

    yield
    keras.backend.clear_session()


@pytest.mark.full_but(
    "conv2d",
    "max_pooling2d",
    "average_pooling2d",
    "add",
    "relu",
    "concatenate",
    "flatten",
    "rescaling",
    "activation",
    "normalization",
)
@pytest.mark.parametrize("spec", kinds(), ids=lambda spec: spec.key)
def test_a_layer_computes_what_kerass_does_whatever_its_parameters(spec):
    cases = some_of(cases_of(spec, num_random=4), SHARE)
    found = [each for network in networks(cases) for each in differences(network)]
    assert [each for each in found if not is_right(*each[1:])] == []
    for param in spec.params:
        tried = {case.params[param.key] for case in cases}
        assert len(tried) > 1, param.key
        assert not isinstance(param, ChoiceParam) or tried == {*param.choices}, param.key


@pytest.mark.full_but("0", "1", "2")
@pytest.mark.parametrize("seed", range(12))
def test_a_random_network_gives_kerass_scores(seed):
    pair = pair_of(random_valid_graph(random.Random(seed), all_layers()), seed)
    assert difference(pair.onnx(), pair.keras()) <= LIMIT


def test_each_image_gives_the_same_in_a_batch_of_any_size():
    pair = pair_of(random_valid_graph(random.Random(3), all_layers()), 3)
    alone = replace(pair, images=pair.images[:1])
    assert difference(alone.onnx(), pair.onnx()[:1]) <= LIMIT


@pytest.mark.parametrize("key", [RELU, LEAKY_RELU])
def test_a_wrong_rule_would_be_seen(key):
    spec = all_layers()[key]
    wrong = Registry({**all_layers(), key: replace(spec, onnx=same)})
    (first, *_) = networks(cases_of(spec))
    (image, *found) = differences(first, layers=wrong)
    assert image == ("the image", 0, 0)
    assert not any(is_right(*each[1:]) for each in found)
    assert min(worst for _, worst, _ in found) > 100 * LIMIT


def test_not_a_number_in_one_alone_is_a_difference():
    numbers, without = np.array([[1.0, np.nan]]), np.array([[1.0, 2.0]])
    assert difference(numbers, numbers) == 0
    assert difference(numbers, without) == difference(without, numbers) == float("inf")
