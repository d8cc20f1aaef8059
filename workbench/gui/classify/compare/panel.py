"""The comparison of the classify view: one line until a second model is compared with."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QComboBox, QFrame, QWidget

from workbench.core.format import count
from workbench.errors import WorkbenchError
from workbench.gui.classify.bar_rows import NAME_PX, NUM_ROWS, ROW_PX
from workbench.gui.classify.classified import ClassifiedPicture
from workbench.gui.classify.compare.agreement import agree, answer_words, paired
from workbench.gui.classify.compare.paired_bars import GAP_PX, PairedBars
from workbench.gui.classify.compare.second import SecondAnswers
from workbench.gui.classify.state import ClassifyState
from workbench.gui.common.model_chooser import MAX_PX, MIN_PX, fill_models
from workbench.gui.common.run_text import elide_mode
from workbench.gui.kit.buttons import button
from workbench.gui.kit.collapsible import CollapsibleSection
from workbench.gui.kit.combo import ElidedComboBox
from workbench.gui.kit.labels import ElidedLabel, plain_label, plain_tip, set_role
from workbench.gui.kit.layout import column, row
from workbench.gui.kit.wait_label import WaitLabel
from workbench.runs.library.index import RunSummary

_NOTE = "The predictions of two models side by side"
_NO_OTHER = "There is no other trained model to compare with."
_VERDICTS = {True: ("✓ Same answer", "good"), False: ("≠ Different", "warning"), None: ("", "dim")}


class _Side(QWidget):
    """The name of a model, and its answer below it."""

    def __init__(self, state: ClassifyState) -> None:
        super().__init__()
        self.model, self.answer = ElidedLabel(), ElidedLabel()
        self.model.setProperty("role", "dim")
        self.answer.setFont(state.context.theme.font(16, weight=600))
        column(self.model, self.answer, parent=self, spacing=0)


class ComparisonPanel(QFrame):
    """Chooses the second model, and shows both answers to the picture that is shown large."""

    def __init__(self, state: ClassifyState) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._state = state
        self._first = state.run
        self.second = SecondAnswers(state, self)
        self.section = CollapsibleSection("Compare with…")
        self.box = ElidedComboBox()
        self.box.setAccessibleName("Second model")
        self.box.setMinimumWidth(MIN_PX)
        self.box.setMaximumWidth(MAX_PX)
        self.box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.summary = ElidedLabel()
        self.summary.setProperty("role", "dim")
        self.end = button("End comparison")
        self.sides = (_Side(state), _Side(state))
        self.verdict = plain_label()
        self.verdict.setFixedWidth(NAME_PX - GAP_PX)
        self.bars = PairedBars(state.context.theme)
        self.classes = self.bars.in_scroll_area()
        self.status = WaitLabel()
        self._build()
        self._connect()
        self._show()

    def _build(self) -> None:
        self.section.set_note(_NOTE)
        choice = row(plain_label("Model", role="dim"), self.box, (self.summary, 1), self.end)
        choice.setSpacing(8)
        heads = [(side, 1) for side in self.sides]
        self._head = row(self.verdict, *heads, spacing=GAP_PX, margins=(0, 4, 0, 0))
        self.answers = QWidget()
        column(self._head, self.classes, parent=self.answers, spacing=4)
        self.section.body.addLayout(choice)
        self.section.body.addWidget(self.answers)
        self.section.body.addWidget(self.status)
        column(self.section, parent=self, margins=(14, 6, 14, 6))

    def _connect(self) -> None:
        state = self._state
        self.section.opening.connect(self._begin)
        self.section.head.toggled.connect(lambda is_open: None if is_open else self._end())
        self.end.clicked.connect(lambda: self.section.head.setChecked(False))
        self.box.activated.connect(self._on_activated)
        self.second.changed.connect(self._show)
        self.second.progressed.connect(self.status.wait_for)
        self.second.failed.connect(self._on_failed)
        state.run_changed.connect(self._on_run_changed)
        state.reclassified.connect(lambda _entry: self._show())
        state.outdated.connect(self._show)
        state.context.library.runs_changed.connect(self._fill)

    # which models --------------------------------------------------------------------------

    def _models(self) -> list[RunSummary]:
        runs = self._state.context.library.runs
        return [run for run in runs if run.has_model and run.path != self._state.run]

    def _begin(self) -> None:
        self._choose(self.second.run)

    def _end(self) -> None:
        self.second.set_run(None)

    def _choose(self, run: Path | None) -> None:
        """Compares with this run, or else with the first there is: of the open project, if any."""
        fill_models(self.box, self._state.context.library, self._models())
        place = self.box.findData(str(run)) if run is not None else -1
        place = max(place, 0) if self.box.count() else -1
        with QSignalBlocker(self.box):
            self.box.setCurrentIndex(place)
        self.box.setToolTip(plain_tip(self.box.currentText()))
        self.second.set_run(Path(self.box.itemData(place)) if place >= 0 else None)
        self._show()

    def _fill(self) -> None:
        if self.section.is_open:
            self._choose(self.second.run)

    def _on_activated(self, place: int) -> None:
        self._choose(Path(self.box.itemData(place)))

    def _on_run_changed(self) -> None:
        """Takes another first model; where it was the second, both change places."""
        first, self._first = self._first, self._state.run
        if self.section.is_open:
            self._choose(first if self.second.run == self._first else self.second.run)

    # what is shown -------------------------------------------------------------------------

    def _show(self) -> None:
        second, entry = self.second, self.second.entry
        has_other = second.run is not None
        for each in (self.box, self.summary):
            each.setVisible(has_other)
        answer = second.answer
        is_due = entry is not None and self._state.is_outdated(entry)
        first = entry.answer if entry is not None and not is_due else None
        is_readable = entry is not None and entry.answer.error is None
        self.answers.setVisible(has_other and is_readable)
        self._show_side(0, self._state.title, answer_words(first) if first else "…")
        self._show_side(1, self._title(), answer_words(answer) if answer else "…")
        scores = [each.scores if each is not None else [] for each in (first, answer)]
        self.bars.set_rows(paired(*scores), is_due=(first is None, answer is None))
        self.classes.setFixedHeight(ROW_PX * max(1, min(NUM_ROWS, len(self.bars.rows))))
        # Above its bars, beside which there may be a scroll bar.
        bar_px = self.classes.verticalScrollBar().sizeHint().width() + GAP_PX
        is_scrolled = len(self.bars.rows) > NUM_ROWS
        self._head.setContentsMargins(0, 4, bar_px if is_scrolled else 0, 0)
        words, role = _VERDICTS[agree(first, answer) if first and answer else None]
        self.verdict.setText(words)
        set_role(self.verdict, role)
        num_same, total = second.agreement
        same = f"Same answer for {count(num_same)} of {count(total)} pictures" if total > 1 else ""
        self.summary.set_full_text(same)
        self._say(has_other=has_other, entry=entry, is_done=answer is not None)

    def _say(self, *, has_other: bool, entry: ClassifiedPicture | None, is_done: bool) -> None:
        words = "" if entry is not None else "Classify a picture first."
        if entry is not None and entry.answer.error is not None:
            words = "The picture cannot be read: there is nothing to compare."
        if not has_other:
            words = _NO_OTHER
        if words or is_done:
            self.status.say(words)
        self.status.setVisible(bool(words) or not is_done)

    def _title(self) -> str:
        summary = self._state.context.library.summary(self.second.run)
        return summary.label if summary is not None else ""

    def _show_side(self, place: int, model: str, answer: str) -> None:
        self.sides[place].model.set_full_text(model, elide_mode(model))
        self.sides[place].answer.set_full_text(answer)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.sides[1].answer.set_full_text("No prediction")
        self.status.say(error.brief, is_bad=True)
