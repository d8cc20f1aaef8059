"""The last hidden layer's outputs beside the scores, by the whole network and by its head."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.checks.test_shapes import chain
from workbench.layers import all_layers
from workbench.worker.model.build import build_model
from workbench.worker.model.inference_form import head_with_hidden, hidden_node, with_hidden

pytestmark = pytest.mark.worker

GRAPH = chain(
    ("input", {"shape": [6, 6, 3]}),
    ("conv2d", {"filters": 4}),
    ("global_average_pooling2d", {}),
    ("dense", {"units": 5, "activation": "relu"}),
    ("dropout", {}),
    ("dense", {"units": 3, "activation": "softmax"}),
)


@pytest.fixture
def built():
    import keras

    yield build_model(GRAPH, all_layers())
    keras.backend.clear_session()


@pytest.mark.parametrize("end", ["c", "d", "e"])
def test_a_head_on_features_gives_what_the_whole_network_gives(built, end):
    import keras

    hidden = hidden_node(built, GRAPH)
    images = np.random.default_rng(3).random((7, 6, 6, 3), dtype=np.float32)
    features = keras.Model(built.model.input, built.layers[end].output)(images)
    head = head_with_hidden(built, GRAPH, end, hidden)
    assert head is not None
    assert len(head.inputs) == 1
    for part, whole in zip(head(features), with_hidden(built, hidden)(images), strict=True):
        np.testing.assert_allclose(part, whole, rtol=1e-5, atol=1e-6)


def test_a_hidden_layer_within_the_frozen_part_is_not_in_the_head(built):
    assert head_with_hidden(built, GRAPH, "e", "c") is None
