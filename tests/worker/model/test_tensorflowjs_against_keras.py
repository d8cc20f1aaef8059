"""Every layer type is written for TensorFlow.js, and computes there what it does in Keras."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.onnx_against_keras import difference, pair_of
from tests.onnx_cases import cases_of, kinds, networks, some_of
from tests.strategies import random_valid_graph
from tests.tensorflowjs_against_keras import LIMIT, failures, run, write
from workbench.exports._tensorflowjs import writing
from workbench.layers import all_layers

pytestmark = [
    pytest.mark.worker,
    # right for random networks: an axis of one value under a softmax
    pytest.mark.filterwarnings("ignore:You are using a softmax over axis"),
]


@pytest.fixture(autouse=True)
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
def test_a_layer_computes_what_kerass_does_whatever_its_parameters(spec, tmp_path):
    cases = some_of(cases_of(spec, num_random=2), 0.0)
    assert failures(list(networks(cases)), tmp_path) == []


@pytest.mark.full
def test_random_networks_give_kerass_scores(tmp_path):
    graphs = [random_valid_graph(random.Random(seed), all_layers()) for seed in range(8)]
    written = [write(pair_of(graph, n), tmp_path / str(n)) for n, graph in enumerate(graphs)]
    run(written)
    found = [difference(each.found(), each.expected) for each in written]
    assert max(found) <= LIMIT, found


def test_a_wrong_rewriting_would_be_seen(monkeypatch, tmp_path):
    spec = all_layers()["resizing"]
    cases = [case for case in cases_of(spec) if case.params["interpolation"] == "lanczos3"]
    (first, *_) = networks(cases[:2])
    right = writing._matrix
    monkeypatch.setattr(
        writing, "_matrix", lambda *given: np.ascontiguousarray(right(*given)[::-1])
    )
    assert failures([first], tmp_path) != []
