"""The bench: the altered picture, the sliders, and the answer to it."""

from __future__ import annotations

from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from workbench.alterations import strength_words
from workbench.core.calibration.verdict import unknown_words
from workbench.core.format import share
from workbench.core.projects.robustness import (
    MAX_NAME,
    MAX_TESTS,
    RobustnessTest,
    is_name,
    with_test,
)
from workbench.errors import WorkbenchError
from workbench.gui.classify.classified import ClassifiedPicture
from workbench.gui.classify.result_card import PictureFrame
from workbench.gui.classify.score_bars import ScoreBars
from workbench.gui.classify.state import ClassifyState
from workbench.gui.classify.what_if.live import LiveScores, Wanted
from workbench.gui.classify.what_if.sliders import AlterationSliders
from workbench.gui.classify.when_seen import WhenSeen
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import ElidedLabel, plain_label, plain_tip, set_role
from workbench.gui.kit.layout import STRETCH, Gap, column, row
from workbench.gui.kit.messages import ask_text
from workbench.protocol.classify import AlteredScores

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
