"""A network is switched to one's own images, and none are chosen: Train leads to a problem, its
button to a folder, and nothing is recorded as a run.

Run by test_no_images.py; `python -m tests.end2end.hands.no_images FOLDER [SCREENSHOT_FOLDER]`;
FOLDER has one folder of images per class.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QComboBox,
    QLabel,
)

from tests.end2end.robot import center
from tests.end2end.user import Designer, at_the_window
from workbench.gui.data.source import DataSourcePanel
from workbench.gui.shell.main_window import MainWindow


class Visitor(Designer):
    """Clicks what looks good on the start page."""

    def open_flowers(self) -> str:
        """Clicks the card; the words on it."""
        page = self.window.show_view("welcome")
        card = next(card for card in page.cards() if "Flowers" in card.accessibleName())
        page.ensureWidgetVisible(card)
        self.robot.pause(200)
        words = " ".join(label.text() for label in card.findChildren(QLabel))
        self.robot.click(center(card))
        self.look_at_design()
        return words

    def switch_source(self, title: str) -> None:
        """Chooses another data source in the Data view, and goes back to the network."""
        self.robot.key("ctrl+2")
        self.robot.wait(lambda: self.window.views.current_key == "data", "data view")
        sources = self.window.findChild(DataSourcePanel).sources
        self.robot.click(center(sources))
        self.robot.wait(sources.view().isVisible, "the list of sources")
        place = sources.view().visualRect(sources.model().index(self._row(sources, title), 0))
        self.robot.click(sources.view().viewport().mapToGlobal(place.center()))
        self.robot.wait(lambda: sources.currentText().startswith(title), title)
        self.shot("source")
        self.robot.key("ctrl+1")
        self.look_at_design()

    @staticmethod
    def _row(sources: QComboBox, title: str) -> int:
        """Where a source is in the list: the size of its download follows its title."""
        return sources.findText(title, Qt.MatchFlag.MatchStartsWith)

    def press_train(self) -> dict[str, object]:
        """Presses Train; the problems that are listed then, and what is kept as runs."""
        self.press(self.window.top.train)
        popup, library = self.window.popup, self.window.context.library
        opened = self.robot.sees(popup.isVisible)
        self.shot("problems", popup)
        return {
            "opened": opened,
            "words": " ".join(label.text() for label in popup.list.findChildren(QLabel)),
            "runs": len(library.runs),
            "folders": sum(1 for _ in library.home.glob("*")),
            "view": self.window.views.current_key,
        }

    def choose_folder(self, folder: str) -> None:
        """Presses the problem's button, and chooses a folder in the dialog that opens."""
        buttons = self.window.popup.findChildren(QAbstractButton)
        choose = next(each for each in buttons if "Choose a folder" in each.accessibleName())
        self.enter_path(folder, opening=lambda: self.robot.click(center(choose)))


def act(window: MainWindow, shots: Path | None) -> dict[str, object]:
    """From the card to a network that can be trained."""
    user = Visitor(window, shots)
    card = user.open_flowers()
    user.switch_source("Image folder")
    status = window.status
    user.robot.sees(status.next_step.isVisible)
    user.shot("design")
    step = f"{status.problems.text()} {status.next_step.text()}"
    trained = user.press_train()
    if trained["opened"]:
        user.choose_folder(sys.argv[1])
    is_trainable = user.robot.sees(lambda: user.document.analysis.is_trainable)
    user.robot.sees(lambda: window.views.current_key == "data")
    user.shot("data")
    return {
        "card": card,
        "step": step,
        "trained": trained,
        "folder": user.document.project.dataset.params["path"],
        "is_trainable": is_trainable,
        "view": window.views.current_key,
        "runs": len(window.context.library.runs),
    }


if __name__ == "__main__":
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
    at_the_window(act, sys.argv[2:])
