"""A threshold is dragged by mouse in Evaluate, and a dropped picture is then unknown in Classify.

Run by test_unknown.py; `python -m tests.end2end.doubter FOLDER [SCREENSHOT_FOLDER]`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QPushButton

from tests.end2end.report_writer import Reporter
from tests.end2end.user import at_the_window
from workbench.gui.common.panel_hosts import PanelPages
from workbench.gui.shell.main_window import MainWindow
from workbench.runs.folder import RunFolder

_SHARE = 0.97


class Doubter(Reporter):
    """Trains a network, and trusts it no further than it has earned."""

    def look_at_calibration(self) -> None:
        """Opens Evaluate, and its page Calibration once there are scores."""
        self.window.show_view("evaluate")
        self.evaluate = self.window.views.currentWidget()
        self.panel = self.evaluate.panels["evaluate_calibration"]
        self.robot.wait(lambda: self.evaluate.state.known is not None, "what is known of the run")
        switch = self.evaluate.findChild(PanelPages).switch
        segments = switch.findChildren(QPushButton)
        self.press(next(each for each in segments if each.text() == "Calibration"))
        self.robot.wait(self.panel.isVisible, "the page Calibration")
        self.shot("calibration")

    def drag_threshold(self, run: RunFolder) -> float:
        """Drags the slider towards its end; the threshold that the run keeps."""
        slider = self.panel.slider
        middle = slider.height() // 2
        start, end = QPoint(6, middle), QPoint(int(slider.width() * _SHARE), middle)
        corner = self.robot.at_rest(lambda: slider.mapToGlobal(QPoint()))
        self.robot.drag(corner + start, corner + end)

        def kept() -> float | None:
            found = run.model_card().calibration
            return found.least_probability if found is not None else None

        self.robot.wait(lambda: kept() is not None, "the threshold in the run")
        self.shot("threshold")
        return kept() or 0.0

    def classify(self, path: Path) -> None:
        """Drops a picture on Classify, and waits for the answer."""
        self.window.show_view("classify")
        self.result = self.window.views.currentWidget().panels["classify_result"]
        self.drop_file(str(path))
        self.robot.wait(lambda: self.result.entry is not None, "the answer", timeout_s=120)
        self.shot("unknown")


def _act(window: MainWindow, shots: Path | None) -> dict[str, object]:
    user = Doubter(window, shots)
    run = RunFolder(user.train())
    user.look_at_calibration()
    panel = user.panel
    seen: dict[str, object] = {
        "before": panel.before.value.text(),
        "after": panel.after.value.text(),
        "covered_at_first": panel.covered.text(),
    }
    seen["kept"] = user.drag_threshold(run)
    seen["slider"] = panel.slider.value() / 100
    seen["covered"] = panel.covered.text()
    user.classify(Path(sys.argv[1]))
    return seen | {
        "label": user.result.label.full_text,
        "reason": user.result.reason.text(),
        "has_tensorflow": "tensorflow" in sys.modules,
    }


if __name__ == "__main__":
    at_the_window(_act, sys.argv[2:])
