"""The menu of places to train on: what is here, what the environment names, what was saved,
and the ways to more of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from workbench.core.params import check_all
from workbench.core.project import Choice
from workbench.core.registry import Registry
from workbench.core.specs import TargetSpec
from workbench.core.target_text import target_text
from workbench.targets import target_label

ASKS: tuple[tuple[str, str], ...] = (
    ("connect", "Connect a TPU or another computer…"),
    ("preflight", "Will it train on a TPU?…"),
)
"""What the menu leads to beside choosing: (key, words)."""

Saved = Callable[[], Sequence[tuple[Choice, str]]]
"""Gives places that were connected before, each with a word about it."""


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
        shown: set[str] = set()
        for choices in (self._offered(), self._found(), self._saved(), self._own()):
            fresh = [(c, w) for c, w in choices if target_text(c, self._targets) not in shown]
            if fresh and shown:
                self.addSeparator()
            for choice, words in fresh:
                text = target_text(choice, self._targets)
                shown.add(text)
                group.addAction(self._add(choice, words, is_chosen=text == chosen))
        self.addSeparator()
        for key, words in ASKS:
            self.addAction(words).triggered.connect(lambda _=False, key=key: self.asked.emit(key))

    def _add(self, choice: Choice, words: str, *, is_chosen: bool) -> QAction:
        label = target_label(choice)
        action = QAction((f"{label} · {words}" if words else label).replace("&", "&&"), self)
        action.setCheckable(True)
        action.setChecked(is_chosen)
        action.triggered.connect(lambda _=False: self.chosen.emit(choice))
        self.addAction(action)
        return action

    def _offered(self) -> Iterable[tuple[Choice, str]]:
        for spec in self._targets.values():
            for params in spec.presets if spec.is_offered() else ():
                checked = check_all(spec.params, params)[0]
                words = "" if spec.label(checked) else spec.describe(checked)
                yield Choice(spec.key, checked), words

    def _found(self) -> Iterable[tuple[Choice, str]]:
        for spec in self._targets.values():
            for params, why in spec.found(os.environ):
                yield Choice(spec.key, check_all(spec.params, params)[0]), why

    def _own(self) -> Iterable[tuple[Choice, str]]:
        """The project's own place, where nothing above is it."""
        choice = self._current()
        spec = self._targets.get(choice.key)
        if spec is None:
            return ()
        return ((choice, spec.describe(check_all(spec.params, choice.params)[0])),)
