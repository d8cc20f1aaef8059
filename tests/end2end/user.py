"""Somebody in front of the real window, in a process and on a screen of their own."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtWidgets import QApplication, QWidget

from tests.end2end.robot import Robot, center
from workbench.app import close_context, make_context, make_window
from workbench.gui.shell.main_window import MainWindow
from workbench.runs.home import data_home


class User:
    """What everybody at the window can do.

    Args:
        window: The window.
        shots: Where pictures of it are kept, if anywhere.
    """

    def __init__(self, window: MainWindow, shots: Path | None) -> None:
        self.window = window
        self.document = window.context.document
        self.robot = Robot()
        self._shots = shots

    def shot(self, name: str, widget: QWidget | None = None) -> None:
        """Keeps a picture of the window, or of a dialog, when asked to."""
        if self._shots is not None:
            self.robot.pause(300)
            (widget or self.window).grab().save(str(self._shots / f"{name}.png"))

    def press(self, button: QWidget) -> None:
        """Clicks a button once it can be pressed."""
        self.robot.wait(lambda: button.isVisible() and button.isEnabled(), button.accessibleName())
        self.robot.click(center(button))


def at_the_window(
    act: Callable[[MainWindow, Path | None], dict[str, object]], words: Sequence[str]
) -> None:
    """Opens the window, lets somebody act, prints what was seen as a JSON line and ends.

    Args:
        act: Given the window and the folder for pictures of it.
        words: That folder, or nothing.
    """
    app = QApplication([])
    context = make_context(data_home(), app)
    context.theme.apply(app)
    window = make_window(context, data_home())
    window.setGeometry(0, 0, 1440, 840)
    window.show()
    context.library.open()
    robot = Robot()
    robot.pause(500)
    robot.focus(window)
    print(json.dumps(act(window, Path(words[0]) if words else None)), flush=True)
    window.hide()
    close_context(context)
    sys.stdout.flush()
    os._exit(0)  # the answer is out; nothing that Qt takes down late can change it
