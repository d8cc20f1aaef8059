"""Sweeps a learning rate and a width by mouse and keyboard, and takes the best combination.

Run by test_sweep.py; `python -m tests.end2end.sweeper FOLDER [SCREENSHOT_FOLDER]`.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QFileDialog,
    QMenu,
    QStyle,
    QStyleOptionViewItem,
    QWidget,
)

from tests.class_folders import stripes_project, write_stripes
from tests.end2end.robot import center, opened
from tests.end2end.user import User, at_the_window
from tests.worker.conftest import chain
from workbench.gui.shell.main_window import MainWindow
from workbench.gui.train.series.dialogs import SweepDialog

_SLOW_S = 300
_WIDTH = "dense_3.units"


class Sweeper(User):
    """Plans a sweep, waits for it, and uses its best combination."""

    def open_project(self, folder: Path) -> None:
        """A network that learns stripes within a second."""
        graph = chain(
            ("input", {"shape": (8, 8, 1)}),
            ("rescaling", {}),
            ("flatten", {}),
            ("dense", {"units": 8, "activation": "relu"}),
            ("dense", {"units": 3, "activation": "softmax"}),
        )
        project = stripes_project(write_stripes(folder, 60), epochs=1, learning_rate=0.02)
        self.document.new(replace(project, graph=graph))
        self.window.show_view("design")

    def choose_sweep(self) -> None:
        """Opens the Run menu, and chooses Sweep… by its letter."""
        bar = self.window.menuBar()
        action = next(each for each in bar.actions() if each.text() == "&Run")
        self.robot.click(bar.mapToGlobal(bar.actionGeometry(action).center()))
        self.robot.wait(lambda: opened(QMenu), "the Run menu")
        self.shot("run_menu", opened(QMenu))
        self.robot.key("w")
        self.robot.wait(lambda: opened(SweepDialog), "the dialog")
        dialog = opened(SweepDialog)
        assert isinstance(dialog, SweepDialog)
        self.dialog = dialog
        self.robot.focus(dialog)
        self.robot.wait(lambda: dialog.plan.settings.tree.topLevelItemCount() > 1, "the settings")

    def compare(self, words: str, key: str, values: str) -> None:
        """Finds a setting by some words, clicks its check mark, and types its values."""
        settings = self.dialog.plan.settings
        self.robot.click(center(settings.search), times=3)
        self.robot.write(words)
        self.robot.pause(200)
        self.robot.click(self._mark(key))
        self.robot.wait(lambda: key in self.dialog.plan.rows, f"the values of {words}")
        self.robot.pause(200)
        self.robot.click(center(self.dialog.plan.rows[key].list), times=3)
        self.robot.write(values)
        self.robot.key("Return")

    def _mark(self, key: str) -> QPoint:
        """The check mark of a line."""
        tree, item = self.dialog.plan.settings.tree, self.dialog.plan.settings.item(key)
        option = QStyleOptionViewItem()
        option.initFrom(tree)
        option.rect = tree.visualItemRect(item)
        option.features = QStyleOptionViewItem.ViewItemFeature.HasCheckIndicator
        part = QStyle.SubElement.SE_ItemViewItemCheckIndicator
        place = tree.style().subElementRect(part, option, tree)
        return tree.viewport().mapToGlobal(place.center())

    def start(self) -> None:
        """Presses Start, and waits for all runs."""
        self.robot.wait(self.dialog.plan.start.isEnabled, "the check of the plan")
        self.shot("plan", self.dialog)
        self.press(self.dialog.plan.start)
        results = self.dialog.results
        self.robot.wait(
            lambda: results.result.runs and results.result.num_settled == len(results.result.runs),
            "the end of the sweep",
            timeout_s=_SLOW_S,
        )

    def save_figure(self, path: Path) -> None:
        """Chooses the first format of the figure's menu, and types a name."""

        def choose(menu: QMenu) -> None:
            action: QAction = menu.actions()[-1]
            self.robot.click(menu.mapToGlobal(menu.actionGeometry(action).center()))

        def type_name(dialog: QWidget) -> None:
            self.robot.key("ctrl+a")
            self.robot.write(str(path))
            self.robot.key("Return")

        self.robot.while_open(
            lambda: opened(QFileDialog),
            type_name,
            opening=lambda: self.robot.while_open(
                lambda: opened(QMenu),
                choose,
                opening=lambda: self.press(self.dialog.results.menu_button),
            ),
        )
        self.robot.wait(path.is_file, path.name)

    def click_dot(self) -> dict[str, str]:
        """Shows the scatter plot, and clicks a dot that no other is on, not that of the best; the
        values of its combination.
        """
        results = self.dialog.results
        segments = results.figure.findChildren(QWidget)
        scatter = next(each for each in segments if each.accessibleName() == "Scatter plot")
        self.robot.click(center(scatter))
        self.robot.wait(results.scatter.isVisible, "the scatter plot")
        dots = {e.number: results.scatter.points(e)[0].toPoint() for e in results.scatter.trials}
        best, places = results.table.number, list(dots.values())
        number = next(n for n, dot in dots.items() if n != best and places.count(dot) == 1)
        self.robot.click(results.scatter.mapToGlobal(dots[number]))
        self.robot.wait(lambda: results.table.number == number, "the line of the dot")
        self.shot("scatter", self.dialog)
        chosen = results.chosen()
        assert chosen is not None
        return chosen.values

    def width(self) -> int:
        """The width in the project."""
        nodes = self.document.graph.nodes.values()
        return int(next(each for each in nodes if each.name == "dense_3").params["units"])


def _sweep(user: Sweeper, folder: Path) -> dict[str, object]:
    user.open_project(folder / "stripes")
    user.choose_sweep()
    user.shot("empty", user.dialog)
    user.compare("learning rate", "learning_rate", "0.05, 0.000001")
    user.compare("units", _WIDTH, "4, 16")
    user.start()
    results = user.dialog.results
    user.shot("parallel", user.dialog)
    result = results.result
    user.save_figure(folder / "sweep.csv")
    chosen = user.click_dot()
    steps = user.document.undo_stack.count()
    user.press(results.use)
    user.robot.wait(lambda: "Undo reverts this" in results.said.text(), "the project changed")
    user.shot("used", user.dialog)
    seen = {
        "width": user.width(),
        "rate": user.document.recipe.learning_rate,
        "chosen": chosen,
        "steps": user.document.undo_stack.count() - steps,
    }
    user.press(user.dialog.close_button)
    user.robot.focus(user.window)
    user.robot.key("ctrl+z")
    user.robot.wait(lambda: user.width() == 8, "undo")
    return {
        **seen,
        "undone_rate": user.document.recipe.learning_rate,
        "num_runs": len(result.runs),
        "csv": (folder / "sweep.csv").read_text(encoding="utf-8"),
        "has_tensorflow": "tensorflow" in sys.modules,
    }


def _act(window: MainWindow, shots: Path | None) -> dict[str, object]:
    return _sweep(Sweeper(window, shots), Path(sys.argv[1]))


if __name__ == "__main__":
    at_the_window(_act, sys.argv[2:])
