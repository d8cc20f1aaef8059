"""Banners of the training view: an error, a message with a button, and links to the next steps."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFrame, QLabel, QPlainTextEdit, QPushButton, QWidget

from workbench.core.format import count
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import ElidedLabel, plain_label, plain_tip, restyle, set_role
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme, mono_font
from workbench.protocol.bases import ErrorParts
from workbench.protocol.events import CheckpointKept, PhaseChanged
from workbench.runs.library.summary import RunSummary
from workbench.runs.log.history import UNSAVED
from workbench.runs.state.outcome import RunOutcome

# error banner --------------------------------------------------------------------------------
# The box below the run's header when something is wrong: why, and what can be done.

LOG_LINES = 4


class ErrorBanner(QFrame):
    """Hidden while all is well.

    Attributes:
        end, kill: Buttons that end a trainer that does not stop by itself.
        skip: What goes on behind the last step shall be left out.
        save_elsewhere, save_again: For weights that have no room.
        resume: The run shall go on from its last checkpoint.
        try_now: The lost connection shall be tried again without waiting any longer.
        attach: The other computer shall be connected again.
        go_on: The run shall go on at this computer, from the last checkpoint here.
        retry_wanted: Carries recipe values with which to train once more.
    """

    retry_wanted = Signal(dict)

    def __init__(self) -> None:
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
        self.try_now = button("Try now")
        self.attach = button("Reconnect", role="primary")
        self.go_on = button("Continue on this computer")
        self.copy = button("Copy details")
        self.skip = button("Skip")
        self.save_elsewhere = button("Save elsewhere…", role="primary")
        self.save_again = button("Try again")
        self.end = button("Terminate")
        self.kill = button("Kill (without saving)")
        self._offers = (self.retry, self.resume, self.try_now, self.attach, self.go_on)
        room = (self.save_elsewhere, self.save_again, self.skip)
        self._buttons = (*self._offers, *room, self.end, self.kill, self.copy)
        self._is_end_offered = self._is_pause = False
        self._is_here = True
        for offer in self._offers:
            if offer is not self.try_now:  # which may be requested as often as anybody likes
                offer.clicked.connect(self._forbid)
        self.retry.clicked.connect(self._on_retry)
        self.copy.clicked.connect(self._on_copy)
        self.end.clicked.connect(lambda: self._show_buttons(self.kill))
        buttons = row(*self._buttons, STRETCH, spacing=8)
        margins = (14, 10, 14, 10)
        column(self.words, self.tail, buttons, parent=self, margins=margins, spacing=8)
        self.clear()

    def clear(self) -> None:
        """Removes the error: all is well."""
        self._outcome = None
        self._is_end_offered = False
        self.hide()

    def show_outcome(self, outcome: RunOutcome) -> None:
        """Says why a run failed, died, is silent or away; hides for any other outcome."""
        self._outcome = outcome
        self._is_end_offered = False
        if outcome.kind not in ("failed", "died", "silent", "away"):
            self.clear()
            return
        is_over = outcome.is_over
        kept = " All logged results are kept." if is_over else ""
        self.words.setText(" ".join(filter(None, (outcome.sentence() + kept, outcome.resumes))))
        self._show_tail(outcome.log_tail)
        # Of a line there is nothing to end here: the training itself is well.
        set_role(self, "notice" if outcome.is_far else "problem")
        self._offer(outcome)
        self.show()

    def _offer(self, outcome: RunOutcome) -> None:
        """Offers what one click can do about the error."""
        suggestion = outcome.suggestion
        restyle(self.resume, role="" if suggestion is not None else "primary")
        if suggestion is not None:
            self.retry.setText(suggestion.words.replace("&", "&&"))
        place = outcome.place.replace("&", "&&")
        self.attach.setText(f"Reconnect to {place}" if place else "Reconnect")
        is_silent = outcome.kind == "silent"
        offered = {
            self.retry: suggestion is not None,
            self.resume: outcome.can_resume,
            self.save_elsewhere: outcome.is_unwritable and self._is_here,
            self.save_again: outcome.is_unwritable,
            self.try_now: is_silent and outcome.is_far,
            self.attach: outcome.kind == "away",
            # What is over goes on here by Resume.
            self.go_on: outcome.can_move and not outcome.can_resume,
            self.end: is_silent and not outcome.is_far,
            self.copy: outcome.is_over,
        }
        self._show_buttons(*(each for each, is_offered in offered.items() if is_offered))
        self.allow()

    def allow(self) -> None:
        """Lets a button be clicked again, as what was clicked did not come to be."""
        for offer in self._offers:
            offer.setEnabled(True)

    def offer_end(self, *, is_pause: bool, phase: PhaseChanged | None = None) -> None:
        """A stop or a pause was requested a while ago, and the trainer still runs: `phase`."""
        self._is_end_offered, self._is_pause = True, is_pause
        if phase is not None and phase.can_skip:
            self._offer_skip(phase)
            return
        if phase is not None and phase.phase == UNSAVED:
            self._show_unsaved(phase)
            return
        asked, first = (
            ("pause", "saves a checkpoint") if is_pause else ("stop", "saves the weights")
        )
        self.words.setText(
            f"Waiting for the training process to {asked}: it finishes its step and "
            f"{first} first. Terminating it now loses unsaved progress."
        )
        self._show_plain("problem", self.end)

    def show_phase(self, phase: PhaseChanged | None, *, is_here: bool) -> None:
        """Shows what the trainer does now, where it is shown here: it has no room for the weights,
        or still runs after a stop. `is_here`: on this computer.
        """
        self._is_here = is_here
        if phase is not None and phase.phase == UNSAVED:
            self._show_unsaved(phase)
        elif not self.save_again.isHidden():
            self.clear()
        elif self._is_end_offered and self.kill.isHidden():
            self.offer_end(is_pause=self._is_pause, phase=phase)

    def _show_unsaved(self, phase: PhaseChanged) -> None:
        elsewhere = (self.save_elsewhere,) if self._is_here else ()
        last = self.kill if not self.kill.isHidden() else self.end
        end = (last,) if self._is_end_offered else ()
        loses = " Terminating the training process now loses them." if end else ""
        self.words.setText(phase.text + loses)
        self._show_plain("problem", *elsewhere, self.save_again, *end)

    def _offer_skip(self, phase: PhaseChanged) -> None:
        text = phase.text[:1].lower() + phase.text[1:]
        self.words.setText(
            f"The weights are saved. The training process is still {text}; skipping or "
            "terminating it loses only the result of that."
        )
        self._show_plain("notice", self.skip, self.end)

    def _show_plain(self, role: str, *buttons: QPushButton) -> None:
        self._show_tail(())
        set_role(self, role)
        self._show_buttons(*buttons)
        self.show()

    def _show_tail(self, lines: tuple[str, ...]) -> None:
        self.tail.setPlainText("\n".join(lines))
        self.tail.setVisible(bool(lines))
        height = self.tail.fontMetrics().lineSpacing() * min(LOG_LINES, max(1, len(lines)))
        self.tail.setFixedHeight(height + 14)
        bar = self.tail.verticalScrollBar()
        bar.setValue(bar.maximum())

    def _show_buttons(self, *shown: QPushButton) -> None:
        """Shows these buttons and hides the others. One that stays is not touched: it may be
        pressed just now.
        """
        for each in self._buttons:
            each.setVisible(each in shown)

    def _on_retry(self) -> None:
        suggestion = self._outcome.suggestion if self._outcome is not None else None
        if suggestion is not None:
            self.retry_wanted.emit(dict(suggestion.changes))

    def _forbid(self) -> None:
        """Forbids a second click: it would start a second run."""
        for offer in self._offers:
            offer.setEnabled(False)

    def _on_copy(self) -> None:
        if self._outcome is not None:
            text = "\n".join([self.words.text(), *self._outcome.log_tail])
            QGuiApplication.clipboard().setText(text)


# info bar ------------------------------------------------------------------------------------
# A calm bar: something about a run does not work just now, and what goes on meanwhile.

ICON_PX = 18


class InfoBar(QFrame):
    """Says that no checkpoint can be kept; goes away when the next one is kept."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setProperty("role", "notice")
        self._theme = theme
        self._icon = QLabel()
        self.words = plain_label(wrap=True)
        self.words.setTextInteractionFlags(self.words.textInteractionFlags().TextSelectableByMouse)
        row(self._icon, (self.words, 1), parent=self, margins=(14, 8, 14, 8), spacing=10)
        theme.changed.connect(self._refresh_icon)
        self._refresh_icon()
        self.hide()

    def show_checkpoint(self, checkpoint: CheckpointKept | None, *, is_over: bool) -> None:
        """Shows the problem of the latest checkpoint, if it has one and is tried again: the run
        is not over.
        """
        problem = checkpoint.problem if checkpoint is not None else None
        if problem is None or checkpoint is None or is_over:
            self.hide()
            return
        self.words.setText(problem_words(problem, checkpoint))
        self.show()

    def _refresh_icon(self) -> None:
        icon = self._theme.icon("warning", self._theme.colors.warning)
        self._icon.setPixmap(icon.pixmap(ICON_PX, ICON_PX))


def problem_words(problem: ErrorParts, checkpoint: CheckpointKept) -> str:
    """What does not work, what can be done, and where the run could be resumed."""
    step = checkpoint.step
    kept = f"Last checkpoint: step {count(step)}." if step else "No checkpoint yet."
    return " ".join(filter(None, (problem.what, problem.fix, kept)))


# next steps ----------------------------------------------------------------------------------
# What can be done with a run that has ended: links below its header.

_STEPS = {
    "evaluate": ("Evaluate", "Accuracy on the test set, class by class"),
    "classify": ("Classify", "Predictions for your own images"),
    "train_again": ("Train again", "The project as it is now, from the weights of this run"),
    "train_longer": ("Train longer…", "More epochs, from where this run ended"),
    "report": ("Report…", "Network, curves, test and mistakes in one file, HTML or PDF"),
    "open_project": ("Its project", "Opens the network and the settings that it was trained with"),
}


_WITH_WEIGHTS = ("evaluate", "classify")


class _WholeLabel(ElidedLabel):
    """A remark that is left out where there is no room for all of it."""

    def _elide(self) -> None:
        is_room = self.fontMetrics().horizontalAdvance(self.full_text) <= self.width()
        self.setText(self.full_text if is_room else "")


class NextSteps(QWidget):
    """Evaluate, classify, train again or longer, report, open its project: `wanted` with the key of
    the choice.
    """

    wanted = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.buttons = {}
        for key, (words, tip) in _STEPS.items():
            link = self.buttons[key] = button(words, role="link")
            link.setToolTip(plain_tip(tip))
            link.clicked.connect(lambda _=False, key=key: self.wanted.emit(key))
        self.drop = _WholeLabel("or drop an image on the window")
        self.drop.setProperty("role", "dim")
        row(*self.buttons.values(), (self.drop, 1), parent=self, spacing=10)
        self.show_run(None)

    def show_run(
        self, run: RunSummary | None, *, is_own: bool = False, is_saved: bool = False
    ) -> None:
        """Offers what this run can be used for: nothing while it trains, its weights once they
        `is_saved`. It `is_own` where it is of the open project.
        """
        is_over = run is not None and run.is_over
        has_model = (run is not None and run.has_model) or is_saved
        for key, link in self.buttons.items():
            link.setVisible(has_model if key in _WITH_WEIGHTS else is_over)
        self.drop.setVisible(has_model)
        self.buttons["train_again"].setVisible(has_model and is_own and is_over)
        self.buttons["open_project"].setVisible(not is_own)
        self.buttons["train_longer"].setVisible(run is not None and run.can_train_longer)
        self.setVisible(is_over or is_saved)
