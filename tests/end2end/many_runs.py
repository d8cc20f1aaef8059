"""A researcher's afternoon in two minutes: a learning rate is found, a run is paused, resumed
and followed by one that has waited in the queue; both are compared, one is renamed, one thrown
away.

Run by test_many_runs.py; `python -m tests.end2end.many_runs [SCREENSHOT_FOLDER]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QDialog, QMenu, QMessageBox

from tests.end2end.robot import center
from tests.end2end.user import User, at_the_window
from workbench.gui.train.runs.compare_dialog import CompareRuns
from workbench.gui.train.runs.run_model import SUMMARY_ROLE
from workbench.runs.library.summary import RunSummary
from workbench.templates import find_template

_SLOW_S = 240


class Researcher(User):
    """Works with runs in the Train view."""

    def begin(self) -> None:
        """Opens the Fashion-MNIST template and the Train view."""
        self.window.files.new(find_template("fashion_convnet").project)
        self.document.set_recipe(
            epochs=400, batch_size=250, steps_per_epoch=8, validation_share=0.02
        )
        self.library = self.window.context.library
        self.robot.key("ctrl+3")
        self.robot.wait(lambda: self.window.views.current_key == "train", "Train view")
        self.view = self.window.views.currentWidget()

    def find_rate(self) -> tuple[float, float]:
        """Lets the finder search; returns the rate before and the one taken."""
        # Far too low, so that another one is found; short, as its trials are parts of it.
        self.document.set_recipe(learning_rate=1e-6, epochs=10)
        before = self.document.recipe.learning_rate
        self.press(self.view.panels["train_recipe"].find_rate)
        self.robot.wait(lambda: self.view.finders.dialog is not None, "the finder")
        dialog = self.view.finders.dialog
        self.robot.wait(lambda: not dialog.is_searching, "a rate", timeout_s=_SLOW_S)
        self.shot("finder", dialog)
        self.press(dialog.use)
        self.robot.wait(lambda: self.view.finders.dialog is None, "the dialog closed")
        found = self.document.recipe.learning_rate
        self.document.set_recipe(epochs=400)
        return before, found

    def train(self) -> Path:
        """Presses Train; returns the run once it has curves."""
        self.press(self.window.top.train)
        self.robot.wait(lambda: self.library.current is not None, "a run")
        self.wait_for_steps(20)
        return self.library.current.run.path

    def wait_for_steps(self, count: int) -> None:
        """Waits until the current run has logged so many steps."""
        self.robot.wait(
            lambda: len(self.library.current.history.steps) >= count,
            f"{count} steps",
            timeout_s=_SLOW_S,
        )

    def pause_and_resume(self) -> dict[str, object]:
        """Presses Pause, and when the run is over Resume."""
        self.press(self.view.header.pause)
        self.robot.wait(
            lambda: self.library.current.outcome.is_over, "the pause", timeout_s=_SLOW_S
        )
        paused = self.library.current.outcome.kind
        self.shot("paused")
        steps = len(self.library.current.history.steps)
        self.press(self.view.header.resume)
        self.wait_for_steps(steps + 16)
        self.shot("resumed")
        history = self.library.current.history
        return {
            "paused": paused,
            "paused_at": steps,
            "resumed_at": history.started.resumed_at_step,
            "is_whole": list(history.steps) == list(range(1, len(history.steps) + 1)),
        }

    def queue_another(self, first: Path) -> Path:
        """Lets another run wait, ends the first one, and waits until the other trains."""
        self.document.set_recipe(epochs=3, optimizer="sgd")
        self.press(self.window.top.next)
        self.robot.wait(lambda: self.library.num_waiting == 1, "a run that waits")
        self.shot("queue")
        second = next(run.path for run in self.library.runs if run.path != first)
        self.press(self.window.top.train)  # it is Stop while a run goes on
        self.robot.wait(lambda: self.run(first).is_over, "the first run's end", timeout_s=_SLOW_S)
        self.robot.wait(
            lambda: self.run(second).outcome == "completed", "the second's", timeout_s=_SLOW_S
        )
        return second

    def run(self, path: Path) -> RunSummary:
        """A run as the list has it now."""
        return next(run for run in self.library.runs if run.path == path)

    def row(self, path: Path) -> QPoint:
        """Where a run is in the list, on the screen."""
        rows = self.view.panels["train_runs"].list
        model = rows.model()
        indexes = (model.index(row, 0) for row in range(model.rowCount()))
        index = next(i for i in indexes if i.data(SUMMARY_ROLE).path == path)
        return rows.viewport().mapToGlobal(rows.visualRect(index).center() - QPoint(40, 0))

    def compare(self, first: Path, second: Path) -> list[str]:
        """Selects both, and compares them by the menu; returns the rows that differ."""
        self.robot.click(self.row(first))
        self.robot.click(self.row(second), holding="ctrl")
        self.robot.while_open(
            QApplication.activePopupWidget,
            lambda menu: self._click_line(menu, "Compare"),
            opening=lambda: self.robot.click(self.row(second), button=3),
        )
        dialog = self.window.findChild(CompareRuns)
        self.robot.wait(lambda: dialog.comparison is not None, "the differences")
        self.shot("compare", dialog)
        rows = [row for section in dialog.comparison.sections for row in section.rows]
        self.press(dialog.close_button)
        return [row.title for row in rows if not row.is_equal]

    def rename(self, run: Path, title: str) -> str:
        """Presses F2 and types; returns the name that the list has then."""
        self.robot.click(self.row(run))
        self.robot.while_open(
            QApplication.activeModalWidget,
            lambda dialog: self._fill_in(dialog, title),
            opening=lambda: self.robot.key("F2"),
        )
        self.robot.wait(lambda: self.run(run).title == title, "the new name")
        return self.run(run).title

    def throw_away(self, run: Path) -> bool:
        """Presses Delete and confirms; returns whether the run is gone."""
        self.robot.click(self.row(run))
        self.robot.while_open(
            QApplication.activeModalWidget,
            lambda box: self.robot.click(center(box.button(QMessageBox.StandardButton.Yes))),
            opening=lambda: self.robot.key("Delete"),
        )
        self.robot.wait(lambda: run not in {each.path for each in self.library.runs}, "its end")
        return not run.exists()

    def _click_line(self, menu: QMenu, words: str) -> None:
        line = next(action for action in menu.actions() if action.text().startswith(words))
        self.shot("menu", menu)
        self.robot.click(menu.mapToGlobal(menu.actionGeometry(line).center()))

    def _fill_in(self, dialog: QDialog, title: str) -> None:
        self.robot.focus(dialog)
        self.robot.key("ctrl+a")
        self.robot.write(title)
        self.shot("rename", dialog)
        self.robot.key("Return")
        self.robot.focus(self.window)


def _afternoon(user: Researcher) -> dict[str, object]:
    user.begin()
    before, found = user.find_rate()
    user.robot.focus(user.window)
    first = user.train()
    user.shot("training")
    seen = user.pause_and_resume()
    second = user.queue_another(first)
    seen["outcomes"] = [user.run(path).outcome for path in (first, second)]
    seen["different"] = user.compare(first, second)
    seen["title"] = user.rename(second, "plain descent")
    seen["is_gone"] = user.throw_away(first)
    user.shot("end")
    return {**seen, "rates": [before, found], "left": len(user.library.runs)}


if __name__ == "__main__":
    at_the_window(lambda window, shots: _afternoon(Researcher(window, shots)), sys.argv[1:])
