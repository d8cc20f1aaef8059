"""A click anywhere on a connection selects it; the menus are about what is pointed at."""

from __future__ import annotations

import pytest

from tests.end2end.hands.pointing import HEIGHTS, ZOOMS

pytestmark = [pytest.mark.end2end, pytest.mark.timeout(600)]

OF_LAYERS = {"Cut", "Copy", "Duplicate", "Delete"}


@pytest.fixture(scope="module")
def seen(at_screen):
    """What was selected, offered and removed."""
    return at_screen("hands.pointing")


def test_a_click_anywhere_on_a_connection_selects_it_and_delete_removes_it_alone(seen):
    right = {"is_selected": True, "is_deleted_alone": True}
    places = [{"zoom": zoom, "part": part} for zoom in ZOOMS for part in HEIGHTS]
    assert seen["deleted"] == [place | right for place in places]


def test_a_right_click_on_a_connection_selects_it_and_can_remove_it(seen):
    menu = seen["connection"]
    assert menu["offers"][:2] == ["Insert layer…", "Remove connection"]
    assert not OF_LAYERS & set(menu["offers"])
    assert menu["layers"] == []
    assert menu["is_edge_selected"] is True
    assert seen["is_removed_alone"] is True


def test_a_right_click_on_the_empty_canvas_selects_nothing_and_offers_a_new_layer(seen):
    menu = seen["ground"]
    assert menu["offers"][:2] == ["Add layer…", "Paste"]
    assert not OF_LAYERS & set(menu["offers"])
    assert menu["layers"] == []
    assert menu["is_edge_selected"] is False
