"""What can be done with a run that has ended: links below its header."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import ElidedLabel, plain_tip
from workbench.gui.kit.layout import row
from workbench.runs.library.summary import RunSummary

_STEPS = {
    "evaluate": ("Evaluate", "Accuracy on the test set, class by class"),
    "classify": ("Classify", "Predictions for your own images"),
    "train_again": ("Train again", "The project as it is now, from the weights of this run"),
    "train_longer": ("Train longer…", "More epochs, from where this run ended"),
    "report": ("Report…", "Network, curves, test and mistakes in one file, HTML or PDF"),
    "open_project": ("Its project", "Opens the network and the settings that it was trained with"),
}


_WITH_WEIGHTS = ("evaluate", "classify")


class _WholeLabel(ElidedLabel):
    """A remark that is left out where there is no room for all of it."""

    def _elide(self) -> None:
        is_room = self.fontMetrics().horizontalAdvance(self.full_text) <= self.width()
        self.setText(self.full_text if is_room else "")


class NextSteps(QWidget):
    """Evaluate, classify, train again or longer, report, open its project: `wanted` with the key of
    the choice.
    """

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.buttons = {}
        for key, (words, tip) in _STEPS.items():
            link = self.buttons[key] = button(words, role="link")
            link.setToolTip(plain_tip(tip))
            link.clicked.connect(lambda _=False, key=key: self.wanted.emit(key))
        self.drop = _WholeLabel("or drop an image on the window")
        self.drop.setProperty("role", "dim")
        row(*self.buttons.values(), (self.drop, 1), parent=self, spacing=10)
        self.show_run(None)

    def show_run(
        self, run: RunSummary | None, *, is_own: bool = False, is_saved: bool = False
    ) -> None:
        """Offers what this run can be used for: nothing while it trains, its weights once they
        `is_saved`. It `is_own` where it is of the open project.
        """
        is_over = run is not None and run.is_over
        has_model = (run is not None and run.has_model) or is_saved
        for key, link in self.buttons.items():
            link.setVisible(has_model if key in _WITH_WEIGHTS else is_over)
        self.drop.setVisible(has_model)
        self.buttons["train_again"].setVisible(has_model and is_own and is_over)
        self.buttons["open_project"].setVisible(not is_own)
        self.buttons["train_longer"].setVisible(run is not None and run.can_train_longer)
        self.setVisible(is_over or is_saved)
