"""The menu of places to train on, with the ways to more of them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from workbench.core.params import check_all
from workbench.core.projects.project import Choice
from workbench.core.projects.target_text import target_text
from workbench.core.registry import Registry
from workbench.core.specs import TargetSpec
from workbench.gui.kit.labels import plain_tip
from workbench.remote.ssh.saved_hosts import saved_choices, saved_hosts
from workbench.remote.target_choices import Saved, choice_line, target_choices

DIALOGS = {
    "connect": "Connect a TPU or another computer…",
    "computers": "Saved computers…",
    "preflight": "Will it train on a TPU?…",
    "agreement": "Compare two targets…",
}
"""What the menu leads to beside choosing: key -> words."""

_TEXT_PX = 560
"""Most room for an entry: the menu fits beside the window's edge."""


class TargetMenu(QMenu):
    """Filled again each time it opens.

    Args:
        targets: All kinds of places.
        current: The project's choice.
        saved: Places that were connected before.

    Signals:
        chosen: A Choice.
        asked: A key of DIALOGS.
        notebook_asked: Colab or Kaggle, which have no address.
    """

    chosen = Signal(object)
    asked = Signal(str)
    notebook_asked = Signal()

    def __init__(
        self,
        targets: Registry[TargetSpec],
        current: Callable[[], Choice],
        saved: Saved = saved_choices,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._targets = targets
        self._current = current
        self._saved = saved
        self.setToolTipsVisible(True)
        self.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        self.clear()
        group = QActionGroup(self)
        chosen = target_text(self._current(), self._targets)
        for choices in target_choices(self._targets, self._current(), self._saved):
            for choice, words in choices:
                is_chosen = target_text(choice, self._targets) == chosen
                group.addAction(self._add(choice, words, is_chosen=is_chosen))
            self.addSeparator()
        self.addAction("Colab or Kaggle (notebook)…").triggered.connect(
            lambda _=False: self.notebook_asked.emit()
        )
        for key, words in DIALOGS.items():
            if key != "computers" or saved_hosts():  # where there are none, connecting is enough
                action = self.addAction(words)
                action.triggered.connect(lambda _=False, key=key: self.asked.emit(key))

    def _add(self, choice: Choice, words: str, *, is_chosen: bool) -> QAction:
        text = choice_line(choice, words)
        shown = self.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, _TEXT_PX)
        action = self.addAction(shown.replace("&", "&&"))
        spec = self._targets[choice.key]
        address = spec.describe(check_all(spec.params, choice.params)[0])
        action.setToolTip(plain_tip(text if address in text else f"{address}\n{text}"))
        action.setCheckable(True)
        action.setChecked(is_chosen)
        action.triggered.connect(lambda _=False: self.chosen.emit(choice))
        return action
