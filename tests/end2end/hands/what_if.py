"""A model is trained, a picture is turned with the mouse while the bars follow, the alterations are
saved, and the next run is measured on them.

Run by test_what_if.py; `python -m tests.end2end.hands.what_if PICTURE [SCREENSHOT_FOLDER]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication, QInputDialog, QSlider

from tests.end2end.hands.labeled_folder import Tester
from tests.end2end.robot import center
from tests.end2end.user import at_the_window
from workbench.gui.shell.main_window import MainWindow

_SLOW_S = 240


class Bender(Tester):
    """Alters what is classified."""

    def classify(self, picture: str) -> None:
        """Drops a picture on Classify and opens What-if."""
        self.robot.key("ctrl+5")
        self.robot.wait(lambda: self.window.views.current_key == "classify", "Classify")
        self.view = self.window.views.currentWidget()
        self.robot.wait(lambda: self.view.chooser.path is not None, "the model")
        self.drop_file(picture)
        result = self.view.panels["classify_result"]
        self.robot.wait(lambda: result.entry is not None, "the answer", timeout_s=_SLOW_S)
        panel = self.view.panels["classify_what_if"]
        self.press(panel.section.head)
        self.robot.wait(lambda: panel.bench is not None and panel.bench.bars.scores, "the bars")
        self.bench = panel.bench

    def turn(self) -> dict[str, object]:
        """Drags the handle of the rotation to the right; which bars were shown meanwhile."""
        slider = self.bench.sliders.sliders["rotation"]
        seen: list[float] = []
        sent = []
        self.bench.live.scored.connect(lambda _: seen.append(self.bench.bars.scores[0][1]))
        slider.valueChanged.connect(lambda _: sent.append(slider.value()))
        before = list(self.bench.bars.scores)
        start = self.robot.at_rest(lambda: center(slider))
        self.robot.drag(start, start + QPoint(slider.width() // 3, 0))
        self.robot.wait(lambda: slider.value() > 20, "the turned picture")
        self.robot.pause(500)
        self.shot("turned")
        return {
            "degrees": slider.value(),
            "unaltered": before,
            "altered": list(self.bench.bars.scores),
            "answers": len(seen),
            "positions": len(sent),
            "picture": self.bench.picture.caption.full_text,
        }

    def save(self, name: str) -> str:
        """Saves the alterations as a robustness test; the words shown then."""

        def write(dialog: QInputDialog) -> None:
            self.robot.focus(dialog)
            self.robot.key("ctrl+a")
            self.robot.write(name)
            self.shot("named", dialog)
            self.robot.key("Return")

        def dialog() -> QInputDialog | None:
            found = QApplication.activeModalWidget()
            return found if isinstance(found, QInputDialog) else None

        self.robot.while_open(dialog, write, opening=lambda: self.press(self.bench.save))
        self.robot.wait(lambda: self.document.project.robustness, "the test")
        return self.bench.message.text()

    def reset(self) -> dict[str, object]:
        """Takes the alterations back; the bars then."""
        self.press(self.bench.reset)
        slider: QSlider = self.bench.sliders.sliders["rotation"]
        self.robot.wait(lambda: slider.value() == 0, "the slider")
        self.robot.pause(500)
        return {"reset": list(self.bench.bars.scores)}

    def train_again(self) -> None:
        """Trains once more, to the end."""
        library = self.window.context.library
        first = library.current
        self.press(self.window.top.train)
        self.robot.wait(lambda: library.current is not first, "another run")
        self.robot.wait(lambda: library.current.outcome is not None, "its state")
        self.robot.wait(lambda: library.current.outcome.is_over, "the end", timeout_s=_SLOW_S)

    def look(self) -> dict[str, object]:
        """What Evaluate shows of the robustness of the new run."""
        self.robot.key("ctrl+4")
        self.robot.wait(lambda: self.window.views.current_key == "evaluate", "Evaluate")
        view = self.window.views.currentWidget()
        panel = view.panels["evaluate_robustness"]
        view.panels.open("evaluate_robustness")
        self.robot.wait(lambda: panel.kept is not None, "the robustness")
        self.shot("robustness")
        table = panel.table.model()
        cells = [
            [table.index(row, at).data() for at in range(table.columnCount())]
            for row in range(table.rowCount())
        ]
        return {"table": cells, "subject": panel.subject.text(), "remark": panel.status.text()}


def act(window: MainWindow, shots: Path | None) -> dict[str, object]:
    """All of it."""
    user = Bender(window, shots)
    user.train()
    user.classify(sys.argv[1])
    seen = user.turn()
    seen["saved"] = user.save("Turned")
    seen |= user.reset()
    user.train_again()
    return {**seen, **user.look()}


if __name__ == "__main__":
    at_the_window(act, sys.argv[2:])
