"""Somebody in front of the real window, in a process and on a screen of their own."""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QPoint, QPointF, QProcess
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLineEdit, QWidget

from tests.end2end.robot import Robot, center, opened
from workbench.app import close_context, make_context, make_window
from workbench.gui.shell.main_window import MainWindow
from workbench.runs.home import data_home

_GIVE_UP_S = 500
"""Less than conftest.py gives the script, so that its words are kept."""


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
        self.robot.click(self.robot.at_rest(lambda: center(button)))

    def enter_path(self, path: str, *, opening: Callable[[], None]) -> None:
        """Types a path into the file dialog that is opened, and accepts it."""

        def enter(dialog: QFileDialog) -> None:
            self.robot.focus(dialog)
            name = dialog.findChild(QLineEdit)
            name.setCompleter(None)  # its list would take the next click
            self.robot.click(center(name), times=3)
            self.robot.write(path)
            self.robot.wait(lambda: name.text() == path, "the path")
            self.shot("dialog", dialog)
            button = next(b for b in dialog.findChildren(QAbstractButton) if "Choose" in b.text())
            self.robot.click(center(button))

        self.robot.while_open(lambda: opened(QFileDialog), enter, opening=opening)

    def drop_file(self, path: str) -> str:
        """Drags a file or folder from another process onto the window; the words shown over it."""
        manager = QProcess()
        manager.start(sys.executable, ["-m", "tests.end2end.file_manager", path])
        self.robot.wait(lambda: manager.bytesAvailable() > 0, "the file manager")
        screen = QApplication.primaryScreen().geometry()
        start = QPoint(screen.left() + 60, screen.bottom() - 30)
        drops, words = self.window.drops, []
        overlay = drops.overlay

        def read() -> None:
            self.robot.wait(lambda: overlay.words and not drops.is_looking, "words about the drop")
            words.append(overlay.words)
            self.shot("drop")

        self.robot.drag(start, center(self.window.views), before_release=read)
        self.robot.wait(lambda: not overlay.words, "the drop")
        manager.kill()
        manager.waitForFinished(3000)
        return words[0]


class Designer(User):
    """Somebody at the network of the design view."""

    def look_at_design(self) -> None:
        """Waits for the design view."""
        self.robot.wait(lambda: self.window.views.current_key == "design", "design view")
        self.design = self.window.views.currentWidget()
        self.canvas = self.design.canvas

    def node(self, kind: str, index: int = 0) -> str:
        """A layer of a kind: the first, the second, ..."""
        nodes = self.document.graph.nodes.values()
        return [node.id for node in nodes if node.kind == kind][index]

    def on_screen(self, point: QPointF) -> QPoint:
        """A point of the canvas."""
        view = self.canvas.view
        return view.viewport().mapToGlobal(view.mapFromScene(point))

    def middle(self, node: str) -> QPoint:
        """The middle of a layer's card."""
        return self.on_screen(self.canvas.scene.nodes[node].card_rect().center())

    def select(self, node: str) -> None:
        """Clicks a layer."""
        self.robot.click(self.middle(node))
        self.robot.wait(lambda: self.canvas.scene.selected_ids() == [node], f"{node} selected")


def at_the_window(
    act: Callable[[MainWindow, Path | None], dict[str, object]], words: Sequence[str]
) -> None:
    """Opens the window, lets somebody act, prints what was seen as a JSON line and ends.

    Args:
        act: Given the window and the folder for pictures of it.
        words: That folder, or nothing.
    """
    # What opens a dialog that nobody closes never returns: where it was is printed then.
    faulthandler.dump_traceback_later(_GIVE_UP_S, exit=True)
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
