"""Somebody asks where the network fails: on the images of training, on bright or dark ones, on those
they have tagged themselves.

Run by test_slice_images.py in a process of its own on a screen of its own; prints what was seen as
one JSON line. `python -m tests.end2end.hands.slice_images FOLDER [SCREENSHOT_FOLDER]`
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication, QInputDialog, QMenu, QPushButton

from tests.end2end.hands.mend_labels import Mender
from tests.end2end.user import at_the_window
from workbench.gui.shell.main_window import MainWindow

TAGGED = 3
_EVALUATED_S = 120


class Slicer(Mender):
    """Somebody who looks at slices of the images."""

    def choose_part(self, title: str) -> str:
        """Chooses a part of the split; which images the figures are of then, or that there are
        none.
        """
        box = self.view.part
        self.press(box)
        self.robot.key("Home", *["Down"] * box.findText(title), "Return")
        self.robot.wait(lambda: box.currentText() == title, title)
        self.robot.pause(300)
        self.shot(f"part_{title}")
        if self.view.hint.isVisible():
            return str(self.view.hint.title.text())
        return str(self.view.panels["evaluate_confusion"].source.text())

    def measure(self) -> None:
        """Clicks Evaluate, and waits for the figures."""
        self.press(self.view.start)
        shown = self.view.panels["evaluate_confusion"].map
        self.robot.wait(shown.isVisible, "the confusion matrix", timeout_s=_EVALUATED_S)
        self.robot.wait(self.are_images_shown, "the images")

    def are_images_shown(self) -> bool:
        found, latest = self.panel.scored.found, self.view.state.latest
        return found is not None and latest is not None and found.kept.result == latest.result

    def slice_by(self, key: str) -> list[list[object]]:
        """Chooses the page of slices, and what to slice by with the keyboard; the rows."""
        slices = self.view.panels["evaluate_slices"]
        if not slices.isVisible():
            self.press(self._segment(self.view, "Slices"))
            self.robot.wait(slices.isVisible, "the page of slices")
        place = slices.by.findData(key)
        self.press(slices.by)
        self.robot.key("Home", *["Down"] * place, "Return")
        self.robot.wait(lambda: slices.chosen_by == key, key)
        self.robot.pause(800)
        self.shot(f"by_{key}")
        return [[each.name, each.count, each.right] for each in slices.slices]

    def open_worst(self) -> list[object]:
        """Clicks the first row; the words of the choice, and how many images the grid has."""
        table = self.view.panels["evaluate_slices"].table
        place = table.visualRect(table.model().index(0, 0)).center()
        self.robot.click(self.robot.at_rest(lambda: table.viewport().mapToGlobal(place)))
        self.robot.wait(self.panel.isVisible, "the images of the slice")
        self.robot.pause(600)
        self.shot("worst")
        return [self.panel.box.currentText(), self.panel.rows.rowCount()]

    def tag(self, words: str) -> list[str]:
        """Gives the selected images a tag; those of the project."""
        menu = self.panel.tag_menu

        def choose(opened: QMenu) -> None:
            self.shot("tags", opened)
            action = next(each for each in opened.actions() if each.text() == "New tag…")
            self.robot.click(opened.mapToGlobal(opened.actionGeometry(action).center()))

        def type_tag(dialog: QInputDialog) -> None:
            self.robot.write(words)
            self.shot("tag", dialog)
            self.robot.key("Return")

        self.robot.while_open(
            self._dialog_of_tag,
            type_tag,
            opening=lambda: self.robot.while_open(
                lambda: menu if menu.isVisible() else None,
                choose,
                opening=lambda: self.press(self.panel.tag_button),
            ),
        )
        self.robot.wait(lambda: self.document.project.edits.tags, "the tag")
        return [*self.document.project.edits.tags.values()]

    def _dialog_of_tag(self) -> QInputDialog | None:
        dialog = QApplication.activeModalWidget()
        return dialog if isinstance(dialog, QInputDialog) else None

    def _segment(self, parent: Any, title: str) -> QPushButton:
        segments = parent.findChildren(QPushButton)
        return next(
            each for each in segments if each.accessibleName() == title and each.isVisible()
        )


def act(window: MainWindow, shots: Path | None) -> dict[str, Any]:
    """Train, evaluate the other parts, slice, look, tag, slice by the tag."""
    user = Slicer(window, shots)
    user.choose_folder(Path(sys.argv[1]))
    user.train()
    user.evaluate("test")
    seen: dict[str, Any] = {"before": user.choose_part("Training images")}
    user.measure()
    seen["train"] = user.choose_part("Training images")
    seen["accuracy"] = [user.view.state.evaluation.accuracy]
    seen["test"] = user.choose_part("Test images")
    user.robot.wait(user.are_images_shown, "the images of the test")
    seen["by"] = {key: user.slice_by(key) for key in ("size", "brightness", "folder", "actual")}
    seen["tags_before"] = user.slice_by("tag")
    seen["brightness"] = user.slice_by("brightness")
    seen["worst"] = user.open_worst()
    user.select(TAGGED)
    seen["tags"] = user.tag("blurred")
    seen["tagged"] = user.slice_by("tag")
    seen["has_tensorflow"] = "tensorflow" in sys.modules
    return seen


if __name__ == "__main__":
    at_the_window(act, sys.argv[2:])
