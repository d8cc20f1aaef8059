"""Pictures from the web, from the screen and from a watched folder, and a second model beside the
first: by keyboard and mouse, with two runs whose weights are made by hand.

Run by test_picture_sources.py; prints what was seen as one JSON line.
`python -m tests.end2end.picture_sources [SCREENSHOT_FOLDER]`
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
from PIL import Image
from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMenu, QMessageBox, QWidget

from tests.end2end.robot import center
from tests.end2end.user import User, at_the_window
from tests.web_server import web_server
from tests.worker.requests.brightness import (
    GREY_LIMIT,
    brightness_project,
    write_pictures,
    write_weights,
)
from workbench.core.projects.project import new_project_id
from workbench.core.projects.project_file import project_text
from workbench.gui.shell.main_window import MainWindow
from workbench.protocol.messages import Done
from workbench.protocol.service_call import ServiceCall
from workbench.protocol.weights import LoadWeights

_START, _END = QPoint(200, 150), QPoint(299, 249)


def make_runs(folder: Path) -> Path:
    """Two runs of one project: one that knows bright from dark, and one that mistakes them."""
    data = write_pictures(folder / "data", {"bright": [200, 240], "dark": [10, 40]})
    text = project_text(replace(brightness_project(data), id=new_project_id()))
    wrong = folder / "wrong.weights.h5"
    with h5py.File(wrong, "w") as file:
        file["layers/dense/vars/0"] = np.tile(np.float32([0, 1 / 24]), (24, 1))
        file["layers/dense/vars/1"] = np.array([GREY_LIMIT, 0], np.float32)
    with ServiceCall() as call:
        for number, weights in enumerate((wrong, write_weights(folder / "right.weights.h5"))):
            request = LoadWeights(id=number + 1, project=text, weights=str(weights))
            *_, last = call.answers(request)
            assert isinstance(last, Done), last
    project = folder / "p.workbench"
    project.write_text(text)
    return project


class Visitor(User):
    """Somebody at the classify view."""

    def open_classify(self, project: Path) -> None:
        """Opens the project; the view is clicked."""
        assert self.window.files.open(str(project))
        self.window.context.library.refresh()
        self.view = self.window.show_view("classify")
        self.card = self.view.panels["classify_result"]
        self.pictures = self.view.panels["classify_pictures"]
        self.robot.wait(lambda: self.view.chooser.path is not None, "a model")
        self.robot.focus(self.window)

    def after(self, act: Callable[[], None]) -> str:
        """Does what brings a picture in; the class that is shown then."""
        before = self.card.entry
        act()
        self.robot.wait(lambda: self.card.entry is not before, "an answer", timeout_s=90)
        self.robot.pause(300)
        return str(self.card.label.full_text)

    def paste(self, text: str) -> None:
        """Pastes a text, and agrees to what is asked."""
        QGuiApplication.clipboard().setText(text)
        self.robot.while_open(
            lambda: _top(QMessageBox),
            lambda box: self.robot.click(center(box.buttons()[0])),
            opening=lambda: self.robot.key("ctrl+v"),
        )

    def choose_source(self, words: str) -> None:
        """Opens the menu of sources and clicks an entry."""

        def click(menu: QMenu) -> None:
            action = next(each for each in menu.actions() if each.text() == words)
            self.shot("menu", menu)
            self.robot.click(menu.mapToGlobal(menu.actionGeometry(action).center()))

        self.robot.while_open(
            lambda: _top(QMenu), click, opening=lambda: self.press(self.pictures.drop.more)
        )

    def overlay(self) -> QWidget:
        """What covers the screen, once it is there."""
        source = self.pictures.sources["screen_region"]
        self.robot.wait(lambda: source.overlays and source.overlays[0].isVisible(), "the overlay")
        self.robot.pause(300)
        self.shot("screen", source.overlays[0])
        return source.overlays[0]

    def take_region(self) -> None:
        """Drags a rectangle on the screen."""
        self.choose_source("Screen region")
        self.overlay()
        self.robot.drag(_START, _END)

    def cancel_region(self) -> bool:
        """Begins again, and presses Esc; whether the window is back."""
        self.choose_source("Screen region")
        self.overlay()
        self.robot.key("Escape")
        return self.robot.sees(self.window.isVisible) and self._is_back()

    def _is_back(self) -> bool:
        self.robot.focus(self.window)
        return not self.pictures.sources["screen_region"].overlays

    def compare(self) -> list[str]:
        """Opens the comparison, and ends it; both answers, and what is said of them."""
        panel = self.view.panels["classify_compare"]
        self.robot.click(center(panel.section.head))
        self.robot.wait(lambda: panel.second.answer is not None, "the second answer", timeout_s=90)
        self.shot("compare")
        seen = [*(side.answer.full_text for side in panel.sides), panel.verdict.text()]
        self.press(panel.end)
        return seen if panel.second.run is None else []

    def watch(self, folder: Path, picture: Path) -> list[str]:
        """Copies pictures into a watched folder, stops, and copies another; the rows."""
        model = self.pictures.results.model
        self.view.state.watch_folder(folder)  # chosen in the system's dialog
        for name in ("a.png", "b.png"):
            shutil.copy(picture, folder / name)
        self.robot.wait(lambda: model.rowCount() == 2, "two rows", timeout_s=90)
        self.shot("watch")
        self.press(self.pictures.drop.stops["listing"])
        self.robot.wait(lambda: not self.pictures.drop.stops, "the end")
        return sorted(model.index(row, 0).data() for row in range(model.rowCount()))


def _top(kind: type[QWidget]) -> QWidget | None:
    shown = (each for each in QApplication.topLevelWidgets() if isinstance(each, kind))
    return next((each for each in shown if each.isVisible()), None)


def _visit(window: MainWindow, shots: Path | None, folder: Path) -> dict[str, object]:
    user = Visitor(window, shots)
    user.open_classify(make_runs(folder))
    Image.new("RGB", (60, 40), (230, 230, 230)).save(folder / "bright.png")
    os.environ["no_proxy"] = "127.0.0.1"
    with web_server() as server:
        server.files["/rose"] = (folder / "bright.png").read_bytes()
        server.moved["/moved"] = "/rose"
        user.robot.pause(500)
        pasted = user.after(lambda: user.paste(f"{server.address}/moved"))
        asked = [path for path, _ in server.asked]
    compared = user.compare()
    region = user.after(user.take_region)
    entry = user.card.entry
    is_back = user.cancel_region()
    (folder / "watched").mkdir()
    return {
        "pasted": pasted,
        "asked": asked,
        "compared": compared,
        "region": region,
        "size": [entry.answer.width, entry.answer.height],
        "is_back": is_back,
        "rows": user.watch(folder / "watched", folder / "bright.png"),
        "has_tensorflow": "tensorflow" in sys.modules,
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        at_the_window(lambda window, shots: _visit(window, shots, Path(name)), sys.argv[1:])
