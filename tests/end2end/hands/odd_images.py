"""A model is trained, then a folder of images in odd formats and of broken files is dropped on
Classify.

Run by test_odd_images.py; `python -m tests.end2end.hands.odd_images FOLDER [SCREENSHOT_FOLDER]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.end2end.hands.labeled_folder import Tester, answers_of
from tests.end2end.user import at_the_window
from workbench.gui.shell.main_window import MainWindow
from workbench.pictures.folders import list_pictures

_SLOW_S = 240


def act(window: MainWindow, shots: Path | None) -> dict[str, object]:
    """The training, the drop, and the answer to each file."""
    user, folder = Tester(window, shots), sys.argv[1]
    user.train()
    user.robot.key("ctrl+5")
    user.robot.wait(lambda: window.views.current_key == "classify", "Classify")
    view = window.views.currentWidget()
    user.robot.wait(lambda: view.chooser.path is not None, "the model")
    num_images = len(list_pictures(Path(folder), is_deep=True))
    user.drop_file(folder)
    rows = view.panels["classify_pictures"].results.model.rows
    user.robot.wait(lambda: len(rows) == num_images, "the answers", timeout_s=_SLOW_S)
    user.shot("odd")
    return {"answers": answers_of(rows)}


if __name__ == "__main__":
    at_the_window(act, sys.argv[2:])
