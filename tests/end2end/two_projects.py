"""Two projects, trained one after the other and never saved: each is answered by its own model,
another model answers anew, and a run opens as the project that it was made of.

Run by test_two_projects.py; `python -m tests.end2end.two_projects FOLDER [SCREENSHOT_FOLDER]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QPushButton, QWidget

from tests.end2end.robot import center
from tests.end2end.user import User, at_the_window
from tests.window_parts import drop_on
from workbench.gui.shell.main_window import MainWindow
from workbench.pictures.png import write_png
from workbench.templates import find_template

_SLOW_S = 240
_COLORS = {"red": (220, 30, 30), "green": (30, 200, 40), "blue": (30, 40, 220)}
_FASHION = {"learning_rate": 0.0003, "batch_size": 500, "epochs": 1, "steps_per_epoch": 12}


def make_colors(folder: Path) -> None:
    """Class folders of images that are told apart by their color."""
    noise = np.random.default_rng(1)
    for name, color in _COLORS.items():
        (folder / name).mkdir(parents=True)
        for number in range(24):
            image = np.array(color) + noise.integers(-25, 25, (48, 48, 3))
            write_png(folder / name / f"{number}.png", image.clip(0, 255).astype(np.uint8))


class Owner(User):
    """Has two projects."""

    def start(self) -> Path:
        """Presses Train; the run that is there then."""
        library = self.window.context.library
        known = {run.path for run in library.runs}
        self.press(self.window.top.train)
        self.robot.wait(
            lambda: library.current is not None and library.current.run.path not in known, "a run"
        )
        return library.current.run.path

    def train(self) -> Path:
        """Presses Train and waits for the end of the run."""
        library, path = self.window.context.library, self.start()
        self.robot.wait(
            lambda: (run := library.summary(path)) is not None and run.is_over,
            "the end of the run",
            timeout_s=_SLOW_S,
        )
        return path

    def train_colors(self, folder: Path) -> Path:
        """Begins with a folder of images and trains a network that fits."""
        self.window.start.from_folder(str(folder))
        self.robot.wait(lambda: len(self.document.graph.nodes) > 3, "the project of the folder")
        self.document.set_recipe(epochs=4)
        return self.train()

    def follow(self, part: str) -> None:
        """Goes to the welcome page and clicks a link there."""
        self.window.show_view("welcome")
        recent = self.window.views.view("welcome").recent_runs
        self.robot.wait(lambda: self._link(recent, part) is not None, part)
        self.shot("welcome")
        link = self._link(recent, part)
        assert link is not None
        self.robot.wait(link.isVisible, part)
        self.robot.pause(500)  # the page is laid out anew for what it lists
        self.robot.click(link.mapToGlobal(QPoint(20, link.height() // 2)))
        self.robot.wait(lambda: self.window.views.current_key == "train", "the run")

    def _link(self, widget: QWidget, part: str) -> QPushButton | None:
        links = widget.findChildren(QPushButton)
        return next((link for link in links if part in link.text()), None)

    def classify(self, image: Path) -> dict[str, object]:
        """Drops an image on Classify; what the card and the model box say."""
        self.robot.key("ctrl+5")
        self.robot.wait(lambda: self.window.views.current_key == "classify", "Classify")
        drop_on(self.window, image)
        return self.answer()

    def answer(self) -> dict[str, object]:
        """What is shown, once there is an answer."""
        view = self.window.views.view("classify")
        card, strip = view.panels["classify_result"], view.panels["classify_earlier"].strip
        self.robot.wait(
            lambda: (
                card.entry is not None
                and not view.state.is_outdated(card.entry)
                and card.bars.scores
            ),
            "an answer",
            timeout_s=_SLOW_S,
        )
        self.shot("answer")
        return {
            "label": card.label.full_text,
            "model": str(view.chooser.path),
            "note": card.note.text(),
            "recent": strip.model().index(0, 0).data(),
        }

    def choose_last_model(self) -> dict[str, object]:
        """Opens the box of models and chooses the last: that of the other project."""
        view = self.window.views.view("classify")
        box = view.chooser.box
        before = view.chooser.path
        self.robot.click(center(box))
        self.robot.wait(box.view().isVisible, "the list of models")
        self.robot.key("End", "Return")
        self.robot.wait(lambda: view.chooser.path != before, "another model")
        return self.answer()

    def begin(self) -> Path:
        """Presses Train and waits until the run is at its first epoch."""
        library, path = self.window.context.library, self.start()
        self.robot.wait(
            lambda: (
                library.current.history.last_batch is not None and library.summary(path) is not None
            ),
            "the first steps",
            timeout_s=_SLOW_S,
        )
        return path

    def stop_from_elsewhere(self) -> dict[str, object]:
        """Trains in one project, begins another, presses the key of Stop there, goes back and stops."""
        self.document.set_recipe(epochs=500)
        path = self.begin()
        top, library = self.window.top, self.window.context.library
        self.window.context.document.new(find_template("lenet5").project)
        self.robot.wait(top.elsewhere.isVisible, "the chip")
        seen: dict[str, object] = {"chip": top.elsewhere.accessibleName()}
        seen["button"] = top.train.text()
        self.window.show_view("design")
        self.shot("elsewhere")
        self.robot.key("shift+F5")  # Stop: this project trains nothing
        self.robot.pause(1500)
        seen["stops"] = library.is_stopping(path)
        self.press(top.elsewhere)
        self.robot.wait(lambda: top.train.text() == "Stop", "Stop of the run's own project")
        seen["led_to"] = self.project()["run"]
        seen["tip"] = top.train.toolTip()
        self.press(top.train)
        self.robot.wait(
            lambda: (run := library.summary(path)) is not None and run.is_over,
            "the end of the run",
            timeout_s=_SLOW_S,
        )
        stopped = library.summary(path)
        assert stopped is not None
        seen |= {"stopped": str(path), "outcome": stopped.outcome}
        return seen

    def project(self) -> dict[str, object]:
        """What is open."""
        recipe = self.document.recipe
        current = self.window.context.library.current
        return {
            "title": self.window.windowTitle(),
            "layers": len(self.document.graph.nodes),
            "recipe": {key: getattr(recipe, key) for key in _FASHION},
            "run": str(current.run.path) if current is not None else "",
        }


def use(window: MainWindow, shots: Path | None) -> dict[str, object]:
    """The steps, one after another."""
    folder = Path(sys.argv[1]) / "colors"
    make_colors(folder)
    owner = Owner(window, shots)
    colors = owner.train_colors(folder)
    window.context.document.new(find_template("fashion_convnet").project)  # as Discard does
    owner.document.set_recipe(**_FASHION)
    layers = len(owner.document.graph.nodes)
    empty = owner.project()["run"]
    fashion = owner.train()
    window.context.document.new()
    owner.follow("Untitled (colors)")
    reopened = owner.project()
    own = owner.classify(folder / "red" / "0.png")
    other = owner.choose_last_model()
    owner.follow("lr 0.0003")
    opened = owner.project()
    stopped = owner.stop_from_elsewhere()
    return {
        "colors": str(colors),
        "fashion": str(fashion),
        "layers": layers,
        "empty": empty,
        "stop": stopped,
        "reopened": reopened,
        "own": own,
        "other": other,
        "opened": opened,
    }


if __name__ == "__main__":
    at_the_window(use, sys.argv[2:])
