"""What a run said, with times; and what its process printed. Always plain text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace
from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QStackedWidget, QToolButton

from workbench.core.format import local_time
from workbench.gui.kit.buttons import IconButton
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.layout import column, row
from workbench.gui.kit.theme import Theme, mono_font
from workbench.protocol.events import CheckpointKept, PhaseChanged, RunEvent, TimeSpent
from workbench.runs.log.texts import event_text

# log text ------------------------------------------------------------------------------------
# A run's events as lines of its log; repetitions are left out.

CHECKPOINT_NEWS_S = 60.0
"""Short epochs keep a checkpoint each second: the log shows one a minute."""


_HOW_FAR = re.compile(r": [\d,.]+ of [\d,.]+$")


class LogFormatter:
    """Makes lines of events in their order, and leaves out repetitions."""

    def __init__(self) -> None:
        self._phase = ""
        self._advice = ""
        self._kept_at = float("-inf")
        self._problem = ""

    def lines(self, events: Iterable[RunEvent], epochs: int = 0) -> list[tuple[float, str]]:
        """(time, words) of each event that is news; `epochs` is how many are planned."""
        news = ((event.time, self._news(event, epochs)) for event in events)
        return [(moment, words) for moment, words in news if words]

    def _news(self, event: RunEvent, epochs: int) -> str:
        match event:
            case PhaseChanged():
                # How far it is the header shows.
                event = replace(event, text=_HOW_FAR.sub("", event.text))
                is_new = event.text != self._phase
                self._phase = event.text
            case TimeSpent():
                advice = re.sub(r"[\d.,]+", "", event.advice)  # its figures change all the time
                is_new = bool(advice) and advice != self._advice
                self._advice = advice or self._advice
            case CheckpointKept():
                is_new = self._is_checkpoint_new(event)
            case _:
                is_new = True
        words = event_text(event, epochs) if is_new else ""
        if words and not isinstance(event, PhaseChanged):
            self._phase = ""  # something else was logged between: it may come again
        return words

    def _is_checkpoint_new(self, event: CheckpointKept) -> bool:
        problem = event.problem.what if event.problem is not None else ""
        is_changed = problem != self._problem
        self._problem = problem
        is_due = not problem and event.time >= self._kept_at + CHECKPOINT_NEWS_S
        if is_due or (is_changed and not problem):
            self._kept_at = event.time
        return is_changed or is_due


# log panel -----------------------------------------------------------------------------------


class LogPanel(QFrame):
    """Lines with their times; follows the end unless the user has scrolled up.

    `output_wanted` when the user opens what the trainer's process has printed, at
    once and then every two seconds; answer with `show_output`.
    """

    output_wanted = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._formatter = LogFormatter()
        self._is_at_end = True
        self.text = _text_box("Run log", "Log messages of the run appear here.")
        self.output = _text_box("Raw output (stderr)", "No output.")
        self.switch = QToolButton()
        self.switch.setText("Raw output (stderr)")
        self.switch.setToolTip("Last output lines of the training process and its libraries")
        self.switch.setCheckable(True)
        self.switch.setProperty("role", "toggle")
        self.switch.toggled.connect(self._on_switched)
        bar = self.text.verticalScrollBar()
        bar.valueChanged.connect(self._on_scrolled)
        bar.rangeChanged.connect(self._follow)
        self._boxes = QStackedWidget()
        self._boxes.addWidget(self.text)
        self._boxes.addWidget(self.output)
        self._again = QTimer(self)
        self._again.setInterval(2_000)
        self._again.timeout.connect(self._ask)
        self.copy = IconButton(theme, "copy", "Copy log", size_px=14)
        self.copy.clicked.connect(self._on_copy)
        top = row((plain_label("Log", role="strong"), 1), self.switch, self.copy)
        column(top, (self._boxes, 1), parent=self, margins=(12, 6, 6, 6), spacing=2)

    def clear(self) -> None:
        """Empties the log, for another run."""
        self.text.clear()
        self.output.clear()
        self._formatter = LogFormatter()
        if self.switch.isChecked():
            self.output_wanted.emit()

    def show_output(self, lines: Sequence[str]) -> None:
        """Shows what the trainer's process printed last."""
        text = "\n".join(lines)
        if text == self.output.toPlainText():
            return
        bar = self.output.verticalScrollBar()
        is_at_end = bar.value() == bar.maximum()
        self.output.setPlainText(text)
        if is_at_end:
            bar.setValue(bar.maximum())

    def _on_switched(self, is_output: bool) -> None:  # noqa: FBT001 - Qt's signal
        self._boxes.setCurrentWidget(self.output if is_output else self.text)
        self._again.stop()
        if is_output:
            self._again.start()
            self.output_wanted.emit()

    def _ask(self) -> None:
        if self.isVisible():
            self.output_wanted.emit()

    def add_events(self, events: Iterable[RunEvent], epochs: int = 0) -> None:
        """Adds a line for each event that has words."""
        lines = []
        for moment, words in self._formatter.lines(events, epochs):
            then = local_time(moment)
            stamp = "--:--:--" if then is None else then.strftime("%H:%M:%S")
            lines.append(f"{stamp}  " + words.replace("\n", "\n          "))
        if lines:
            self.add_text("\n".join(lines))

    def add_text(self, text: str) -> None:
        """Adds lines as they are."""
        self.text.appendPlainText(text)
        self._follow()

    def _on_scrolled(self, value: int) -> None:
        """Who scrolls up reads there until the end is scrolled to."""
        self._is_at_end = value >= self.text.verticalScrollBar().maximum()

    def _follow(self) -> None:
        """Another line, or another height, which is nobody's scrolling."""
        if self._is_at_end:
            self._to_end()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._is_at_end:
            QTimer.singleShot(0, self.text, self._to_end)

    def _to_end(self) -> None:
        bar = self.text.verticalScrollBar()
        bar.setValue(bar.maximum())

    def _on_copy(self) -> None:
        shown = self.output if self.switch.isChecked() else self.text
        QGuiApplication.clipboard().setText(shown.toPlainText())


def _text_box(name: str, hint: str) -> QPlainTextEdit:
    box = QPlainTextEdit()
    box.setReadOnly(True)
    box.setUndoRedoEnabled(False)
    box.setMaximumBlockCount(5_000)
    box.setFont(mono_font())
    box.setFrameShape(QFrame.Shape.NoFrame)
    box.setPlaceholderText(hint)
    box.setAccessibleName(name)
    return box
