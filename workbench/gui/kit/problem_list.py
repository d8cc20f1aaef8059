"""Problems in words, each with its place and the buttons that fix it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from workbench.core.checks.problems import Fix, Problem
from workbench.gui.kit.buttons import ElidedButton, button
from workbench.gui.kit.cards import Box
from workbench.gui.kit.fonts import ui_font
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column, row

_ROLES = {"error": "problem", "unfinished": "notice", "warning": "notice", "hint": "hint"}
_MAX_FIXES = 3
MAX_SHOWN = 30


class ProblemList(QWidget):
    """A column of problem boxes; `fix_chosen` and `problem_chosen` carry what was clicked."""

    fix_chosen = Signal(object)
    problem_chosen = Signal(object)

    def __init__(self, *, can_show: bool = True) -> None:
        super().__init__()
        self._can_show = can_show
        self._problems: tuple[Problem, ...] = ()
        self._column = column(parent=self, spacing=8)

    def set_problems(self, problems: Sequence[Problem]) -> None:
        """Shows these problems; nothing is rebuilt when they are the same."""
        if tuple(problems) == self._problems:
            return
        self._problems = tuple(problems)
        while (item := self._column.takeAt(0)) is not None:
            if widget := item.widget():
                widget.hide()
                widget.deleteLater()
        for problem in problems[:MAX_SHOWN]:
            self._column.addWidget(self._box(problem))
        if len(problems) > MAX_SHOWN:
            more = f"… and {len(problems) - MAX_SHOWN} more"
            self._column.addWidget(plain_label(more, role="dim"))

    def _box(self, problem: Problem) -> Box:
        box = Box(_ROLES[problem.severity])
        is_error = problem.severity == "error"
        title = plain_label(problem.title, role="bad" if is_error else "strong", wrap=True)
        title.setFont(ui_font(weight=600))
        box.column.addWidget(title)
        box.column.addWidget(plain_label(problem.message, wrap=True))
        buttons = [self._fix_button(fix) for fix in problem.fixes[:_MAX_FIXES]]
        if self._can_show and problem.node is not None:
            show = button("Show", role="link")
            show.setAccessibleName(f"Show where: {problem.title}")
            show.clicked.connect(lambda: self.problem_chosen.emit(problem))
            buttons.append(show)
        for each in buttons:
            box.column.addLayout(row(each, STRETCH))
        return box

    def _fix_button(self, fix: Fix) -> QWidget:
        result = ElidedButton(fix.title)
        result.clicked.connect(lambda: self.fix_chosen.emit(fix))
        return result
