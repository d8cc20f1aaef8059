"""A layer's menu in Design leads to its filters; a dropped picture has its feature maps."""

from __future__ import annotations

import pytest

from workbench.assets import sample_paths

pytestmark = [pytest.mark.end2end, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def seen(at_screen):
    """What the hands led to, with the bundled picture of a bag."""
    (picture,) = (path for path in sample_paths() if path.stem == "bag_01")
    return at_screen("hands.feature_maps", str(picture))


def test_the_menu_of_a_layer_leads_to_its_filters_and_a_picture_to_its_maps(seen):
    assert seen["filters"] == [seen["asked"], "filters", 16, True]
    assert seen["maps"] == [seen["asked"], "maps", 16, True]


def test_a_click_enlarges_a_tile_and_another_layer_is_shown(seen):
    name, index = seen["enlarged"]
    assert name == f"Channel {index}"
    assert seen["first"] == [seen["clicked"], "maps", 6, True]
