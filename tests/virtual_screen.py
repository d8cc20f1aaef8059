"""A screen of its own for a command, where a test needs a real X server and there is no display."""

from __future__ import annotations

import shutil


def virtual_screen(size: str = "1440x900") -> list[str]:
    """The words before a command that give it a screen of `size` pixels (Xvfb).

    Without -noreset the server resets when its last client leaves, and refuses whoever
    connects in that moment: a window manager beside a short xprop now and then.
    """
    return [shutil.which("xvfb-run") or "xvfb-run", "-a", "-s", f"-screen 0 {size}x24 -noreset"]
