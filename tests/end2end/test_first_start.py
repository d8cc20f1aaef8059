"""The window of a first start is on the screen as a whole, with the frame around it."""

from __future__ import annotations

import shutil

import pytest

pytestmark = [pytest.mark.end2end, pytest.mark.timeout(600)]

SCREENS = (("1440x900", "1"), ("1366x768", "1"), ("1920x1080", "1.5"), ("2560x1440", "1"))


@pytest.mark.full_but("1366x768-1")
@pytest.mark.parametrize(("screen", "scale"), SCREENS)
def test_the_frame_and_both_bars_are_on_the_screen(at_screen, screen, scale):
    missing = [name for name in ("openbox", "xprop") if shutil.which(name) is None]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")
    seen = at_screen("first_start", screen=screen, scale=scale)
    assert seen["title_bar"] > 0, "the window manager has drawn a frame"
    assert seen["is_frame_on_screen"], seen
    assert all(seen["are_on_screen"].values()), seen
    is_large = screen == "2560x1440"
    assert seen["covers"] < 0.5 if is_large else seen["covers"] > 0.8, "as large as there is room"
