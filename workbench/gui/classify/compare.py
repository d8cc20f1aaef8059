"""A second network's answers to the same pictures, beside those of the first.

Class names of the two may differ; whether two answers agree is decided here, Qt-free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, QSignalBlocker, Signal
from PySide6.QtGui import QColor, QPainter
from PySide6.QtWidgets import QComboBox, QFrame, QWidget

from workbench.client.service_process import Handlers, Question
from workbench.core.calibration import UNKNOWN, TrueClasses
from workbench.core.format import count, share
from workbench.errors import WorkbenchError
from workbench.gui.classify.answers import ClassifiedPicture
from workbench.gui.classify.result_card import NAME_PX, NUM_ROWS, ROW_PX, BarRows
from workbench.gui.classify.state import ClassifyState
from workbench.gui.common.model_chooser import MAX_PX, MIN_PX, fill_models
from workbench.gui.common.run_text import elide_mode
from workbench.gui.kit.buttons import ElidedComboBox, button
from workbench.gui.kit.labels import ElidedLabel, plain_label, plain_tip, set_role
from workbench.gui.kit.layout import column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import CollapsibleSection, WaitLabel
from workbench.protocol.classify import Classified, Classify, Score
from workbench.runs.library.index import RunSummary

# agreement -----------------------------------------------------------------------------------
# Whether two answers to one picture agree, when class names may differ. Qt-free.


@dataclass(frozen=True)
class PairedScore:
    """A class and what both networks give it, 0..1; None where it is no class of theirs."""

    name: str
    first: float | None
    second: float | None


def paired(first: Sequence[Score], second: Sequence[Score]) -> list[PairedScore]:
    """All classes of both, by the larger of their probabilities, highest first; equal ones in the
    order of the first network. The case of a name does not matter, as for labels.
    """
    rest = {score.name: score.probability for score in second}
    names = TrueClasses(list(rest))
    rows = [
        PairedScore(score.name, score.probability, rest.pop(names.named(score.name), None))
        for score in first
    ]
    rows += [PairedScore(name, None, probability) for name, probability in rest.items()]
    return sorted(rows, key=lambda row: -max(row.first or 0.0, row.second or 0.0))


def agree(first: Classified, second: Classified) -> bool | None:
    """Whether both give the same answer, "unknown" being one; None where one could not be read."""
    if first.error is not None or second.error is not None:
        return None
    if first.unknown or second.unknown:
        return bool(first.unknown) and bool(second.unknown)
    names = TrueClasses([score.name for score in second.scores])
    return names.named(first.label) == second.label


def answer_words(answer: Classified) -> str:
    """An answer in one line."""
    if answer.error is not None:
        return "cannot be read"
    if answer.unknown:
        return UNKNOWN
    return f"{answer.label} {share(answer.scores[0].probability)}"


# paired bars ---------------------------------------------------------------------------------
# Bars of two networks: a class a row, its two bars side by side.

GAP_PX = 16
_FIGURE_PX = 68
ABSENT = "no class"  # of this network
_DUE = ""


class PairedBars(BarRows):
    """Shows the classes of two networks."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, 520, least_px=360)
        self.rows: list[PairedScore] = []
        self._absent = (ABSENT, ABSENT)

    def set_rows(
        self, rows: Sequence[PairedScore], *, is_due: tuple[bool, bool] = (False, False)
    ) -> None:
        """Shows these rows; of a network whose answer is still due nothing is said yet."""
        self.rows = list(rows)
        first, second = self._absent = (
            _DUE if is_due[0] else ABSENT,
            _DUE if is_due[1] else ABSENT,
        )
        words = [
            f"{row.name}: {_figure(row.first, first)}, {_figure(row.second, second)}"
            for row in rows
        ]
        self.setAccessibleName("; ".join(words[:NUM_ROWS]))
        self.setToolTip(plain_tip("\n".join(words[:NUM_ROWS])))
        self._make_room(max(1, len(self.rows)))

    def halves(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Left end and width of the place of each network, with its figure."""
        width = (self.width() - NAME_PX - GAP_PX - (GAP_PX if self._has_bar else 0)) / 2
        return (NAME_PX, width), (NAME_PX + width + GAP_PX, width)

    @property
    def _has_bar(self) -> bool:
        return len(self.rows) > NUM_ROWS

    def paint(self, painter: QPainter) -> None:
        best = [
            max((row.first or 0.0 for row in self.rows), default=0.0),
            max((row.second or 0.0 for row in self.rows), default=0.0),
        ]
        for number in self._rows_seen(len(self.rows)):
            row = self.rows[number]
            painter.setFont(self._theme.font(13))
            self._paint_name(painter, number, NAME_PX - GAP_PX, row.name)
            for place, value, most, absent in zip(
                self.halves(), (row.first, row.second), best, self._absent, strict=True
            ):
                words, is_best = _figure(value, absent), value == most
                self._paint_half(painter, number, place, value, words, is_best=is_best)

    def _paint_half(
        self,
        painter: QPainter,
        row: int,
        place: tuple[float, float],
        value: float | None,
        words: str,
        *,
        is_best: bool,
    ) -> None:
        colors, (left, width) = self._theme.colors, place
        painter.setFont(self._theme.font(13, weight=600 if is_best else 400, tabular=True))
        painter.setPen(QColor(colors.dim if value is None else colors.text))
        self._paint_figure(painter, row, left + width, words)
        if value is not None:
            self._paint_bar(painter, row, left, width - _FIGURE_PX, value, is_best=is_best)


def _figure(value: float | None, absent: str) -> str:
    return absent if value is None else share(value)


# second --------------------------------------------------------------------------------------
# The answers of the second network: of the picture that is shown large, one at a time.


class SecondAnswers(QObject):
    """Follows the picture that is shown, while there is a second network.

    Signals:
        changed(): Picture, answer or network have changed.
        progressed(str): What is being done.
        failed(WorkbenchError): There is no answer.

    Attributes:
        run: The second network; None for none.
        entry: The picture that is shown, with the first network's answer; None for none.
        answer: The second one's; None while it is still to come.
    """

    changed = Signal()
    progressed = Signal(str)
    failed = Signal(object)

    def __init__(self, state: ClassifyState, parent: QObject) -> None:
        super().__init__(parent)
        self._state = state
        self._question = Question(state.context.service)
        self.run: Path | None = None
        self.entry: ClassifiedPicture | None = None
        self.answer: Classified | None = None
        self._known: dict[str, Classified] = {}
        self._agreements: dict[str, bool] = {}
        state.shown.connect(self._on_shown)
        state.classified.connect(lambda entry: self._forget(entry.answer.file))
        state.reclassified.connect(lambda entry: self._agreements.pop(entry.answer.file, None))
        state.outdated.connect(self._agreements.clear)
        state.cleared.connect(self._on_cleared)

    @property
    def agreement(self) -> tuple[int, int]:
        """(images with the same answer, images compared)."""
        return sum(self._agreements.values()), len(self._agreements)

    def set_run(self, run: Path | None) -> None:
        """Chooses the second network; None ends the comparison."""
        if run == self.run:
            return
        self.run = run
        self._known.clear()
        self._agreements.clear()
        self._question.drop()
        self._follow()

    def _on_shown(self, entry: ClassifiedPicture) -> None:
        self.entry = entry
        self._follow()

    def _forget(self, file: str) -> None:
        """Drops what is known of a file that was classified again: it may have changed."""
        self._known.pop(file, None)
        self._agreements.pop(file, None)

    def _on_cleared(self) -> None:
        self.entry = None
        self._known.clear()
        self._agreements.clear()
        self._question.drop()
        self._follow()

    def _follow(self) -> None:
        file = self.entry.answer.file if self.entry is not None else ""
        self.answer = self._known.get(file)
        self._note()
        self.changed.emit()
        if self.run is None or self.entry is None or self.answer is not None:
            return
        if self.entry.answer.error is not None:  # no network can read it
            self._question.drop()
            return
        handlers = Handlers(
            on_done=lambda _done: None,
            on_failed=self._on_failed,
            on_progress=lambda progress: self.progressed.emit(progress.text),
            on_part=lambda answer: self._take(file, answer),
        )
        self.progressed.emit("Classifying")
        self._question.ask(Classify(id=0, model=str(self.run), pictures=[file]), handlers)

    def _take(self, file: str, answer: Classified) -> None:
        self._known[file] = answer
        if self.entry is not None and self.entry.answer.file == file:
            self.answer = answer
            self._note()
            self.changed.emit()

    def _note(self) -> None:
        entry, answer = self.entry, self.answer
        if entry is None or answer is None or self._state.is_outdated(entry):
            return
        is_same = agree(entry.answer, answer)
        if is_same is not None:
            self._agreements[entry.answer.file] = is_same

    def _on_failed(self, error: WorkbenchError) -> None:
        self.failed.emit(error)


# panel ---------------------------------------------------------------------------------------
# The comparison of the classify view: one line until a second model is compared with.

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
