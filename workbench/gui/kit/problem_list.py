"""Problems in words, each with its place and the buttons that fix it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QWidget

from workbench.core.checks.problems import Fix, Problem
from workbench.gui.kit.buttons import WrappedButton, button
from workbench.gui.kit.cards import Box
from workbench.gui.kit.fonts import ui_font
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column, row

_ROLES = {"error": "problem", "unfinished": "notice", "warning": "notice", "hint": "hint"}
_MAX_FIXES = 3
MAX_SHOWN = 30


class ProblemList(QWidget):
    """A column of problem boxes.

    Signals:
        fix_chosen(Fix), problem_chosen(Problem): What was clicked.
        problem_hovered(Problem): The pointer is on it; None when it has left.
    """

    fix_chosen = Signal(object)
    problem_chosen = Signal(object)
    problem_hovered = Signal(object)

    def __init__(self, *, can_show: bool = True) -> None:
        super().__init__()
        self._can_show = can_show
        self._problems: tuple[Problem, ...] = ()
        self._by_box: dict[QObject, Problem] = {}
        self._column = column(parent=self, spacing=8)

    def set_problems(self, problems: Sequence[Problem]) -> None:
        """Shows these problems; nothing is rebuilt when they are the same."""
        is_as_long = len(problems) == len(self._problems)
        if is_as_long and all(map(Problem.is_same, problems, self._problems)):
            return
        self._problems = tuple(problems)
        self._by_box.clear()
        while (item := self._column.takeAt(0)) is not None:
            if widget := item.widget():
                widget.hide()
                widget.deleteLater()
        for problem in problems[:MAX_SHOWN]:
            self._column.addWidget(self._box(problem))
        if len(problems) > MAX_SHOWN:
            more = f"… and {len(problems) - MAX_SHOWN} more"
            self._column.addWidget(plain_label(more, role="dim"))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Reports the problem whose box the pointer enters or leaves."""
        if event.type() == QEvent.Type.Enter and watched in self._by_box:
            self.problem_hovered.emit(self._by_box[watched])
        elif event.type() == QEvent.Type.Leave:
            self.problem_hovered.emit(None)
        return super().eventFilter(watched, event)

    def _box(self, problem: Problem) -> Box:
        box = Box(_ROLES[problem.severity])
        box.installEventFilter(self)
        self._by_box[box] = problem
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
        result = WrappedButton(fix.title)
        result.clicked.connect(lambda: self.fix_chosen.emit(fix))
        return result
