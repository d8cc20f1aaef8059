"""A training is killed near its end and resumed, and another one finds its disk full at the end: by
mouse.

Run by test_interrupted.py; `python -m tests.end2end.interrupted FOLDER [SCREENSHOT_FOLDER]`. The
runs are on a small disk of their own, which root alone can mount.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tests.end2end.robot import center
from tests.end2end.two_projects import Owner, make_colors
from tests.end2end.user import at_the_window
from tests.small_disk import filled, small_disk
from workbench.gui.shell.main_window import MainWindow
from workbench.runs.folder import RunFolder
from workbench.runs.home import runs_home
from workbench.runs.store.weights_file import read_arrays
from workbench.templates import find_template

EPOCHS, FEW = 600, 60
_SLOW_S = 240


class Unlucky(Owner):
    """Trains while things go wrong."""

    def train_killed(self) -> dict[str, object]:
        """Kills the training process at 97 % of the epochs, and presses Resume."""
        library = self.window.context.library
        self.document.set_recipe(epochs=EPOCHS, batch_size=4)
        path = self.begin()
        history, log = library.current.history, RunFolder(path).events_path
        self.robot.wait(  # by the file: the window looks at it less often than an epoch ends
            lambda: log.read_bytes().count(b'"epoch_finished"') >= 0.97 * EPOCHS,
            "97 % of the epochs",
            timeout_s=_SLOW_S,
        )
        os.kill(history.started.pid, signal.SIGKILL)
        trouble = self.window.show_view("train").trouble
        self.robot.wait(trouble.resume.isVisible, "Resume", timeout_s=_SLOW_S)
        self.shot("killed")
        words = trouble.words.text()
        self.press(trouble.resume)
        outcome = self._end(path)
        return {
            "words": words,
            "outcome": outcome,
            "epochs": [event.epoch for event in library.current.history.epochs],
        }

    def train_on_full_disk(self) -> dict[str, object]:
        """Fills the disk while the head of a frozen network trains, once it has weights."""
        self.document.set_recipe(epochs=FEW)
        path = self.begin()
        self.robot.wait(RunFolder(path).has_model, "the first weights", timeout_s=_SLOW_S)
        with filled(path.parent, but=300_000):  # the log has room
            outcome = self._end(path)
        return {"outcome": outcome, **_read(path)}

    def save_elsewhere(self, elsewhere: Path) -> dict[str, object]:
        """Fills the disk before a network has weights, and saves them in another folder."""
        elsewhere.mkdir()
        self.document.new(find_template("lenet5").project)
        self.document.set_recipe(epochs=3, steps_per_epoch=12, batch_size=500)
        path = self.start()
        trouble = self.window.show_view("train").trouble
        with filled(path.parent, but=150_000):  # before its process makes a step
            self.robot.wait(trouble.save_elsewhere.isVisible, "Save elsewhere", timeout_s=_SLOW_S)
            self.shot("full")
            words, has_model = trouble.words.text(), RunFolder(path).has_model()
            place = self.robot.at_rest(lambda: center(trouble.save_elsewhere))
            self.enter_path(str(elsewhere), opening=lambda: self.robot.click(place))
            self._end(path)
            self.shot("saved")
        saved = elsewhere / path.name
        return {
            "words": words,
            "had_model": has_model,
            "after": trouble.words.text(),
            "place": str(saved),
            **_read(saved),
        }

    def _end(self, path: Path) -> str:
        """Waits for the end of a run; its outcome."""
        library = self.window.context.library
        self.robot.wait(
            lambda: not RunFolder(path).is_alive() and library.summary(path).is_over,
            "the end of the run",
            timeout_s=_SLOW_S,
        )
        return library.summary(path).outcome


def _read(path: Path) -> dict[str, object]:
    """What the folder of a run holds; RunError where its weights are not those of its card."""
    card = RunFolder(path).model_card()
    weights = read_arrays(RunFolder(path).weights_path, checksum=card.checksum)
    return {"epochs": card.epochs_done, "arrays": len(weights)}


def use(window: MainWindow, shots: Path | None) -> dict[str, object]:
    """The steps, one after another."""
    folder = Path(sys.argv[1])
    make_colors(folder / "colors")
    unlucky = Unlucky(window, shots)
    window.start.from_folder(str(folder / "colors"))
    unlucky.robot.wait(lambda: len(unlucky.document.graph.nodes) > 3, "the project of the folder")
    with small_disk(runs_home(), megabytes=300):
        return {
            "killed": unlucky.train_killed(),
            "full": unlucky.train_on_full_disk(),
            "elsewhere": unlucky.save_elsewhere(folder / "elsewhere"),
        }


if __name__ == "__main__":
    at_the_window(use, sys.argv[2:])
