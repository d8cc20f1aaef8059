"""Every card and every network of the start page is pressed, on a computer without a network: it
trains, or the window shows what it needs, with a button for it.

Run by test_every_card.py; `python -m tests.end2end.hands.every_card [SCREENSHOT_FOLDER]`.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QLabel, QWidget

from tests.end2end.robot import center, opened
from tests.end2end.user import Designer, at_the_window
from workbench.gui.shell.main_window import MainWindow
from workbench.templates import Template, list_templates

WHOLE = "fashion_convnet"
"""Trained to its end, for one epoch; of the others the first batches are waited for."""


class Visitor(Designer):
    """Presses all that the start page offers."""

    def look_at_start(self) -> QWidget:
        """The start page."""
        page = self.window.show_view("welcome")
        self.robot.wait(lambda: self.window.views.currentWidget() is page, "start page")
        self.robot.pause(200)
        return page

    def press_on_page(self, name: str) -> str:
        """Presses the card or the link of a name on the start page; the words on or beside it."""
        page = self.look_at_start()
        cards = {card.accessibleName(): card for card in page.cards()}
        links = {link.text(): link for link in page.findChildren(QAbstractButton)}
        part = cards.get(name) or links[name]
        page.ensureWidgetVisible(part)
        self.robot.pause(200)
        words = " ".join(label.text() for label in part.findChildren(QLabel))
        self.robot.click(center(part))
        return words

    def press_network(self, template: Template) -> dict[str, object]:
        """Presses a network, then Train; what came of it."""
        words = self.press_on_page(template.title)
        self.look_at_design()
        project = template.project
        self.robot.wait(lambda: self.document.project.title == project.title, project.title)
        self.robot.pause(500)  # looked for its images
        if template.key == WHOLE:
            self._set_epochs("1")
        runs = len(self.window.context.library.runs)
        self.robot.click(center(self.window.top.train))
        library, popup = self.window.context.library, self.window.popup
        self.robot.wait(lambda: popup.isVisible() or len(library.runs) > runs, "run or problems")
        if popup.isVisible():
            return {"words": words, **self._problem(), "runs": len(library.runs) - runs}
        return {"words": words, "runs": len(library.runs) - runs, **self._training(template)}

    def _set_epochs(self, number: str) -> None:
        self.robot.key("ctrl+3")
        self.robot.wait(lambda: self.window.views.current_key == "train", "train view")
        form = self.window.views.currentWidget().panels["train_recipe"].form
        box = form.editor_widget("epochs")
        self.robot.click(center(box), times=3)
        self.robot.key("ctrl+a")
        self.robot.write(number)
        self.robot.key("Return")
        self.robot.wait(lambda: self.document.recipe.epochs == int(number), "epochs")

    def _training(self, template: Template) -> dict[str, object]:
        """Waits for the end or for the first batches, then stops."""
        current = self.window.context.library.current
        self.robot.wait(lambda: len(current.history.steps) > 1, "batches", timeout_s=120)
        self.shot(template.key)
        if template.key != WHOLE:
            self.robot.click(center(self.window.top.train))
        self.robot.wait(lambda: current.outcome.is_over, "the end", timeout_s=120)
        self.robot.key("ctrl+1")
        self.look_at_design()
        if self.document.is_dirty:  # else leaving it would be a question
            self.robot.key("ctrl+z")
            self.robot.wait(lambda: not self.document.is_dirty, "the epochs as they were")
        finished = current.history.finished
        return {
            "outcome": finished.outcome,
            "steps": len(current.history.steps),
            "tested": finished.test.count if finished.test is not None else 0,
        }

    def _problem(self) -> dict[str, object]:
        """What is missing, and the view to which the button of the problem leads."""
        popup = self.window.popup
        self.shot("problem", popup)
        words = " ".join(label.text() for label in popup.list.findChildren(QLabel))
        buttons = popup.list.findChildren(QAbstractButton)
        button = next(each for each in buttons if each.isVisible() and "…" in each.accessibleName())
        name = button.accessibleName()
        self.robot.click(center(button))
        self.robot.wait(lambda: not popup.isVisible(), "the problems closed")
        self.robot.sees(lambda: self.window.views.current_key == "data", timeout_s=5)
        return {"problem": words, "button": name, "leads_to": self.window.views.current_key}

    def press_own(self) -> dict[str, object]:
        """Presses the card for own images; the dialog that opens, which is canceled."""
        seen: dict[str, object] = {}

        def cancel(dialog: QFileDialog) -> None:
            seen["title"] = dialog.windowTitle()
            self.robot.key("Escape")

        self.robot.while_open(
            lambda: opened(QFileDialog),
            cancel,
            opening=lambda: seen.update(words=self.press_on_page(OWN)),
        )
        return {**seen, "view": self.window.views.current_key}

    def press_blank(self) -> dict[str, object]:
        """Presses the card for a network of one's own, then Train."""
        self.press_on_page(BLANK)
        self.look_at_design()
        self.robot.pause(300)
        self.robot.click(center(self.window.top.train))
        self.robot.wait(self.window.popup.isVisible, "problems")
        words = " ".join(label.text() for label in self.window.popup.list.findChildren(QLabel))
        self.robot.key("Escape")
        return {"problem": words, "runs": len(self.window.context.library.runs)}


OWN, BLANK = "Your own pictures", "Blank canvas"


def timed(act: Callable[[], dict[str, object]]) -> dict[str, object]:
    """What was seen, and how long that took."""
    began = time.monotonic()
    return {**act(), "seconds": round(time.monotonic() - began, 1)}


def act(window: MainWindow, shots: Path | None) -> dict[str, object]:
    """All of the page, one after the other."""
    user = Visitor(window, shots)
    page = user.look_at_start()
    user.shot("start")
    names = [card.accessibleName() for card in page.cards()]
    seen: dict[str, object] = {"blank": timed(user.press_blank), "own": timed(user.press_own)}
    for template in list_templates():
        seen[template.key] = timed(lambda template=template: user.press_network(template))
    return {"cards": names, "seen": seen}


if __name__ == "__main__":
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
    at_the_window(act, sys.argv[1:])
