"""One problem in words, with the buttons that fix it."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Signal
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QWidget

from workbench.core.checks.problems import Fix, Problem
from workbench.gui.kit.buttons import WrappedButton, button
from workbench.gui.kit.cards import Box
from workbench.gui.kit.fonts import ui_font
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, row

_ROLES = {"error": "problem", "unfinished": "notice", "warning": "notice", "hint": "hint"}
_MAX_FIXES = 3


class ProblemBox(Box):
    """A box with title, reason and buttons.

    Attributes:
        problem: What it shows.
        fixes: All that may have a button: only the first few do.

    Signals:
        fix_chosen(Fix), chosen(Problem): What was clicked.
        hovered(Problem): The pointer is on it; None when it has left.
    """

    fix_chosen = Signal(object)
    chosen = Signal(object)
    hovered = Signal(object)

    def __init__(self, problem: Problem, fixes: tuple[Fix, ...], *, can_show: bool) -> None:
        super().__init__(_ROLES[problem.severity])
        self.problem, self.fixes = problem, fixes
        is_error = problem.severity == "error"
        title = plain_label(problem.title, role="bad" if is_error else "strong", wrap=True)
        title.setFont(ui_font(weight=600))
        self.column.addWidget(title)
        self.column.addWidget(plain_label(problem.message, wrap=True))
        buttons = [self._fix_button(fix) for fix in fixes[:_MAX_FIXES]]
        if can_show and problem.node is not None:
            buttons.append(self._show_button())
        for each in buttons:
            self.column.addLayout(row(each, STRETCH))

    def _fix_button(self, fix: Fix) -> QWidget:
        result = WrappedButton(fix.title)
        result.clicked.connect(lambda: self.fix_chosen.emit(fix))
        return result

    def _show_button(self) -> QWidget:
        result = button("Show", role="link")
        result.setAccessibleName(f"Show where: {self.problem.title}")
        result.clicked.connect(lambda: self.chosen.emit(self.problem))
        return result

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.hovered.emit(self.problem)

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.hovered.emit(None)
