"""The list of problems that opens above the status line."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QFrame, QWidget

from workbench.core.checks.problems import Fix, Problem
from workbench.gui.common.context import WindowContext
from workbench.gui.kit.docks import on_panel
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import STRETCH, column, scroll_area
from workbench.gui.kit.problem_list import ProblemList

_WIDTH_PX, _HIGHEST_PX = 440, 360
_GAP_PX = 4


class ProblemsPopup(QFrame):
    """Closes by itself; `problem_chosen` when the place of a problem is to be shown."""

    problem_chosen = Signal(object)

    def __init__(self, context: WindowContext, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("role", "popup")
        self._document = context.document
        self.list = ProblemList(context.document.fixes)
        self._nothing = plain_label("No problems: this network can be trained.", role="dim")
        self._corner = QPoint()
        page, title = QWidget(), plain_label("Problems", role="heading")
        parts = (title, self._nothing, self.list, STRETCH)
        self._page, self._lines = page, column(*parts, parent=page, margins=12, spacing=8)
        area = scroll_area(page)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        on_panel(area)
        column(area, parent=self, margins=1)
        self.list.fix_chosen.connect(self._on_fix_chosen)
        self.list.problem_chosen.connect(self._on_problem_chosen)
        self.list.filled.connect(self._fit)
        self._document.analysis_changed.connect(lambda _analysis: self._on_analysis())

    def open_above(self, anchor: QWidget) -> None:
        """Shows the list with its lower right corner at a widget's upper right one, where it
        stays: the widget's words, and with them its place, change with the problems.
        """
        self._corner = anchor.mapToGlobal(QPoint(anchor.width(), 0))
        self._refresh()
        self.show()
        self._fit()  # once more: the boxes of a list that was never shown have no height yet

    def _on_analysis(self) -> None:
        """A closed list is not kept up: showing a problem tries its fixes."""
        if self.isVisible():
            self._refresh()

    def _refresh(self) -> None:
        problems = self._document.analysis.problems
        self.list.set_problems(problems)
        self.list.setVisible(bool(problems))
        self._nothing.setVisible(not problems)
        self._fit()

    def _fit(self) -> None:
        """Fits the popup to what it shows, its lower right corner above the button."""
        lines, edges = self._lines, 4
        width = _WIDTH_PX if self._document.analysis.problems else lines.sizeHint().width() + edges
        height = lines.totalHeightForWidth(width - edges) if lines.hasHeightForWidth() else -1
        height = height if height > 0 else lines.sizeHint().height()
        # The page's own minimum is that of narrower lines: the area would scroll.
        self._page.setMinimumHeight(height)
        self.resize(width, min(_HIGHEST_PX, height + edges))
        corner = self._corner
        self.move(corner.x() - self.width(), corner.y() - self.height() - _GAP_PX)

    def _on_fix_chosen(self, fix: Fix) -> None:
        if fix.is_asked:
            self.close()  # a dialog comes up, and a popup would take its clicks
        self._document.apply_fix(fix)

    def _on_problem_chosen(self, problem: Problem) -> None:
        self.close()
        self.problem_chosen.emit(problem)
