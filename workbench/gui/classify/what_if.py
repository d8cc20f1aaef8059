"""What the network answers if the picture is altered: sliders, and bars that follow them.

The sliders follow from the files in `workbench.alterations`. While one moves, only the newest
request counts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from PySide6.QtCore import QObject, QRect, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QSlider, QStyle, QStyleOptionSlider, QWidget

from workbench.alterations import AlterationSpec, all_alterations, strength_words
from workbench.client.service_process import Handlers, Question
from workbench.core.calibration import unknown_words
from workbench.core.format import share
from workbench.core.projects.project import (
    MAX_NAME,
    MAX_TESTS,
    RobustnessTest,
    is_name,
    with_test,
)
from workbench.errors import WorkbenchError
from workbench.gui.classify.answers import ClassifiedPicture, load_preview
from workbench.gui.classify.result_card import PictureFrame, ScoreBars
from workbench.gui.classify.state import ClassifyState, WhenSeen
from workbench.gui.kit.buttons import button
from workbench.gui.kit.dialogs import ask_text
from workbench.gui.kit.labels import ElidedLabel, plain_label, plain_tip, set_role
from workbench.gui.kit.layout import STRETCH, Gap, column, row, scroll_to
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import CollapsibleSection
from workbench.protocol.classify import AlteredScores, ClassifyAltered

# live ----------------------------------------------------------------------------------------
# The answers to a picture whose alterations keep changing: only the newest are computed.


@dataclass(frozen=True)
class Wanted:
    """A picture with its alterations, and the run that is to answer."""

    run: str
    picture: str
    strengths: Mapping[str, float] = field(default_factory=dict)


class LiveScores(QObject):
    """At most one request is under way; of those that come meanwhile the newest is sent next.

    Signals:
        scored(AlteredScores): The answer for the newest position that was sent.
        pictured(QImage): The altered picture of such an answer, a moment later.
        failed(WorkbenchError): There is no answer.
    """

    scored = Signal(object)
    pictured = Signal(QImage)
    failed = Signal(object)

    def __init__(self, state: ClassifyState, parent: QObject) -> None:
        super().__init__(parent)
        self._background = state.background
        self._question = Question(state.context.service)
        self._next: Wanted | None = None
        self._generation = 0

    def ask(self, wanted: Wanted) -> None:
        """Computes this as soon as what is under way is done, unless another one comes first."""
        self._next = wanted
        if not self._question.is_open:
            self._send()

    def forget(self) -> None:
        """Drops what was requested: its answer is not reported."""
        self._next = None
        self._generation += 1
        self._question.drop()

    def _send(self) -> None:
        wanted, self._next = self._next, None
        if wanted is None:
            return
        number = self._generation
        request = ClassifyAltered(
            id=0, model=wanted.run, picture=wanted.picture, strengths=dict(wanted.strengths)
        )
        handlers = Handlers(
            on_done=lambda answer: self._take(number, answer), on_failed=self._on_failed
        )
        self._question.ask(request, handlers)

    def _take(self, number: int, answer: AlteredScores) -> None:
        self.scored.emit(answer)
        self._send()
        self._background.run(
            lambda: load_preview(answer.input_bitmap), lambda image: self._show(number, image)
        )

    def _show(self, number: int, image: QImage) -> None:
        # A null one was removed in favor of newer ones before it was read: they follow.
        if number == self._generation and not image.isNull():
            self.pictured.emit(image)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.failed.emit(error)
        self._send()


# sliders -------------------------------------------------------------------------------------
# A slider for each alteration.

_LEAST_PX, _WORDS_PX, _FILLED_PX = 60, 44, 4
_FINE_STEPS = 100


class _Slider(QSlider):
    """A whole number of an alteration's unit, or of steps whose square it is where small strengths
    differ most; a double click makes it neutral.
    """

    def __init__(self, spec: AlterationSpec, theme: Theme) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._theme = theme
        self._spec = spec
        self._neutral = 0 if spec.is_fine else spec.neutral
        self.setRange(*((0, _FINE_STEPS) if spec.is_fine else (spec.least, spec.greatest)))
        self.setValue(self._neutral)
        self.setProperty("centered", spec.least < spec.neutral)
        self.setMinimumWidth(_LEAST_PX)
        self.setPageStep(max(1, (self.maximum() - self.minimum()) // 10))
        self.setAccessibleName(spec.title)
        self.setToolTip(plain_tip(f"{spec.meaning}\nDouble-click to reset."))

    @property
    def strength(self) -> float:
        """Strength in the alteration's unit."""
        if not self._spec.is_fine:
            return float(self.value())
        room = self._spec.greatest - self._spec.neutral
        return round(self._spec.neutral + room * (self.value() / _FINE_STEPS) ** 2, 1)

    def set_strength(self, strength: float) -> None:
        """Moves to this strength, or the nearest that there is."""
        if self._spec.is_fine:
            room = self._spec.greatest - self._spec.neutral
            strength = _FINE_STEPS * math.sqrt(max(0.0, strength - self._spec.neutral) / room)
        self.setValue(round(strength))

    def filled(self) -> QRect:
        """What is drawn as filled: from the neutral value to the handle."""
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        slider, part = QStyle.ComplexControl.CC_Slider, QStyle.SubControl
        groove = self.style().subControlRect(slider, option, part.SC_SliderGroove, self)
        handle = self.style().subControlRect(slider, option, part.SC_SliderHandle, self)
        room, half = groove.width() - handle.width(), handle.width() // 2
        least, greatest = self.minimum(), self.maximum()
        neutral, now = (
            groove.x() + half + QStyle.sliderPositionFromValue(least, greatest, value, room)
            for value in (self._neutral, self.value())
        )
        # The handle is drawn already: what is filled ends before it.
        left, right = (neutral, now - half) if now > neutral else (now + half, neutral)
        top = self.rect().center().y() - _FILLED_PX // 2
        return QRect(left, top, max(0, right - left), _FILLED_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Filled from zero on where zero is in the middle: else rotation 0 looks like half."""
        super().paintEvent(event)
        if self.property("centered") and self.value() != self._neutral:
            painter = QPainter(self)
            painter.fillRect(self.filled(), QColor(self._theme.colors.accent))
            painter.end()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.setValue(self._neutral)
        event.accept()


class AlterationSliders(QWidget):
    """All alterations below each other. `changed` when any of them was moved."""

    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._specs = all_alterations()
        self.sliders = {key: _Slider(spec, theme) for key, spec in self._specs.items()}
        self.words = {key: plain_label(role="dim") for key in self._specs}
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        for entry, (key, spec) in enumerate(self._specs.items()):
            title, words = plain_label(spec.title), self.words[key]
            title.setBuddy(self.sliders[key])
            words.setMinimumWidth(_WORDS_PX)
            words.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            for place, part in enumerate((title, self.sliders[key], words)):
                grid.addWidget(part, entry, place)
            self.sliders[key].valueChanged.connect(self._on_moved)
        self._show_words()

    @property
    def strengths(self) -> dict[str, float]:
        """Strengths of the alterations that change something, by key, in order of use."""
        return {
            key: slider.strength
            for key, slider in self.sliders.items()
            if slider.strength != self._specs[key].neutral
        }

    def set_strengths(self, strengths: Mapping[str, float]) -> None:
        """Moves all sliders at once; those that are not named become neutral."""
        for key, slider in self.sliders.items():
            slider.blockSignals(True)
            slider.set_strength(strengths.get(key, self._specs[key].neutral))
            slider.blockSignals(False)
        self._on_moved()

    def _on_moved(self) -> None:
        self._show_words()
        self.changed.emit()

    def _show_words(self) -> None:
        for key, spec in self._specs.items():
            self.words[key].setText(spec.words(self.sliders[key].strength))


# bench ---------------------------------------------------------------------------------------
# The bench: the altered picture, the sliders, and the answer to it.

_NO_PICTURE = "Classify a picture first: then the sliders alter it."
_LOADING = "Loading the model: the prediction follows."
_UNREADABLE = "The picture cannot be read: there is nothing to alter."
_SAVE_TIP = (
    "Each later run of this project is measured on its test images with these alterations. "
    "Evaluate shows the accuracies."
)


class WhatIfBench(QWidget):
    """Alters the picture that is shown large; while hidden it computes nothing."""

    def __init__(self, state: ClassifyState) -> None:
        super().__init__()
        theme = state.context.theme
        self._state = state
        self._entry: ClassifiedPicture | None = None
        self._has_failed = False
        self._when_seen = WhenSeen(self)
        self.live = LiveScores(state, self)
        self.picture = PictureFrame(theme, "Altered model input", is_pixelated=True)
        self.sliders = AlterationSliders(theme)
        self.reset = button("Reset")
        self.kept = plain_label("Kept from the picture before.", role="dim", wrap=True)
        self.kept.hide()
        self.save = button("Save as robustness test…")
        self.save.setToolTip(plain_tip(_SAVE_TIP))
        self.label = plain_label(wrap=True)
        self.label.setFont(theme.font(20, weight=600))
        self.before = ElidedLabel()
        self.before.setProperty("role", "dim")
        self.bars = ScoreBars(theme)
        self.classes = self.bars.in_scroll_area()
        self.message = plain_label(role="dim", wrap=True)
        self._build()
        self._connect()

    def _build(self) -> None:
        reset = row(self.reset, STRETCH)
        middle = column(self.sliders, Gap(2), reset, self.kept, STRETCH, spacing=6)
        save = row(self.save, STRETCH)
        lines = (self.label, self.before, Gap(4), self.classes, self.message, save, STRETCH)
        answer = column(*lines, spacing=4)
        frame = column(self.picture, STRETCH)
        row(frame, (middle, 1), (answer, 1), parent=self, spacing=16)

    def _connect(self) -> None:
        self.sliders.changed.connect(self.kept.hide)
        self.sliders.changed.connect(self._request)
        self.reset.clicked.connect(lambda: self.sliders.set_strengths({}))
        self.save.clicked.connect(self.ask_name)
        self.live.scored.connect(self._show_scores)
        self.live.pictured.connect(self._show_picture)
        self.live.failed.connect(self._show_error)
        self._state.run_changed.connect(self._start_again)
        self._state.context.service.state_changed.connect(lambda _words: self._on_service())

    # what is altered -----------------------------------------------------------------------

    def set_entry(self, entry: ClassifiedPicture | None) -> None:
        """Sets the picture that is altered from now on; None for none."""
        is_readable = entry is not None and entry.answer.error is None
        before, self._entry = self._entry, entry if is_readable else None
        if self._entry is not None and before is not None:
            is_same = before.answer.file == self._entry.answer.file
            is_kept = bool(self.sliders.strengths) and (not is_same or self.kept.isVisibleTo(self))
            self.kept.setVisible(is_kept)
        self.live.forget()
        self.sliders.setEnabled(is_readable)
        self.reset.setEnabled(is_readable)
        self.before.set_full_text("")
        if entry is not None and is_readable:
            self.before.set_full_text(f"Unaltered: {entry.words()}")
            if not self.sliders.strengths:
                self.picture.show_image(entry.seen, "Unaltered")
            if not self.bars.scores:
                self._say(_LOADING)
            self._request()
            return
        self.save.setEnabled(False)
        self.picture.show_image(QImage(), "Altered")
        self.label.setText("")
        self.bars.set_scores([])
        self._say(_NO_PICTURE if entry is None else _UNREADABLE)

    def _start_again(self) -> None:
        self.live.forget()
        if self._entry is not None:
            self.bars.set_scores([])
            self.label.setText("")
            self._say(_LOADING)
        self._request()

    def _on_service(self) -> None:
        """A worker that has died was started again by a request of another panel."""
        if self._has_failed and self._state.context.service.is_ready:
            self._start_again()

    def _request(self) -> None:
        self._has_failed = False
        self.save.setEnabled(bool(self.sliders.strengths) and self._entry is not None)
        self._when_seen.do(self._ask)  # a hidden bench loads no model

    def _ask(self) -> None:
        entry, run = self._entry, self._state.run
        if entry is not None and run is not None:
            self.live.ask(Wanted(str(run), entry.answer.file, self.sliders.strengths))

    # the answer ----------------------------------------------------------------------------

    def _show_scores(self, answer: AlteredScores) -> None:
        entry, top = self._entry, answer.scores[0]
        if entry is None:
            return
        self._say("")
        words = f"{top.name} {share(top.probability)}"
        self.label.setText(unknown_words(answer.unknown) if answer.unknown else words)
        before = entry.answer
        is_other = (top.name, bool(answer.unknown)) != (before.label, bool(before.unknown))
        set_role(self.before, "warning" if is_other else "dim")
        scores = [(score.name, score.probability) for score in answer.scores]
        self.bars.set_scores(scores, entry.true_class)

    def _show_picture(self, image: QImage) -> None:
        if self._entry is not None:
            self.picture.show_image(image, strength_words(self.sliders.strengths) or "Unaltered")

    def _show_error(self, error: WorkbenchError) -> None:
        self._has_failed = True
        self.label.setText("")
        self.bars.set_scores([])
        self._say(error.brief, role="bad")

    def _say(self, words: str, *, role: str = "dim") -> None:
        self.message.setText(words)
        set_role(self.message, role)
        self.classes.setVisible(not words or role == "good")
        self.message.setVisible(bool(words))

    # a test of it --------------------------------------------------------------------------

    def ask_name(self) -> None:
        """Lets the user name the alterations, and saves them with the project."""
        words = strength_words(self.sliders.strengths)[:MAX_NAME]
        name = ask_text(self, "Save as robustness test", "Name:", words)
        if name is not None:
            self.save_test(name.strip())

    def save_test(self, name: str) -> None:
        """Saves the alterations with the project, in place of a test of this name; shows the
        reason where that is not possible.
        """
        if not is_name(name):
            self._say(f"A name has 1 to {MAX_NAME} visible characters.", role="bad")
            return
        document = self._state.context.document
        tests = with_test(document.project.robustness, RobustnessTest(name, self.sliders.strengths))
        if len(tests) > MAX_TESTS:
            self._say(f"A project has at most {MAX_TESTS} robustness tests.", role="bad")
            return
        document.set_robustness(tests, f"Save robustness test “{name}”")
        self._say(
            "Added to the project: each later run is measured on it. Evaluate shows the "
            "accuracies, and measures the runs so far.",
            role="good",
        )


# panel ---------------------------------------------------------------------------------------
# The What-if panel of the classify view: one line until it is opened.


class WhatIfPanel(QFrame):
    """Opens the bench, which is made then."""

    def __init__(self, state: ClassifyState) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._state = state
        self._entry: ClassifiedPicture | None = None
        self.bench: WhatIfBench | None = None
        self.section = CollapsibleSection("What-if")
        self.section.set_note("Rotate, crop, blur … the picture and watch the prediction")
        column(self.section, parent=self, margins=(14, 6, 14, 6))
        self.section.opening.connect(self._open)
        state.shown.connect(self._take)
        state.cleared.connect(lambda: self._take(None))
        state.what_if_wanted.connect(self._show)

    def _take(self, entry: ClassifiedPicture | None) -> None:
        self._entry = entry
        if self.bench is not None:
            self.bench.set_entry(entry if self.section.is_open else None)

    def _show(self) -> None:
        self.section.head.setChecked(True)
        scroll_to(self)

    def _open(self) -> None:
        if self.bench is None:
            self.bench = WhatIfBench(self._state)
            self.section.body.addWidget(self.bench)
        self.bench.set_entry(self._entry)
