"""The table of suggested augmentation: what it holds is valid, and what it suggests when."""

from __future__ import annotations

import pytest

from workbench.core.network.roles import is_augmentation
from workbench.core.params import check_all
from workbench.layers import all_layers
from workbench.starter import suggest_augmentation

PHOTO, DIGIT, LARGE_GRAY = (224, 224, 3), (28, 28, 1), (128, 128, 1)


def kinds(count, shape):
    return [kind for kind, _ in suggest_augmentation(count, shape).layers]


@pytest.mark.parametrize("count", [1, 400, 2_000, 2_001, 20_000, 20_001, 10**7])
@pytest.mark.parametrize("shape", [PHOTO, DIGIT, LARGE_GRAY, (64, 65, 1), (8, 8, 3)])
def test_each_suggestion_is_a_valid_chain_with_a_reason(count, shape):
    advice = suggest_augmentation(count, shape)
    assert advice.layers
    for kind, values in advice.layers:
        spec = all_layers()[kind]
        assert is_augmentation(spec)
        assert values.keys() <= spec.defaults().keys()
        assert not check_all(spec.params, values)[1]
    assert f"{count:,} training image" in advice.reason
    assert advice.reason.endswith(".")
    assert "{" not in advice.reason


def test_few_images_are_varied_more_than_many():
    few, some, many = (kinds(count, PHOTO) for count in (400, 5_000, 50_000))
    assert set(many) < set(some) < set(few)
    assert many == ["random_flip"]
    assert "random_contrast" in few


def test_small_gray_images_are_not_mirrored():
    for count in (100, 5_000, 60_000):
        assert "random_flip" not in kinds(count, DIGIT)
        assert "random_flip" in kinds(count, LARGE_GRAY)
        assert "random_flip" in kinds(count, (28, 28, 3))
