"""The card above the plots: what the run is doing, how far it is, how it runs, its buttons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from time import monotonic

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from workbench.client.run_follower import RunFollower
from workbench.core.format import clock, count, share
from workbench.gui.common.run_text import elide_mode, far_words, headline
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import ElidedLabel, plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, column, row
from workbench.gui.kit.theme import Theme, ui_font
from workbench.gui.kit.widgets import FactRows, Figure, SteadyBar
from workbench.protocol.events import Plan, RunStarted
from workbench.protocol.weights import KeptWeights
from workbench.runs.log.history import MetricHistory
from workbench.runs.log.pace import Countdown, TimeLeft, left_words
from workbench.runs.log.texts import best_words, plan_words, resumed_words, saved_words
from workbench.runs.state.outcome import SILENT_AFTER_S
from workbench.targets import target_title

# plan popup ----------------------------------------------------------------------------------
# How a run is executed, and how to fix any of it in the recipe.

_EXPLANATION = (
    "While the project is open, or else before the first epoch, a few execution settings are "
    "benchmarked, and the fastest is used. "
    "Each can be pinned in the training settings under Execution."
)
_PIPELINES = {
    "memory": "memory",
    "cached": "disk (decoded)",
    "streamed": "no cache (decoded each epoch)",
}


def plan_facts(started: RunStarted) -> list[tuple[str, str]]:
    """(name, value) of all parts of the plan, for people; pinned ones are marked."""
    plan = started.plan
    steps = "–" if plan.steps_per_call is None else count(plan.steps_per_call)
    rows = [
        ("precision", "Precision", plan.precision),
        ("xla", "XLA compilation", "yes" if plan.xla else "no"),
        ("steps_per_call", "Steps per execution", steps),
        ("pipeline", "Data cached in", _PIPELINES.get(plan.pipeline or "", plan.pipeline or "–")),
        ("threads", "CPU threads", f"{plan.threads}" if plan.threads else "all cores"),
        ("", "Benchmarked speedup", f"{plan.gain:.1f}× faster than float32" if plan.gain else "–"),
        ("", "Target", target_title(started.target)),
        ("", "Data parallelism", f"{started.replicas:,} replicas" if started.replicas > 1 else "–"),
        ("", "TensorFlow", started.versions.get("tensorflow", "–")),
    ]
    return [
        (title, f"{value}, pinned" if key in plan.pinned else value) for key, title, value in rows
    ]


def plan_pins(plan: Plan) -> Mapping[str, object]:
    """Values of the recipe that make every later run use this plan."""
    return {
        "precision": plan.precision,
        "xla": "on" if plan.xla else "off",
        "steps_per_call": plan.steps_per_call,
        "pipeline": plan.pipeline or "auto",
        "threads": plan.threads or None,
    }


class PlanPopup(QFrame):
    """All of a run's plan. `pin_wanted` with recipe values when it shall stay so."""

    pin_wanted = Signal(dict)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("role", "popup")
        self.setFixedWidth(380)
        self._plan: Plan | None = None
        self.words = plain_label(wrap=True)
        self.rows = FactRows()
        self.pin = button("Pin in training settings", role="link")
        self.pin.clicked.connect(self._on_pin)
        heading = plain_label("Execution settings", role="heading")
        explanation = plain_label(_EXPLANATION, role="dim", wrap=True)
        parts = (heading, self.words, self.rows, explanation, row(self.pin, STRETCH))
        column(*parts, parent=self, margins=(16, 14, 16, 12), spacing=10)

    def show_plan(self, started: RunStarted) -> None:
        """Fills in the plan of a run."""
        self._plan = started.plan
        self.words.setText(started.plan.words)
        self.words.setVisible(bool(started.plan.words))
        self.rows.set_facts(plan_facts(started))

    def open_below(self, anchor: QWidget) -> None:
        """Shows the popup with its upper right corner at a widget's lower right one."""
        self.adjustSize()
        corner = anchor.mapToGlobal(QPoint(anchor.width(), anchor.height() + 4))
        left = max(self.screen().availableGeometry().left(), corner.x() - self.width())
        self.move(left, corner.y())
        self.show()
        self.pin.setFocus()

    def _on_pin(self) -> None:
        self.close()
        if self._plan is not None:
            self.pin_wanted.emit(dict(plan_pins(self._plan)))


# run header ----------------------------------------------------------------------------------

SAY_HOW_LONG_AFTER_S = 2.0
PROGRESS_STEPS = 1000
BUTTON_WORDS_FROM_PX = 560
SPACING_PX = 16
MARGIN_PX = 16
BUTTON_SPACING_PX = 8
CAPTION_PX = 156
"""Room for the run's name, before any figure has some."""

ROUND_PX = 40
"""Room for the headline is taken in steps of this: figures do not come and go with a word."""

NOTHING = "–"
"""A figure that is not known."""

LONGEST_S = 59 * 60 + 59
"""The widest time in words: room is kept for it, so that nothing moves while a run goes on."""

_SPEED, _SPEED_OF_HEAD = "Images/s", "Images/s, head"
_OF_HEAD_TIP = (
    "Speed of the head on cached features: the frozen layers are computed once, before the first "
    "epoch."
)
_BEST, _BEST_ON_TEST = "Best val. accuracy", "Best on test set"
_ON_TEST_TIP = (
    "Validated on the test set: the best epoch was chosen on it, and its accuracy is slightly "
    "optimistic."
)
_TO_FINE_TUNING_TIP = "How long fine-tuning takes is known after its first steps."
_TIPS = {
    "pause": "Saves a checkpoint and ends the training process (Ctrl+F5). Can be resumed at any "
    "time.",
    "resume": "Continues from the last checkpoint.",
    "stop": "Ends the run after this step (Shift+F5) and saves the weights.",
    "skip": "Leaves this out. The weights are saved.",
}
_WAITING_TIPS = {
    "pause": "",
    "resume": "Starts now, in parallel with the current training; both run slower.",
    "stop": "Removes the run from the queue; it stays in the list.",
    "skip": "",
}
_RESUMED_BY_BANNER = ("failed", "died")
"""Outcomes whose banner has the button that resumes."""


class RunHeader(QFrame):
    """Shows one follower.

    Attributes:
        stop, pause, resume, skip: Buttons.
        popup: The run's plan, which can be pinned for later runs.
    """

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.setMinimumWidth(360)
        self._follower: RunFollower | None = None
        self._asked = ""
        self._kept: KeptWeights | None = None
        self._test_accuracy: float | None = None
        self._is_stopped_above = False
        self._can_resume, self._resumes = False, ""
        self._buttons_px = 0
        self._phase_words = ""
        self._phase_since = monotonic()
        self._last_arrival = monotonic()
        self._elapsed_s = 0.0
        self._countdown = Countdown()
        self.caption = ElidedLabel()
        self.headline = plain_label(role="title")
        self.headline.setFont(theme.font(17, weight=600, tabular=True))
        self.bar = SteadyBar()
        self.elapsed = plain_label(role="dim")
        self.left = plain_label(role="dim")
        self.speed = Figure(_SPEED)
        self.saved = Figure("Last epoch, saved")
        self.best = Figure(_BEST)
        self.best_epoch = Figure("Best epoch")
        self.test = Figure("Test accuracy")
        self.pause = button("Pause", icon="pause", theme=theme)
        self.resume = button("Resume", icon="train", theme=theme)
        self.stop = button("Stop", icon="stop", theme=theme)
        self.skip = button("Skip", theme=theme)
        self.how = plain_label(wrap=True)
        self.plan = button("Execution settings", role="link")
        self.popup = PlanPopup(self)
        self._tick = QTimer(self)
        self._tick.setInterval(500)
        self._tick.timeout.connect(self.refresh)
        self.plan.clicked.connect(self._on_plan)
        self._dress()
        self._build()

    def _dress(self) -> None:
        """Gives the parts their looks and tooltips."""
        roles = ((self.caption, "heading"), (self.how, "dim"))
        for label, role in roles:
            label.setProperty("role", role)
        for part in (self.pause, self.resume, self.stop, self.skip):
            # One that was pressed hides: the focus would go on to whatever comes next.
            part.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.bar.setRange(0, PROGRESS_STEPS)
        self.elapsed.setToolTip("Elapsed time")
        self.test.setToolTip("Of the saved weights, computed in float32 as Evaluate does")

    def _build(self) -> None:
        for label in (self.elapsed, self.left):
            label.setFont(ui_font(12, tabular=True))
        self.speed.keep_room_for(count(88_888))
        for figure in (self.saved, self.best, self.test):
            figure.keep_room_for(share(1.0))
        metrics = self.elapsed.fontMetrics()
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        self.left.setAlignment(right)
        # Of one width: the bar between them stays as it is while they count.
        self.elapsed.setFixedWidth(metrics.horizontalAdvance(clock(LONGEST_S)))
        self._keep_room_for_left(has_head=False)
        names = column(self.caption, self.headline, STRETCH, spacing=2)
        figures = (self.speed, self.best, self.best_epoch, self.saved, self.test)
        buttons = row(self.pause, self.resume, self.skip, self.stop, spacing=BUTTON_SPACING_PX)
        top = row((names, 1), *figures, buttons, spacing=SPACING_PX)
        self._progress = QWidget()
        times = (self.elapsed, (self.bar, 1), self.left)
        row(*times, parent=self._progress, spacing=SPACING_PX)
        line = QWidget()
        row((self.how, 1), self.plan, parent=line, spacing=12)
        margins = (MARGIN_PX, 12, MARGIN_PX, 8)
        parts = (top, self._progress, line)
        column(*parts, parent=self, margins=margins, spacing=6)

    def _keep_room_for_left(self, *, has_head: bool) -> None:
        """In runs with fine-tuning the time that is left of the head is the wider one."""
        longest = left_words(TimeLeft(LONGEST_S, is_of_head=has_head))
        self.left.setFixedWidth(self.left.fontMetrics().horizontalAdvance(longest))

    def set_follower(self, follower: RunFollower | None, title: str) -> None:
        """Shows another run."""
        self._follower = follower
        self._phase_words = ""
        self._asked = ""
        self._can_resume, self._resumes = False, ""
        self._elapsed_s, self._last_arrival = 0.0, monotonic()
        self._countdown.clear()
        self.caption.set_full_text(title, elide_mode(title))
        self.refresh()

    def set_title(self, title: str) -> None:
        """Shows the run's new name."""
        self.caption.set_full_text(title, elide_mode(title))

    def set_asked(self, asked: str) -> None:
        """Shows that a "stop", "pause" or "resume" was requested, which takes a moment."""
        self._asked = asked
        self.refresh()

    def set_is_stopped_above(self, *, is_stopped_above: bool) -> None:
        """Sets whether the window's bar has Stop for this run, while it trains."""
        if is_stopped_above != self._is_stopped_above:
            self._is_stopped_above = is_stopped_above
            self.refresh()

    def set_can_resume(self, can_resume: bool, resumes: str = "") -> None:  # noqa: FBT001 - a fact
        """Sets whether a checkpoint is kept from which the run, now over, can go on, and from
        where.
        """
        self._can_resume, self._resumes = can_resume, resumes
        self.refresh()

    def events_arrived(self) -> None:
        """The run said something: its clock is right at this moment."""
        self._last_arrival = monotonic()
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hides the lesser figures where room is short."""
        super().resizeEvent(event)
        self._show_buttons()
        self._show_parts()

    @property
    def _kind(self) -> str:
        """Kind of the run's outcome, "" before it has one; of one that is "away" no trainer is
        connected: it takes no requests.
        """
        outcome = self._follower.outcome if self._follower is not None else None
        return outcome.kind if outcome is not None else ""

    def _show_parts(self) -> None:
        """A run that waits has no figures yet; where room is short the lesser give way."""
        is_begun = self._kind != "waiting"
        self._progress.setVisible(is_begun)
        room = self._room_for_figures()
        self.caption.setMinimumWidth(CAPTION_PX if room >= 0 and not self._asked else 0)
        kept = self._kept
        has_saved = kept is not None and kept.val_accuracy is not None
        left_out = {self.test: self._test_accuracy is None, self.saved: not has_saved}
        # Where the best epoch is saved, its accuracy is that of the saved weights.
        left_out[self.best] = has_saved and kept is not None and kept.kind == "best"
        for figure in (self.test, self.saved, self.best, self.best_epoch, self.speed):
            is_wanted = is_begun and not left_out.get(figure, False)
            room -= figure.sizeHint().width() + SPACING_PX if is_wanted else 0
            figure.setVisible(is_wanted and room >= 0)

    def _room_for_figures(self) -> int:
        """Pixels that name, headline and buttons leave; below 0 they have too few."""
        headline = -(-self.headline.sizeHint().width() // ROUND_PX) * ROUND_PX
        room = self.width() - 2 * MARGIN_PX - max(CAPTION_PX, headline)
        return room - self._buttons_px - SPACING_PX

    def refresh(self) -> None:
        """Shows the figures as they are now."""
        follower = self._follower
        if follower is None:
            self._tick.stop()
            return
        self._say_headline(follower)
        self._show_progress(follower)
        self._show_figures(follower)
        self._show_how(follower)
        self._show_buttons()
        self._show_parts()
        if not follower.is_loaded or follower.is_over:
            self._tick.stop()
        elif not self._tick.isActive():
            self._tick.start()

    def _show_buttons(self) -> None:
        follower = self._follower
        is_loaded = follower is not None and follower.is_loaded
        outcome = follower.outcome if follower is not None else None
        is_over = is_loaded and outcome is not None and outcome.is_over
        is_waiting = self._kind == "waiting"
        is_training = is_loaded and not is_over and self._kind not in ("waiting", "away")
        phase = follower.history.phase if follower is not None and is_training else None
        can_skip = phase is not None and phase.can_skip
        is_training = is_training and not can_skip  # what goes on then is ended by Skip
        has_stop = is_training and not self._is_stopped_above
        can_resume = is_over and self._can_resume and self._kind not in _RESUMED_BY_BANNER
        go = ("Start now", "Starting") if is_waiting else ("Resume", "Resuming")
        end = ("Remove from queue", "Removing") if is_waiting else ("Stop", "Stopping")
        parts = (
            (self.pause, "pause", "Pause", "Pausing", is_training),
            (self.resume, "resume", *go, is_waiting or can_resume),
            (self.skip, "skip", "Skip", "Skip", can_skip),
            (self.stop, "stop", *end, has_stop or is_waiting),
        )
        is_alone = sum(is_shown for *_, is_shown in parts) == 1
        has_words = is_alone or self.width() >= BUTTON_WORDS_FROM_PX
        for part, key, words, going_on, is_shown in parts:
            shown = going_on if self._asked == key else words
            part.setVisible(is_shown)
            # A pause under way can become a stop.
            is_free = not self._asked or (key, self._asked) == ("stop", "pause")
            part.setEnabled(is_free or key == "skip")
            part.setText(shown if has_words else "")
            part.setAccessibleName(shown)
            part.setToolTip(plain_tip(_WAITING_TIPS[key] if is_waiting else _TIPS[key]))
        # A run that was stopped has got what it should; a paused one is to go on.
        role = "primary" if self._kind == "paused" else ""
        if self.resume.property("role") != role:
            self.resume.set_look(self.resume.text(), role=role, icon="train")
        if self._resumes and not is_waiting:
            self.resume.setToolTip(plain_tip(self._resumes))
        if not self._asked:  # "Pausing" is wider, but hides no figure for its short time
            widths = (part.sizeHint().width() for part, *_, is_shown in parts if is_shown)
            self._buttons_px = sum(width + BUTTON_SPACING_PX for width in widths)

    def _show_how(self, follower: RunFollower) -> None:
        started = follower.history.started
        self.plan.setVisible(started is not None)
        words = [
            _weights_words(follower.history),
            resumed_words(started),
            started.plan.words if started is not None else "",
        ]
        if self._can_resume and self._kind not in _RESUMED_BY_BANNER:
            words.insert(0, self._resumes.rstrip("."))
        if started is not None and started.on:
            words.insert(0, f"on {started.on}")
        outcome = follower.outcome
        if outcome is not None and outcome.kind == "waiting":
            words = []  # the headline says it
        if started is None and outcome is not None and outcome.is_far:
            words = [far_words(outcome)[1]]
        text = " · ".join(filter(None, words))
        if self.how.text() != text:
            self.how.setText(text)

    def _on_plan(self) -> None:
        started = self._follower.history.started if self._follower is not None else None
        if started is not None:
            self.popup.show_plan(started)
            self.popup.open_below(self.plan)

    def _say_headline(self, follower: RunFollower) -> None:
        if not follower.is_loaded:
            self.headline.setText("Loading the run")
            return
        shown = headline(follower.history, follower.outcome)
        words = shown.words
        if words != self._phase_words:
            self._phase_words, self._phase_since = words, monotonic()
        waited_s = monotonic() - self._phase_since
        if shown.is_timed and waited_s >= SAY_HOW_LONG_AFTER_S:
            words = f"{words}, {clock(waited_s)}"
        self.headline.setText(words)

    def _show_progress(self, follower: RunFollower) -> None:
        progress, started = follower.history.progress, follower.history.started
        has_head = started is not None and started.fine_tuning_after is not None
        self._keep_room_for_left(has_head=has_head)
        beside = follower.history.phase_progress
        fraction = progress.fraction if beside is None else beside.fraction
        self.bar.setValue(round(fraction * PROGRESS_STEPS))
        is_live = not follower.is_over and self._kind not in ("waiting", "away")
        elapsed_s = progress.elapsed_s
        if is_live and follower.history.num_events and not follower.history.is_resuming:
            # No longer than a trainer is silent: it may have ended, which is read later.
            elapsed_s += min(monotonic() - self._last_arrival, SILENT_AFTER_S)
        # Events bring the trainer's clock, which differs from this one by a little.
        self._elapsed_s = max(self._elapsed_s, elapsed_s) if is_live else elapsed_s
        self.elapsed.setText(clock(self._elapsed_s) if self._elapsed_s else "")
        left = progress.left
        if beside is not None:
            left = TimeLeft(beside.left_s) if beside.left_s is not None else None
        self.left.setToolTip(_TO_FINE_TUNING_TIP if left is not None and left.is_of_head else "")
        if not is_live or left is None:
            self._countdown.clear()
            self.left.setText("")
            return
        seconds = self._countdown.shown(left.seconds, monotonic())
        self.left.setText(left_words(replace(left, seconds=seconds)))

    def _show_saved(self, kept: KeptWeights | None) -> None:
        """Shows which weights a finished run has saved, and their validation accuracy."""
        self._kept = kept
        accuracy = kept.val_accuracy if kept is not None else None
        _set(self.saved.value, share(accuracy) if accuracy is not None else NOTHING)
        if kept is not None:
            what = "step" if kept.is_partial else "epoch"
            _set(self.saved.heading, f"{kept.kind.capitalize()} {what}, saved")
        self.saved.setToolTip(plain_tip(saved_words(kept)))

    def _show_figures(self, follower: RunFollower) -> None:
        history = follower.history
        speed = history.images_per_second
        _set(self.speed.value, count(round(speed)) if speed else NOTHING)
        is_of_head = _is_of_head(history)
        _set(self.speed.heading, _SPEED_OF_HEAD if is_of_head else _SPEED)
        self.speed.setToolTip(plain_tip(_OF_HEAD_TIP if is_of_head else ""))
        best, finished = history.best, history.finished
        _set(self.best.value, share(best.val_accuracy) if best else NOTHING)
        _set(self.best_epoch.value, count(best.epoch) if best else NOTHING)
        self._show_saved(finished.kept if finished is not None else None)
        test = finished.test.accuracy if finished is not None and finished.test else None
        self._test_accuracy = test
        _set(self.test.value, share(test) if test is not None else NOTHING)
        best_by = history.started.keep_by if history.started is not None else "val_accuracy"
        on_test = history.is_validated_on_test
        _set(self.best.heading, _BEST_ON_TEST if on_test else _BEST)
        words = best_words(best, best_by, is_on_test=on_test)
        for figure in (self.best, self.best_epoch):
            figure.setToolTip(plain_tip(f"{words}\n{_ON_TEST_TIP}" if on_test else words))


def _is_of_head(history: MetricHistory) -> bool:
    """Whether the latest speed is that of a head on cached features."""
    started, epochs = history.started, len(history.epochs)
    if started is None or not started.is_on_features:
        return False
    return started.fine_tuning_after is None or epochs <= started.fine_tuning_after


def _weights_words(history: MetricHistory) -> str:
    """Which weights are saved, or will be."""
    finished, started = history.finished, history.started
    if finished is not None:
        return saved_words(finished.kept)
    return plan_words(started.keep) if started is not None else ""


def _set(label: QLabel, text: str) -> None:
    if label.text() != text:
        label.setText(text)
