"""What is typed after Enter or a double click on a layer replaces its first value."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.end2end, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def seen(at_screen):
    """What the fields showed, and what the layers took."""
    return at_screen("hands.fields")


def test_a_number_typed_after_enter_replaces_the_value(seen):
    assert seen["filters"] == {"shown": "99", "value": 99}


def test_a_size_typed_after_enter_is_not_spliced_into_the_old_one(seen):
    assert seen["pool_size"] == {"shown": "48", "value": [48, 48]}


def test_a_number_typed_after_a_double_click_replaces_the_value(seen):
    assert seen["more_filters"] == {"shown": "77", "value": 77}
