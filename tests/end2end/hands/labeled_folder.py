"""A model is trained, then a folder of class folders is dropped on Classify.

Run by test_labeled_folder.py; `python -m tests.end2end.hands.labeled_folder FOLDER
[SCREENSHOT_FOLDER]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.end2end.user import User, at_the_window
from workbench.gui.classify.folder.rows import FolderRows
from workbench.gui.shell.main_window import MainWindow
from workbench.templates import find_template

_SLOW_S = 240


class Tester(User):
    """Has images that were held out."""

    def train(self) -> None:
        """Trains LeNet-5 on the bundled images, for a moment."""
        self.window.files.new(find_template("lenet5").project)
        self.document.set_recipe(epochs=1, steps_per_epoch=100, batch_size=250)
        library = self.window.context.library
        self.press(self.window.top.train)
        self.robot.wait(lambda: library.current is not None, "a run")
        self.robot.wait(lambda: library.current.outcome is not None, "its state")
        self.robot.wait(lambda: library.current.outcome.is_over, "the end", timeout_s=_SLOW_S)

    def drop_folder(self, folder: str) -> dict[str, object]:
        """Drops a folder on Classify; what is shown when all images are classified."""
        self.robot.key("ctrl+5")
        self.robot.wait(lambda: self.window.views.current_key == "classify", "Classify")
        view = self.window.views.currentWidget()
        num_images = sum(1 for _ in Path(folder).rglob("*.png"))
        self.robot.wait(lambda: view.chooser.path is not None, "the model")
        over = self.drop_file(folder)
        rows = view.panels["classify_pictures"].results.model.rows
        self.robot.wait(
            lambda: self.window.views.current_key != "classify" or len(rows) == num_images,
            "the answers",
            timeout_s=_SLOW_S,
        )
        self.robot.sees(lambda: "correct" in view.wait.text())
        self.robot.pause(1000)  # nothing that comes later takes the words away
        self.shot("classified")
        return {
            "over": over,
            "words": view.wait.text(),
            "view": self.window.views.current_key,
            "answers": answers_of(rows),
        }


def answers_of(rows: FolderRows) -> dict[str, str]:
    """The predicted class of each file, or "error: " and why it could not be read."""
    names = (Path(rows.file(row)).name for row in range(len(rows)))
    return {
        name: f"error: {rows.errors[row]}" if row in rows.errors else rows.label(row)
        for row, name in enumerate(names)
    }


def act(window: MainWindow, shots: Path | None) -> dict[str, object]:
    """The training, the drop, and what became of the project."""
    user = Tester(window, shots)
    user.train()
    data = user.document.project.dataset
    seen = user.drop_folder(sys.argv[1])
    return {**seen, "has_its_data": user.document.project.dataset == data}


if __name__ == "__main__":
    at_the_window(act, sys.argv[2:])
