"""The answer: the picture, the picture as the network sees it, the class, ranked bars."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout

from workbench.core.format import count, duration, share
from workbench.gui.classify.classified import ClassifiedPicture
from workbench.gui.classify.picture_frame import PictureFrame
from workbench.gui.classify.score_bars import ScoreBars
from workbench.gui.classify.state import ClassifyState
from workbench.gui.kit.labels import ElidedLabel, plain_label, set_role

PICTURE_PX = 176
ROUND_PICTURE_PX = 56


class ResultCard(QFrame):
    """Shows one classified picture, or what can be done while there is none."""

    def __init__(self, state: ClassifyState) -> None:
        super().__init__()
        theme = state.context.theme
        self.setProperty("role", "card")
        self.setFixedHeight(PICTURE_PX + ROUND_PICTURE_PX)
        self.entry: ClassifiedPicture | None = None
        self.picture = PictureFrame(theme, "Your picture", PICTURE_PX)
        self.seen = PictureFrame(theme, "Model input", PICTURE_PX, is_pixelated=True)
        self.caption = plain_label(role="heading")
        self.label = ElidedLabel()
        self.label.setFont(theme.font(26, weight=600))
        self.figure = plain_label(role="dim")
        self.figure.setFont(theme.font(16, tabular=True))
        self.truth = plain_label(role="dim")
        self.message = plain_label(role="dim", wrap=True)
        self.bars = ScoreBars(theme)
        self._build()
        self.show_hint()
        state.shown.connect(self.show_entry)

    def _build(self) -> None:
        answer = QVBoxLayout()
        answer.setSpacing(4)
        answer.addWidget(self.caption)
        headline = QHBoxLayout()
        headline.setSpacing(10)
        headline.addWidget(self.label, 100)
        headline.addWidget(self.figure, 0, Qt.AlignmentFlag.AlignBottom)
        headline.addSpacing(12)
        headline.addWidget(self.truth, 0, Qt.AlignmentFlag.AlignBottom)
        headline.addStretch(1)
        answer.addLayout(headline)
        answer.addSpacing(6)
        answer.addWidget(self.bars)
        answer.addWidget(self.message)
        answer.addStretch(1)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 14, 16, 12)
        row.setSpacing(16)
        for frame in (self.picture, self.seen):
            column = QVBoxLayout()
            column.addWidget(frame)
            column.addStretch(1)
            row.addLayout(column)
        row.addLayout(answer, 1)

    def show_hint(self) -> None:
        """Nothing has been classified yet."""
        self.entry = None
        self.picture.show_image(QImage(), "Your picture")
        self.seen.show_image(QImage(), "Model input")
        self.caption.setText("Prediction")
        self._say("No prediction yet", "")
        self.truth.setText("")
        self.bars.set_scores([])
        self.bars.hide()
        self.message.setText("Drop a picture: the most likely classes appear here.")
        self.message.show()

    def show_entry(self, entry: ClassifiedPicture) -> None:
        """Shows a classified picture, or why it could not be read."""
        self.entry = entry
        answer = entry.answer
        size = f" · {count(answer.width)} × {count(answer.height)}" if answer.width else ""
        self.picture.show_image(entry.picture, f"{entry.name}{size}")
        shape = " × ".join(str(n) for n in answer.input_shape[:2])
        self.seen.show_image(entry.seen, f"Model input, {shape}" if shape else "")
        is_read = answer.error is None
        took = f" · {duration(answer.milliseconds / 1000)}" if is_read else ""
        self.caption.setText(f"{entry.model}{took}")
        self.bars.setVisible(is_read)
        self.message.setVisible(not is_read)
        if answer.error is not None:
            self._show_error(entry)
            return
        self._say(answer.label, share(entry.probability))
        scores = [(score.name, score.probability) for score in answer.scores]
        self.bars.set_scores(scores, entry.truth)
        self._show_truth(entry)

    def _say(self, label: str, figure: str) -> None:
        # As wide as its words, so that the percentage stands beside them.
        self.label.setMaximumWidth(self.label.fontMetrics().horizontalAdvance(label) + 4)
        self.label.set_full_text(label)
        self.figure.setText(figure)

    def _show_error(self, entry: ClassifiedPicture) -> None:
        error = entry.answer.error
        self._say("Cannot be read", "")
        self.truth.setText("")
        if error is not None:
            what = f"{error.what.rstrip('.')}: {error.received}." if error.received else error.what
            self.message.setText(" ".join(filter(None, (what, error.fix))))

    def _show_truth(self, entry: ClassifiedPicture) -> None:
        if entry.is_right is None:
            self.truth.setText("")
            return
        verdict = "Correct" if entry.is_right else "Wrong"
        self.truth.setText(f"{verdict} (label: {entry.truth})")
        set_role(self.truth, "good" if entry.is_right else "bad")
