"""Somebody's folder has wrong labels. They are found in the confusion matrix and mended there, the
network is trained again, and undo brings the old labels back.

Run by test_mend_labels.py in a process of its own on a screen of its own; prints what was seen as
one JSON line. `python -m tests.end2end.hands.mend_labels FOLDER [SCREENSHOT_FOLDER]`
"""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QMenu

from tests.end2end.hands.own_pictures import Owner
from tests.end2end.robot import center
from tests.end2end.user import at_the_window
from workbench.gui.shell.main_window import MainWindow

_TRAINED_S = 240
IMAGES = 3
"""How many are relabeled."""


class Mender(Owner):
    """Somebody who looks for the reason of an error."""

    def evaluate(self, name: str) -> list[list[int]]:
        """The confusion matrix of the newest run, by its own test."""
        run = self.window.context.library.current.run.path
        self.robot.key("ctrl+4")
        self.robot.wait(lambda: self.window.views.current_key == "evaluate", "Evaluate")
        self.view = self.window.views.currentWidget()
        self.panel = self.view.panels["evaluate_images"]
        chooser = self.view.chooser
        self.robot.wait(lambda: chooser.path == run or chooser.offer.isVisible(), "the model")
        if chooser.path != run:  # what is shown stays until another is chosen
            self.robot.click(self.robot.at_rest(lambda: center(chooser.offer)))

        def is_shown() -> bool:
            known, found = self.view.state.known, self.panel.scored.found
            is_known = known is not None and known.kept is not None and found is not None
            return self.view.chooser.path == run and is_known and found.kept == known.kept

        self.robot.wait(is_shown, "the evaluation of the training")
        self.robot.pause(500)
        self.shot(name)
        return self.view.state.evaluation.matrix.dense().tolist()

    def open_cell(self, actual: int, predicted: int) -> int:
        """Clicks a cell of the matrix; how many images the grid has then."""
        chart = self.view.panels["evaluate_confusion"].map
        cell = self.robot.at_rest(
            lambda: chart.mapToGlobal(chart.cell_rect(actual, predicted).center().toPoint())
        )
        self.robot.click(cell)
        self.robot.wait(
            lambda: (
                self.panel.scored.chosen.actual == actual
                and self.panel.scored.chosen.predicted == predicted
            ),
            "the images of the cell",
        )
        self.robot.pause(600)
        self.shot("cell")
        return int(self.panel.rows.rowCount())

    def select(self, count: int) -> list[str]:
        """Clicks the first images, with Ctrl from the second on; their contents."""
        for row in range(count):
            image = self.robot.at_rest(partial(self.image, row))
            self.robot.click(image, holding="ctrl" if row else "")
        self.robot.wait(lambda: len(self.panel.selected()) == count, "the selection")
        return [self.panel.rows.content(row) for row in range(count)]

    def image(self, row: int) -> QPoint:
        """The middle of an image of the grid."""
        grid = self.panel.grid
        return grid.viewport().mapToGlobal(grid.visualRect(self.panel.rows.index(row, 0)).center())

    def relabel(self, name: str) -> None:
        """Chooses another class for the selected images."""
        menu = self.panel.relabel_button.menu()

        def choose(menu: QMenu) -> None:
            self.shot("relabel", menu)
            action = next(each for each in menu.actions() if each.text() == name)
            self.robot.click(menu.mapToGlobal(menu.actionGeometry(action).center()))

        self.robot.while_open(
            lambda: menu if menu.isVisible() else None,
            choose,
            opening=lambda: self.press(self.panel.relabel_button),
        )
        self.robot.wait(self.labels, "the new labels")
        self.robot.pause(300)
        self.shot("relabeled")

    def labels(self) -> dict[str, str]:
        """What the project has relabeled."""
        return dict(self.document.project.edits.labels)

    def train_again(self) -> None:
        """The button beside the images, and the end of the run."""
        library = self.window.context.library
        before = library.current.run.path
        self.press(self.panel.train_button)
        self.robot.wait(lambda: library.current.run.path != before, "another run", timeout_s=60)

        def is_over() -> bool:
            outcome = library.current.outcome
            return outcome is not None and outcome.is_over

        self.robot.wait(is_over, "the end of the run", timeout_s=_TRAINED_S)
        self.robot.pause(500)
        self.shot("trained_again")

    def undo(self) -> None:
        """Ctrl+Z, once."""
        self.robot.key("ctrl+z")
        self.robot.wait(lambda: not self.labels(), "the old labels")
        self.robot.pause(300)
        self.shot("undone")


def act(window: MainWindow, shots: Path | None) -> dict[str, Any]:
    """Train, find, mend, train again, undo."""
    user = Mender(window, shots)
    user.choose_folder(Path(sys.argv[1]))
    user.train()
    first = user.evaluate("first")
    cells = [(a, p) for a in range(len(first)) for p in range(len(first)) if a != p]
    actual, predicted = max(cells, key=lambda cell: first[cell[0]][cell[1]])
    in_grid = user.open_cell(actual, predicted)
    contents = user.select(IMAGES)
    names = user.view.state.evaluation.classes
    user.relabel(names[predicted])
    relabeled = user.labels()
    marks = [user.panel.rows.lines(row)[1] for row in range(IMAGES)]
    user.train_again()
    request = window.context.library.current.run.request()
    second = user.evaluate("second")
    user.undo()
    return {
        "cell": [names[actual], names[predicted]],
        "counts": [first[actual][predicted], in_grid],
        "relabeled": relabeled,
        "contents": contents,
        "marks": marks,
        "initial": request.initial.run if request.initial else "",
        "first": [sum(row) for row in first],
        "second": [sum(row) for row in second],
        "moved": [actual, predicted],
        "is_changed": first != second,
        "left": user.labels(),
    }


if __name__ == "__main__":
    at_the_window(act, sys.argv[2:])
