"""Every view with a large text size on a screen of 1440 x 900 pixels: run with the settings' factor,
as a process of its own, since Qt reads factor and screen at its start. Prints what it finds as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path

SCREEN = (1440, 900)
_AGAIN = [("design", True), ("welcome", True)]
"""While a run goes on; the first page then leads back to the project."""
_TRIES = 20
_PAUSE_MS = 20


def _corner_colors(area) -> set[str]:
    """What is drawn between the two scroll bars of an area; nothing where it has not both."""
    image = area.window().grab(_rect_beside(area)).toImage()
    places = ((x, y) for x in range(image.width()) for y in range(image.height()))
    return {image.pixelColor(*place).name() for place in places}


def _rect_beside(area):
    """The corner that the scroll bars leave, in the window."""
    from PySide6.QtCore import QRect

    inner = area.viewport().geometry().bottomRight()
    outer = area.rect().bottomRight()
    rect = QRect(inner, outer).adjusted(1, 1, 0, 0)
    return rect.translated(area.mapTo(area.window(), area.rect().topLeft()))


def main() -> int:
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication, QScrollArea

    from tests.looks import flaws_of
    from tests.staged import VIEWS, Staged
    from tests.window_parts import window_context
    from workbench.app import make_window

    home = Path(os.environ["WORKBENCH_HOME"])
    app = QApplication([])
    with window_context(home) as context:
        context.theme.apply(app)
        window = make_window(context, home)
        window.show()
        staged = Staged(window, home)
        staged.stage()
        flaws: dict[str, list[str]] = {}
        for view, is_running in [(view, False) for view in VIEWS] + _AGAIN:
            staged.show(view)
            window.top.show_state(is_running=is_running, reason="", num_waiting=3)
            for _ in range(_TRIES):
                QTest.qWait(_PAUSE_MS)
                if not (found := [str(flaw) for flaw in flaws_of(window)]):
                    break
            flaws[f"{view} {is_running}"] = found
        train = window.top.train
        staged.show("design")
        window.top.show_state(is_running=False, reason="")
        QTest.qWait(_PAUSE_MS)
        found = {
            "target": window.top.target.shown_text(),
            "has_minimap": window.design().canvas.overlays.minimap.isVisible(),
            "screen": window.screen().availableSize().toTuple(),
            "window": window.size().toTuple(),
            "train": train.mapTo(window, train.rect().bottomRight()).toTuple(),
            "flaws": {view: some for view, some in flaws.items() if some},
        }
        staged.show("data")
        QTest.qWait(_PAUSE_MS)
        found["corner"] = len(_corner_colors(window.views.currentWidget().findChild(QScrollArea)))
        context.document.new()
        window.close()
    print(json.dumps(found))
    return 0


def environment(scale: str, folder: Path, screen_px: tuple[int, int] = SCREEN) -> dict[str, str]:
    """What the process runs with: a screen of so many pixels, and text of `scale` times its size."""
    width, height = screen_px
    dots = {"logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}
    screen = {"name": "one", "x": 0, "y": 0, "width": width, "height": height, **dots}
    config = folder / "screen.json"
    config.write_text(json.dumps({"synchronousWindowSystemEvents": False, "screens": [screen]}))
    return {
        **os.environ,
        "QT_SCALE_FACTOR": scale,
        "QT_QPA_PLATFORM": f"offscreen:configfile={config}",
        "WORKBENCH_HOME": tempfile.mkdtemp(dir=folder),
    }


if __name__ == "__main__":
    sys.exit(main())
