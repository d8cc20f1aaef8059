"""The box below the run's header when something is wrong: why, and what can be done."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPlainTextEdit, QVBoxLayout

from workbench.gui.kit.buttons import button
from workbench.gui.kit.fonts import mono_font
from workbench.gui.kit.labels import plain_label
from workbench.gui.kit.theme import Theme
from workbench.runs.state.outcome import RunOutcome

LOG_LINES = 4


class ErrorBanner(QFrame):
    """Hidden while all is well.

    Signals:
        terminate_wanted, kill_wanted: The user ends a trainer that does not stop by itself.
        resume_wanted: The run shall go on from its last checkpoint.
        retry_wanted: Recipe values with which to train once more.
        attach_wanted: The other computer shall be connected again.
        move_wanted: The run shall go on at this computer, from the last checkpoint here.
    """

    terminate_wanted = Signal()
    kill_wanted = Signal()
    resume_wanted = Signal()
    retry_wanted = Signal(dict)
    attach_wanted = Signal()
    move_wanted = Signal()

    def __init__(self, _theme: Theme) -> None:
        super().__init__()
        self.setProperty("role", "problem")
        self._outcome: RunOutcome | None = None
        self.words = plain_label(wrap=True)
        self.words.setTextInteractionFlags(self.words.textInteractionFlags().TextSelectableByMouse)
        self.tail = QPlainTextEdit()
        self.tail.setReadOnly(True)
        self.tail.setFont(mono_font(11))
        self.tail.setAccessibleName("Last output lines")
        self.retry = button("", role="primary")
        self.resume = button("Resume")
        self.attach = button("Reconnect", role="primary")
        self.go_on = button("Continue on this computer")
        self.copy = button("Copy details")
        self.end = button("Terminate")
        self.kill = button("Kill (without saving)")
        self.retry.clicked.connect(self._on_retry)
        self.resume.clicked.connect(self._on_resume)
        self.attach.clicked.connect(self._on_attach)
        self.go_on.clicked.connect(self._on_move)
        self.copy.clicked.connect(self._on_copy)
        self.end.clicked.connect(self._on_end)
        self.kill.clicked.connect(self.kill_wanted)
        self._build()
        self.clear()

    def _build(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(8)
        parts = (
            self.retry, self.resume, self.attach, self.go_on, self.end, self.kill, self.copy,
        )  # fmt: skip
        for part in parts:
            row.addWidget(part)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 14, 10)
        column.setSpacing(8)
        column.addWidget(self.words)
        column.addWidget(self.tail)
        column.addLayout(row)

    def clear(self) -> None:
        """All is well."""
        self._outcome = None
        self.hide()

    def show_outcome(self, outcome: RunOutcome) -> None:
        """Says why a run failed, died, is silent or away; hides for any other outcome."""
        self._outcome = outcome
        if outcome.kind not in ("failed", "died", "silent", "away"):
            self.clear()
            return
        is_over = outcome.is_over
        kept = " All logged results are kept." if is_over else ""
        self.words.setText(outcome.sentence() + kept)
        self._show_tail(outcome.log_tail)
        # Of a line there is nothing to end here: the training itself is well.
        self._set_calm(is_calm=outcome.is_far)
        self._show_buttons(copy=is_over, end=outcome.kind == "silent" and not outcome.is_far)
        self._offer(outcome)
        self.show()

    def _set_calm(self, *, is_calm: bool) -> None:
        role = "notice" if is_calm else "problem"
        if self.property("role") != role:
            self.setProperty("role", role)
            self.style().unpolish(self)
            self.style().polish(self)

    def _offer(self, outcome: RunOutcome) -> None:
        """What one click can do about it."""
        suggestion = outcome.suggestion
        if suggestion is not None:
            self.retry.setText(suggestion.words.replace("&", "&&"))
        self.retry.setVisible(suggestion is not None)
        self.resume.setVisible(outcome.can_resume)
        self.attach.setVisible(outcome.kind == "away")
        # What is over goes on here by Resume.
        self.go_on.setVisible(outcome.can_move and not outcome.can_resume)
        self.allow()

    def allow(self) -> None:
        """What was clicked did not come to be: it can be clicked again."""
        for part in (self.retry, self.resume, self.attach, self.go_on):
            part.setEnabled(True)

    def offer_end(self, *, is_pause: bool) -> None:
        """The trainer was asked to stop, or to pause, a while ago and is still there."""
        asked, first = (
            ("pause", "saves a checkpoint") if is_pause else ("stop", "saves the weights")
        )
        self.words.setText(
            f"Waiting for the training process to {asked}: it finishes its step and "
            f"{first} first. Terminating it now loses unsaved progress."
        )
        self._show_tail(())
        self._set_calm(is_calm=False)
        self._show_buttons(end=True)
        self.show()

    def _show_tail(self, lines: tuple[str, ...]) -> None:
        self.tail.setPlainText("\n".join(lines))
        self.tail.setVisible(bool(lines))
        height = self.tail.fontMetrics().lineSpacing() * min(LOG_LINES, max(1, len(lines)))
        self.tail.setFixedHeight(height + 14)
        bar = self.tail.verticalScrollBar()
        bar.setValue(bar.maximum())

    def _show_buttons(self, *, copy: bool = False, end: bool = False, kill: bool = False) -> None:
        for part in (self.retry, self.resume, self.attach, self.go_on):
            part.hide()
        self.copy.setVisible(copy)
        self.end.setVisible(end)
        self.kill.setVisible(kill)

    def _on_end(self) -> None:
        self.terminate_wanted.emit()
        self._show_buttons(kill=True)

    def _on_retry(self) -> None:
        suggestion = self._outcome.suggestion if self._outcome is not None else None
        if suggestion is not None:
            self._forbid()
            self.retry_wanted.emit(dict(suggestion.changes))

    def _on_resume(self) -> None:
        self._forbid()
        self.resume_wanted.emit()

    def _on_attach(self) -> None:
        self._forbid()
        self.attach_wanted.emit()

    def _on_move(self) -> None:
        self._forbid()
        self.move_wanted.emit()

    def _forbid(self) -> None:
        """One click is enough: a second would start a second run."""
        for part in (self.retry, self.resume, self.attach, self.go_on):
            part.setEnabled(False)

    def _on_copy(self) -> None:
        if self._outcome is not None:
            text = "\n".join([self.words.text(), *self._outcome.log_tail])
            QGuiApplication.clipboard().setText(text)
