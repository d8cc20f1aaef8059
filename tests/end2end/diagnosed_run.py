"""A network is trained at a learning rate that is far too low; the diagnosis is read, its epochs are
marked, its change is applied and the network trained again, all by mouse.

Run by test_diagnosis.py; `python -m tests.end2end.diagnosed_run [SCREENSHOT_FOLDER]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.end2end.user import User, at_the_window
from workbench.gui.shell.main_window import MainWindow
from workbench.templates import find_template

_SLOW_S = 240
_RECIPE = {"learning_rate": 1e-7, "batch_size": 500, "epochs": 5, "steps_per_epoch": 6}


class Trainee(User):
    """Trains a network, and follows the diagnosis."""

    def train(self) -> None:
        """Trains the project to the end, and waits until it was looked at whole."""
        library = self.window.context.library
        before = library.current.run.path if library.current is not None else None
        self.view = self.window.show_view("train")
        self.press(self.window.top.train)
        self.robot.wait(
            lambda: library.current is not None and library.current.run.path != before, "a run"
        )
        diagnosis = self.view.diagnosis.diagnosis
        self.robot.wait(
            lambda: library.current.is_over and diagnosis.epochs == _RECIPE["epochs"],
            "the end of the run",
            timeout_s=_SLOW_S,
        )
        self.robot.pause(1_500)  # the last event may change what is found


def _act(window: MainWindow, shots: Path | None) -> dict[str, object]:
    """Trains, applies the change, trains again; what was seen."""
    user = Trainee(window, shots)
    user.document.new(find_template("lenet5").project)
    user.document.set_recipe(**_RECIPE)
    user.train()
    strip, plots = user.view.diagnosis.strip, user.view.plots
    if not strip.is_open:
        user.press(strip.head)
    seen: dict[str, object] = {"title": strip.head.text(), "words": strip.words.text()}
    user.press(strip.mark)
    axes = plots.by_key["loss"].axes
    user.robot.wait(lambda: axes.span() is not None, "the mark")
    seen["marked"] = [round(value, 1) for value in axes.span()]
    user.shot("diagnosis")
    user.press(strip.apply)
    user.robot.wait(lambda: not strip.apply.isEnabled(), "the change")
    seen["done"] = strip.apply.text()
    seen["rates"] = [_RECIPE["learning_rate"], user.document.recipe.learning_rate]
    user.train()
    seen["left"] = [each.rule for each in user.view.diagnosis.diagnosis.findings]
    user.shot("mended")
    return seen


if __name__ == "__main__":
    at_the_window(_act, sys.argv[1:])
