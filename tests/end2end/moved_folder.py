"""A folder of images is renamed after the training: Evaluate finds it again by a click. And the
model that is chosen stays while another one trains.

Run by test_moved_folder.py; `python -m tests.end2end.moved_folder FOLDER [SCREENSHOT_FOLDER]`.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tests.end2end.robot import center
from tests.end2end.two_projects import Owner, make_colors
from tests.end2end.user import at_the_window
from workbench.gui.shell.main_window import MainWindow

_SLOW_S = 240


class Mover(Owner):
    """Renames the folder of their images."""

    def evaluate(self) -> float:
        """Presses Evaluate; the accuracy that is shown then."""
        self.robot.key("ctrl+4")
        self.robot.wait(lambda: self.window.views.current_key == "evaluate", "Evaluate")
        self.press(self.window.views.view("evaluate").start)
        return self.accuracy()

    def accuracy(self) -> float:
        """What the evaluation shows once it has ended."""
        state = self.window.views.view("evaluate").state
        self.robot.wait(
            lambda: not state.is_busy and state.evaluation is not None, "scores", timeout_s=_SLOW_S
        )
        self.shot("evaluated")
        return float(state.evaluation.accuracy)

    def find(self, folder: Path) -> dict[str, object]:
        """Evaluates without the folder, and finds it by the button of the error."""
        view = self.window.views.view("evaluate")
        self.press(view.start)
        self.robot.wait(view.find_data.isVisible, "the error", timeout_s=_SLOW_S)
        words = view.wait.text()
        self.shot("not_found")
        view.state.evaluation = None
        place = self.robot.at_rest(lambda: center(view.find_data))
        self.enter_path(str(folder), opening=lambda: self.robot.click(place))
        return {"words": words, "accuracy": self.accuracy()}

    def train_beside(self) -> dict[str, object]:
        """Trains once more while a picture is shown; then uses what is ready."""
        view = self.window.views.view("classify")
        first = view.chooser.path
        self.document.set_recipe(learning_rate=0.002)
        second = self.train()
        self.robot.key("ctrl+5")
        self.robot.wait(view.chooser.offer.isVisible, "the line")
        self.shot("offered")
        stayed, words = view.chooser.path == first, view.chooser.offer.text()
        self.robot.click(center(view.chooser.offer))
        self.robot.wait(lambda: view.chooser.path == second, "the other model")
        return {"stayed": stayed, "words": words, "model": self.answer()["model"] == str(second)}


def use(window: MainWindow, shots: Path | None) -> dict[str, object]:
    """The steps, one after another."""
    folder = Path(sys.argv[1]) / "colors"
    make_colors(folder)
    mover = Mover(window, shots)
    mover.train_colors(folder)
    before = mover.evaluate()
    picture = shutil.copy(folder / "red" / "0.png", folder.with_name("seen.png"))
    mover.classify(Path(picture))
    mover.robot.key("ctrl+4")
    renamed = folder.rename(folder.with_name("my colors"))
    found = mover.find(renamed)
    return {
        "before": before,
        "found": found,
        "project": window.context.document.project.dataset.params["path"],
        "renamed": str(renamed),
        "beside": mover.train_beside(),
    }


if __name__ == "__main__":
    at_the_window(use, sys.argv[2:])
