"""Where the runs of a sweep are trained: a button with a menu of targets, one or several."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMenu

from workbench.core.format import plural
from workbench.core.params import check_all
from workbench.core.projects.project import Choice
from workbench.core.projects.target_text import target_text
from workbench.core.registry import Registry
from workbench.core.specs import TargetSpec
from workbench.gui.kit.buttons import ElidedButton
from workbench.gui.kit.labels import plain_tip
from workbench.remote.ssh.saved_hosts import label_of
from workbench.remote.target_choices import choice_line, target_choices

_TEXT_PX = 460
_TIP = "With several targets the runs take turns on them; each computer has a queue of its own."


class TargetButton(ElidedButton):
    """Names the chosen targets; its menu has a check mark for each.

    Signals:
        changed: Other targets are chosen.
    """

    changed = Signal()

    def __init__(self, targets: Registry[TargetSpec]) -> None:
        super().__init__("")
        self._targets = targets
        self._own = Choice("")
        self._chosen: dict[str, Choice] = {}
        self._menu = QMenu(self)
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self._fill)
        self.setMenu(self._menu)
        self.setToolTip(plain_tip(_TIP))

    def set_own(self, own: Choice) -> None:
        """Sets the project's own target: the one that is used where none is chosen."""
        self._own = own
        self._show()

    def chosen(self) -> tuple[Choice, ...]:
        """The targets that take turns; () for the project's own alone."""
        return tuple(self._chosen.values())

    def _fill(self) -> None:
        self._menu.clear()
        for group in target_choices(self._targets, self._own):
            for choice, words in group:
                self._add(choice, words)
            self._menu.addSeparator()

    def _add(self, choice: Choice, words: str) -> None:
        line, text = choice_line(choice, words), target_text(choice, self._targets)
        side = Qt.TextElideMode.ElideRight
        shown = self._menu.fontMetrics().elidedText(line, side, _TEXT_PX)
        action = self._menu.addAction(shown.replace("&", "&&"))
        spec = self._targets[choice.key]
        action.setToolTip(plain_tip(spec.describe(check_all(spec.params, choice.params)[0])))
        action.setCheckable(True)
        own = target_text(self._own, self._targets)
        action.setChecked(text in self._chosen or (not self._chosen and text == own))
        action.toggled.connect(lambda on, text=text, choice=choice: self._set(text, choice, on))

    def _set(self, text: str, choice: Choice, is_on: bool) -> None:  # noqa: FBT001 - of a signal
        own = target_text(self._own, self._targets)
        if not self._chosen:
            self._chosen[own] = self._own
        if is_on:
            self._chosen[text] = choice
        else:
            self._chosen.pop(text, None)
        if list(self._chosen) == [own]:
            self._chosen.clear()
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        names = [label_of(each) for each in self._chosen.values()] or [label_of(self._own)]
        self.setText(names[0] if len(names) == 1 else plural(len(names), "target"))
        self.setAccessibleName(f"Targets: {', '.join(names)}")
