"""The line at the bottom: what the network costs, and how many problems it has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QPoint, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QStatusBar, QStyle, QStyleOption, QWidget

from workbench.core.checks.analysis import Analysis
from workbench.core.checks.estimates import RunEstimate
from workbench.core.checks.problems import SEVERITIES, Fix, Problem
from workbench.core.format import count, plural, short
from workbench.gui.common.context import WindowContext
from workbench.gui.common.next_run import time_title, time_words
from workbench.gui.kit.buttons import TextButton
from workbench.gui.kit.labels import plain_label, plain_tip, set_role
from workbench.gui.kit.layout import STRETCH, column, row, scroll_area
from workbench.gui.kit.problem_list import ProblemList
from workbench.gui.kit.widgets import on_panel

# problems popup ------------------------------------------------------------------------------
# The list of problems that opens above the status line.

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


# status line ---------------------------------------------------------------------------------

_TIPS = {
    "Parameters": "Weights and biases of all layers.",
    "Multiply-adds": "Multiplications with an addition in one forward pass of one image.",
    "Memory": "The whole training process: weights, gradients, optimizer state, activations, "
    "images and TensorFlow itself.",
}

_PREDICTED = ("Memory", "Epoch")
_FIRST_TO_GO = ("Multiply-adds", "Parameters", "Epoch", "Memory")
_GAPS_PX, _MARGINS_PX = 25, 40
_MESSAGE_LEFT_PX, _MESSAGE_GAP_PX = 12, 12
_UNDO_MS = 60_000
"""Runs that were deleted within such a time of each other are put back together."""


class UndoDelete(TextButton):
    """Puts the runs that were just deleted back from the trash; shown for a while."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__("", role="link", theme=context.theme)
        self.setObjectName("undo_delete_button")
        self._library = context.library
        self._paths: list[Path] = []
        self._timer = QTimer(self, singleShot=True, interval=_UNDO_MS)
        self._timer.timeout.connect(self._forget)
        self._library.run_deleted.connect(self._on_deleted)
        self._library.run_restored.connect(self._on_restored)
        self.clicked.connect(self._on_clicked)
        self.hide()

    def _on_deleted(self, path: str) -> None:
        self._paths.append(Path(path))
        self._timer.start()
        self._show()

    def _on_restored(self, path: str) -> None:
        self._paths = [each for each in self._paths if each != Path(path)]
        self._show()

    def _show(self) -> None:
        self.setText(f"Undo: put {plural(len(self._paths), 'run')} back")
        self.setToolTip("Moves what was just deleted from the trash to where it was")
        self.setVisible(bool(self._paths))

    def _on_clicked(self) -> None:
        for path in self._paths:
            self._library.restore(path)

    def _forget(self) -> None:
        self._paths.clear()
        self.hide()


class StatusLine(QStatusBar):
    """Totals of the network, buttons for its problems and for open findings of the data check, and
    one for what is to be done next.
    """

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self.setSizeGripEnabled(False)
        self.setContentsMargins(0, 0, 8, 0)
        self._document = context.document
        self._predictor = context.estimator
        self._values: dict[str, tuple[QLabel, QLabel]] = {}
        totals = QWidget()
        keys = ("Parameters", "Multiply-adds", "Memory", "Epoch")
        row(*map(self._total, keys), parent=totals, margins=(12, 0, 0, 0), spacing=20)
        self.addWidget(totals)
        self.problems = TextButton("", role="status", icon="", theme=context.theme)
        self.problems.setObjectName("problems_button")
        self.findings = TextButton("", role="status", icon="hint", theme=context.theme)
        self.findings.setObjectName("findings_button")
        self.findings.setToolTip("Show what the data check has found")
        self.findings.setProperty("level", "warning")
        self._open_findings = context.findings
        self.findings.clicked.connect(context.findings.wanted)
        context.findings.changed.connect(self.refresh)
        self.next_step = TextButton("", role="link", theme=context.theme)
        self.next_step.setObjectName("next_step_button")
        self.next_step.clicked.connect(self._on_next_step)
        self._step: Fix | None = None
        self.undo_delete = UndoDelete(context)
        self._found = QWidget()
        found = (self.undo_delete, self.findings, self.problems, self.next_step)
        row(*found, parent=self._found, margins=(0, 0, 12, 0), spacing=4)
        self.addPermanentWidget(self._found)
        self.messageChanged.connect(lambda words: self.setToolTip(plain_tip(words)))
        self._document.analysis_changed.connect(lambda _analysis: self.refresh())
        self._document.project_replaced.connect(self.refresh)
        self._document.fixes.found.connect(self._on_fixes_found)
        self._predictor.changed.connect(self._show_prediction)
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_room()

    def paintEvent(self, event: QPaintEvent) -> None:
        """A sentence that is too long for the room ends in "…"; Qt's own is cut anywhere."""
        if not self.currentMessage():
            super().paintEvent(event)
            return
        painter, option = QPainter(self), QStyleOption()
        option.initFrom(self)
        self.style().drawPrimitive(QStyle.PrimitiveElement.PE_PanelStatusBar, option, painter, self)
        room = self.message_rect
        side = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        painter.setPen(self.palette().windowText().color())
        painter.drawText(room, side, self.elided(self.currentMessage()))
        painter.end()

    @property
    def message_rect(self) -> QRect:
        """Rectangle of the sentences, in pixels: left of the buttons."""
        left, right = _MESSAGE_LEFT_PX, self._found.geometry().left() - _MESSAGE_GAP_PX
        return QRect(left, 0, max(right - left, 0), self.height())

    def elided(self, words: str) -> str:
        """What is shown of a sentence; a tooltip has all of it."""
        room, end = self.message_rect.width(), Qt.TextElideMode.ElideRight
        return self.fontMetrics().elidedText(" ".join(words.split()), end, room)

    def _share_room(self) -> None:
        """In a narrow window the totals that matter least give way: the problems stay."""
        has_prediction = self._predictor.prediction is not None
        shown = [key for key in self._values if has_prediction or key not in _PREDICTED]
        beside = (self.undo_delete, self.findings, self.problems, self.next_step)
        room = self.width() - sum(
            each.sizeHint().width() for each in beside if each.isVisibleTo(self)
        )
        for key in _FIRST_TO_GO:
            if key in shown and sum(map(self._width_of, shown)) + _MARGINS_PX > room:
                shown.remove(key)
        for key, parts in self._values.items():
            for part in parts:
                part.setVisible(key in shown)

    def _width_of(self, key: str) -> int:
        return sum(part.sizeHint().width() for part in self._values[key]) + _GAPS_PX

    def _total(self, key: str) -> QHBoxLayout:
        name, value = plain_label(key, role="dim"), plain_label(role="value")
        value.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._values[key] = (name, value)
        self._set_tip(key, _TIPS.get(key, ""))
        return row(name, value, spacing=5)

    def _set_tip(self, key: str, tip: str) -> None:
        for label in self._values[key]:
            label.setToolTip(plain_tip(tip))

    def text(self, key: str) -> str:
        """The value shown under a name."""
        return self._values[key][1].text()

    def refresh(self) -> None:
        """Shows the document's present analysis."""
        analysis = self._document.analysis
        costs = analysis.costs
        batch = self._document.recipe.batch_size
        self._values["Memory"][0].setText(f"Training memory, batch {count(batch)}")
        self._values["Parameters"][1].setText(count(costs.parameters.total))
        parts = costs.parameters
        counts = f"{count(parts.trainable)} trainable, {count(parts.non_trainable)} non-trainable."
        self._set_tip("Parameters", f"{_TIPS['Parameters']}\n{counts}")
        self._values["Multiply-adds"][1].setText(short(costs.multiply_adds))
        self._show_prediction()
        self._show_problems(analysis)

    def _show_problems(self, analysis: Analysis) -> None:
        """Shows how many there are; while one builds, what comes next, with its button."""
        first = analysis.errors[0] if analysis.is_unfinished else None
        fixes = self._document.fixes.fixes_of(first) if first is not None else ()
        self._step = fixes[0] if fixes else None
        words = problem_counts(analysis.problems) or "No problems"
        if analysis.is_unfinished:
            level, icon = "warning", "hint"
            words = "Not finished:" if fixes else analysis.blocking_words
        elif analysis.errors:
            level, icon = "error", "error"
        elif analysis.problems:
            level, icon = "warning", "hint"
        else:
            level, icon = "good", "check"
        self.problems.setToolTip("Show the problems (F8)")
        self.problems.setProperty("level", level)
        self.problems.setAccessibleName(analysis.blocking_words or words)
        self.problems.set_look(words, role="status", icon=icon)
        self.next_step.setText(self._step.title.replace("&", "&&") if self._step else "")
        self.next_step.setVisible(self._step is not None)
        number = self._open_findings.number
        self.findings.set_look(plural(number, "data finding"), role="status", icon="hint")
        self.findings.setVisible(number > 0)
        # With findings it would be misread as: nothing is wrong with the images either.
        self.problems.setVisible(not number or bool(analysis.problems))
        self._share_room()

    def _on_fixes_found(self, problem: Problem) -> None:
        if problem in self._document.analysis.errors[:1]:
            self._show_problems(self._document.analysis)

    def _on_next_step(self) -> None:
        if self._step is not None:
            self._document.apply_fix(self._step)

    def _show_prediction(self) -> None:
        """Shows what a run will take; nothing while that is not known."""
        prediction = self._predictor.prediction
        if prediction is not None:
            self._show_figures(prediction)
        self._share_room()

    def _show_figures(self, prediction: RunEstimate) -> None:
        label = self._values["Memory"][1]
        label.setText(prediction.memory_words)
        trouble = prediction.trouble
        if label.property("role") != ("bad" if trouble else "value"):
            set_role(label, "bad" if trouble else "value")
        basis = prediction.memory_basis()
        tip = f"{trouble or _TIPS['Memory']}\n{basis[:1].upper()}{basis[1:]}."
        self._set_tip("Memory", tip)
        self._values["Epoch"][0].setText(time_title(prediction))
        self._values["Epoch"][1].setText(time_words(prediction))
        self._set_tip("Epoch", f"{prediction.time_words()} ({prediction.basis()}).")


def problem_counts(problems: Iterable[Problem]) -> str:
    """Such as "1 error, 1 not finished, 2 hints"; "" for none."""
    counts = Counter(problem.severity for problem in problems)
    words = {"unfinished": ("not finished", "not finished")}
    found = [(kind, counts[kind]) for kind in SEVERITIES if counts[kind]]
    return ", ".join(plural(number, *words.get(kind, (kind, f"{kind}s"))) for kind, number in found)
