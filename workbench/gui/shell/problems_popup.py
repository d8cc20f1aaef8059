"""The list of problems that opens above the status line."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from workbench.core.checks.problems import Fix, Problem
from workbench.gui.common.context import WindowContext
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.problem_list import ProblemList

_SIZE_PX = (440, 360)


class ProblemsPopup(QFrame):
    """Closes by itself; `problem_chosen` asks to be shown where the problem is."""

    problem_chosen = Signal(object)

    def __init__(self, context: WindowContext, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("role", "popup")
        self._document = context.document
        self.list = ProblemList()
        self._nothing = plain_label("No problems: this network can be trained.", role="dim")
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(12, 12, 12, 12)
        column.setSpacing(8)
        column.addWidget(plain_label("Problems", role="heading"))
        column.addWidget(self._nothing)
        column.addWidget(self.list)
        column.addStretch(1)
        scroll = QScrollArea()
        scroll.setWidgetResizable(True)
        scroll.setWidget(page)
        frame = QVBoxLayout(self)
        frame.setContentsMargins(1, 1, 1, 1)
        frame.addWidget(scroll)
        self.list.fix_chosen.connect(self._on_fix_chosen)
        self.list.problem_chosen.connect(self._on_problem_chosen)
        self._document.analysis_changed.connect(lambda _analysis: self._refresh())

    def open_above(self, anchor: QWidget) -> None:
        """Shows the list with its lower right corner at a widget's upper right one."""
        self._refresh()
        self.resize(*_SIZE_PX)
        corner = anchor.mapToGlobal(QPoint(anchor.width(), 0))
        self.move(corner.x() - self.width(), corner.y() - self.height() - 4)
        self.show()

    def _refresh(self) -> None:
        problems = self._document.analysis.problems
        self.list.set_problems(problems)
        self._nothing.setVisible(not problems)

    def _on_fix_chosen(self, fix: Fix) -> None:
        self._document.apply_fix(fix)

    def _on_problem_chosen(self, problem: Problem) -> None:
        self.close()
        self.problem_chosen.emit(problem)
