"""A run is reported by mouse and keyboard: its model card is filled in, then the report is written
as HTML by the Run menu's key and as PDF by the link below the run's header.

Run by test_report.py; `python -m tests.end2end.report_writer FOLDER [SCREENSHOT_FOLDER]`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QDialogButtonBox, QFileDialog, QMenu, QWidget

from tests.end2end.robot import center, opened
from tests.end2end.user import User, at_the_window
from workbench.gui.shell.main_window import MainWindow
from workbench.gui.train.runs.controller import ModelCardDialog
from workbench.templates import find_template

_SLOW_S = 240
_RECIPE = {"batch_size": 500, "epochs": 1, "steps_per_epoch": 12}


class Reporter(User):
    """Trains a network, and reports on it."""

    def train(self) -> Path:
        """Opens a template and trains it for some steps; the run."""
        template = find_template("lenet5")
        self.document.new(template.project)
        self.window.show_view("design")
        self.document.set_recipe(**_RECIPE)
        library = self.window.context.library
        self.press(self.window.top.train)
        self.robot.wait(lambda: library.current is not None, "a run")
        path = library.current.run.path
        self.robot.wait(
            lambda: (run := library.summary(path)) is not None and run.is_over and run.has_model,
            "the end of the run",
            timeout_s=_SLOW_S,
        )
        return path

    def fill_card(self) -> None:
        """Chooses Model card… in the menu of the run, and types into its first field."""
        view = self.window.views.currentWidget()
        rows = view.panels["train_runs"].list
        place = rows.visualRect(rows.model().index(0, 0)).center()

        def choose(opened: QMenu) -> None:
            self.shot("menu", opened)
            action = next(each for each in opened.actions() if each.text() == "Model card…")
            self.robot.click(opened.mapToGlobal(opened.actionGeometry(action).center()))

        def type_text(dialog: QWidget) -> None:
            self.robot.click(center(dialog.fields["intended_use"]))
            self.robot.write("For a lesson")
            self.shot("card", dialog)
            buttons = dialog.findChild(QDialogButtonBox)
            self.robot.click(center(buttons.button(QDialogButtonBox.StandardButton.Save)))

        def open_menu() -> None:
            self.robot.while_open(
                lambda: opened(QMenu),
                choose,
                opening=lambda: self.robot.click(rows.viewport().mapToGlobal(place), button=3),
            )

        self.robot.while_open(lambda: opened(ModelCardDialog), type_text, opening=open_menu)

    def choose_report(self) -> None:
        """Opens the Run menu, and chooses Write report… by its letter."""
        bar = self.window.menuBar()
        action = next(each for each in bar.actions() if each.text() == "&Run")
        self.robot.click(bar.mapToGlobal(bar.actionGeometry(action).center()))
        self.robot.wait(lambda: opened(QMenu), "the Run menu")
        self.shot("run_menu", opened(QMenu))
        self.robot.key("o")

    def write(self, path: Path, opening: Callable[[], None]) -> None:
        """Types the name into the dialog that `opening` opens, and waits for the file."""

        def type_name(dialog: QWidget) -> None:
            self.robot.key("ctrl+a")
            self.robot.write(str(path))
            self.shot("save", dialog)
            self.robot.key("Return")

        self.robot.while_open(lambda: opened(QFileDialog), type_name, opening=opening)
        self.robot.wait(path.is_file, f"{path.name}", timeout_s=_SLOW_S)


def _report(user: Reporter, folder: Path) -> dict[str, object]:
    user.train()
    user.fill_card()
    user.shot("train")
    steps = user.window.views.currentWidget().next_steps
    page, paper = folder / "run.html", folder / "run.pdf"
    user.write(page, lambda: user.press(steps.buttons["report"]))
    user.write(paper, user.choose_report)
    user.shot("written")
    return {
        "html": page.read_text(encoding="utf-8"),
        "has_tensorflow": "tensorflow" in sys.modules,
        "paper": paper.read_bytes().decode("latin-1")[:5],
    }


def _act(window: MainWindow, shots: Path | None) -> dict[str, object]:
    return _report(Reporter(window, shots), Path(sys.argv[1]))


if __name__ == "__main__":
    at_the_window(_act, sys.argv[2:])
