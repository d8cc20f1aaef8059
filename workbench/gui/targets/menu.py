"""The menu of places to train on: what is here, what the environment names, what was saved,
and the ways to more of them.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from workbench.core.projects.project import Choice
from workbench.core.projects.target_text import target_text
from workbench.core.registry import Registry
from workbench.core.specs import TargetSpec
from workbench.gui.targets.choices import Saved, target_choices
from workbench.targets import target_label

ASKS: tuple[tuple[str, str], ...] = (
    ("connect", "Connect a TPU or another computer…"),
    ("preflight", "Will it train on a TPU?…"),
    ("agreement", "Compare two targets…"),
)
"""What the menu leads to beside choosing: (key, words)."""


class TargetMenu(QMenu):
    """Filled anew each time it opens.

    Args:
        targets: All kinds of places.
        current: The project's choice.
        saved: Places that were connected before.

    Signals:
        chosen: A Choice.
        asked: A key of ASKS.
    """

    chosen = Signal(object)
    asked = Signal(str)

    def __init__(
        self,
        targets: Registry[TargetSpec],
        current: Callable[[], Choice],
        saved: Saved = lambda: (),
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
        for key, words in ASKS:
            self.addAction(words).triggered.connect(lambda _=False, key=key: self.asked.emit(key))

    def _add(self, choice: Choice, words: str, *, is_chosen: bool) -> QAction:
        label = target_label(choice)
        text = words if words.startswith(label) else f"{label} · {words}" if words else label
        action = QAction(text.replace("&", "&&"), self)
        action.setCheckable(True)
        action.setChecked(is_chosen)
        action.triggered.connect(lambda _=False: self.chosen.emit(choice))
        self.addAction(action)
        return action
