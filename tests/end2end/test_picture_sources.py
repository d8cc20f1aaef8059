"""Pictures pasted as addresses, dragged on the screen and copied into a watched folder."""

from __future__ import annotations

import pytest

pytestmark = [pytest.mark.full, pytest.mark.end2end, pytest.mark.timeout(600)]


def test_pictures_come_from_the_web_the_screen_and_a_watched_folder(at_screen):
    seen = at_screen("picture_sources")
    assert seen == {
        "pasted": "bright",
        "asked": ["/moved", "/rose"],
        "compared": ["bright 100.0%", "dark 100.0%", "≠ Different"],
        "region": "dark",  # of an empty screen
        "size": [100, 100],
        "is_back": True,
        "rows": ["a.png", "b.png"],
        "has_tensorflow": False,
    }
