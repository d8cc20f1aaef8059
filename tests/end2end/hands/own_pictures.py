"""From the first start to a network that is trained on somebody's own pictures, by mouse alone,
then pictures dropped on it. The clicks are counted.

Run by test_own_pictures.py in a process of its own on a screen of its own; prints what was seen as
one JSON line. `python -m tests.end2end.hands.own_pictures FOLDER PICTURES [SCREENSHOT_FOLDER]`
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QFileDialog,
    QListView,
)

from tests.end2end.robot import Robot, center, opened
from tests.end2end.user import User, at_the_window
from workbench.gui.files.opening import KIND
from workbench.gui.shell.main_window import MainWindow

_TRAINED_S = 240


class CountingRobot(Robot):
    """Counts what is clicked."""

    clicks = 0

    def click(self, point: QPoint, *, times: int = 1, button: int = 1, holding: str = "") -> None:
        self.clicks += times
        super().click(point, times=times, button=button, holding=holding)


class Owner(User):
    """Somebody with a folder of pictures."""

    def __init__(self, window: MainWindow, shots: Path | None) -> None:
        super().__init__(window, shots)
        self.robot = self.counter = CountingRobot()

    def choose_folder(self, folder: Path) -> None:
        """The card, and the folder in the dialog, which shows the one around it."""
        self.window.state.set_folder(KIND, str(folder.parent))
        page = self.window.views.currentWidget()
        card = next(c for c in page.cards() if "own" in c.accessibleName())
        self.shot("own_welcome")
        self.robot.while_open(
            lambda: opened(QFileDialog),
            lambda dialog: self._choose_in(dialog, folder.name),
            opening=lambda: self.robot.click(center(card)),
        )

    def _choose_in(self, dialog: QFileDialog, name: str) -> None:
        names = dialog.findChild(QListView, "listView")
        self.robot.wait(lambda: self._row_of(names, name) is not None, f"{name} in the dialog")
        row = self._row_of(names, name)
        assert row is not None
        self.robot.click(names.viewport().mapToGlobal(names.visualRect(row).center()))
        self.shot("own_dialog", dialog)
        buttons = dialog.findChild(QDialogButtonBox)
        accept = next(
            each
            for each in buttons.buttons()
            if buttons.buttonRole(each) == QDialogButtonBox.ButtonRole.AcceptRole
        )
        self.robot.click(center(accept))

    def _row_of(self, names: QListView, name: str) -> object:
        model, root = names.model(), names.rootIndex()
        rows = (model.index(row, 0, root) for row in range(model.rowCount(root)))
        return next((row for row in rows if row.data() == name), None)

    def train(self) -> float:
        """Train in the bar, and the end of the run; seconds from the click to the end."""
        self.robot.wait(lambda: self.window.views.current_key == "data", "data view")
        view = self.window.views.currentWidget()
        box = view.panels["data_network"]
        self.robot.wait(
            lambda: view.state.description and view.state.description.is_complete,
            "the images counted",
        )
        self.shot("own_data")
        self.reason = box.reason.text()
        began = time.monotonic()
        self.press(self.window.top.train)
        library = self.window.context.library
        self.robot.wait(lambda: library.current is not None, "a run", timeout_s=30)
        self.robot.wait(lambda: self.window.views.current_key == "train", "train view")

        def is_over() -> bool:
            outcome = library.current.outcome
            return outcome is not None and outcome.is_over

        self.robot.wait(is_over, "the end of the run", timeout_s=_TRAINED_S)
        self.shot("own_trained")
        return time.monotonic() - began

    def classify(self, picture: Path) -> str:
        """Drops a picture on the window; the answer that is shown for it."""
        self.drop_file(str(picture))
        self.robot.wait(lambda: self.window.views.current_key == "classify", "classify view")
        card = self.window.views.currentWidget().panels["classify_result"]

        def is_answered() -> bool:
            return card.entry is not None and card.entry.name == picture.name

        self.robot.wait(is_answered, f"an answer for {picture.name}", timeout_s=90)
        self.robot.pause(200)
        self.shot(f"own_classified_{picture.stem}")
        return str(card.label.text())


def act(window: MainWindow, shots: Path | None) -> dict[str, object]:
    """Four clicks and a few drops."""
    folder, pictures = Path(sys.argv[1]), Path(sys.argv[2])
    owner = Owner(window, shots)
    owner.choose_folder(folder)
    seconds = owner.train()
    clicks = owner.counter.clicks
    answers = {each.stem: owner.classify(each) for each in sorted(pictures.iterdir())}
    current = window.context.library.current
    return {
        "clicks": clicks,
        "seconds": round(seconds, 1),
        "outcome": current.outcome.kind,
        "reason": owner.reason,
        "answers": answers,
        "has_tensorflow": "tensorflow" in sys.modules,
    }


if __name__ == "__main__":
    at_the_window(act, sys.argv[3:])
