"""Our shapes and counts against Keras's (the full run: `python -m tests.proofs.shapes`)."""

from __future__ import annotations

import pytest

from tests.proofs.shapes import invalid_failure, valid_failure

pytestmark = [
    pytest.mark.worker,
    # right for random networks: an axis of one value under a softmax
    pytest.mark.filterwarnings("ignore:You are using a softmax over axis"),
]

GRAPHS = 60


@pytest.fixture(scope="module")
def keras():
    import keras

    yield keras
    keras.backend.clear_session()


def test_valid_networks_have_kerass_shapes_and_counts(keras):
    failures = [valid_failure(keras, 100_000 + seed) for seed in range(GRAPHS)]
    assert [text for text in failures if text] == []


def test_invalid_networks_are_refused_by_both(keras):
    failures = [invalid_failure(keras, 100_000 + seed) for seed in range(GRAPHS)]
    assert [text for text in failures if text] == []
