"""The list of problems that opens above the status line."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QFrame, QWidget

from workbench.core.checks.problems import Problem
from workbench.gui.common.context import WindowContext
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column, scroll_area
from workbench.gui.kit.problem_list import ProblemList

_SIZE_PX = (440, 360)


class ProblemsPopup(QFrame):
    """Closes by itself; `problem_chosen` when the place of a problem is to be shown."""

    problem_chosen = Signal(object)

    def __init__(self, context: WindowContext, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("role", "popup")
        self._document = context.document
        self.list = ProblemList()
        self._nothing = plain_label("No problems: this network can be trained.", role="dim")
        page, title = QWidget(), plain_label("Problems", role="heading")
        column(title, self._nothing, self.list, STRETCH, parent=page, margins=12, spacing=8)
        column(scroll_area(page), parent=self, margins=1)
        self.list.fix_chosen.connect(self._document.apply_fix)
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

    def _on_problem_chosen(self, problem: Problem) -> None:
        self.close()
        self.problem_chosen.emit(problem)
