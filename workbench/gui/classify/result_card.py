"""The answer: the picture, the model input, the class, ranked bars."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QImage,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QWidget

from workbench.core.calibration.verdict import UNKNOWN
from workbench.core.format import count, duration, image_size_text, share
from workbench.gui.classify.bar_rows import NUM_ROWS, ROW_PX
from workbench.gui.classify.classified import ClassifiedPicture
from workbench.gui.classify.score_bars import ScoreBars
from workbench.gui.classify.state import ClassifyState
from workbench.gui.kit.labels import ElidedLabel, breakable, plain_label, plain_tip, set_role
from workbench.gui.kit.layout import STRETCH, Gap, column, row, scroll_to
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.working_dialog import InstallLink
from workbench.protocol.bases import ErrorParts
from workbench.runs.log.scores import weights_words

PICTURE_PX, _LARGEST_PX = 176, 440
"""Side of a picture's place, and of the large one where the view has room."""
_AROUND_PX = 56
"""What the card is higher than its picture."""
_ANSWER_PX = 320
"""Width that the answer keeps beside a large picture."""
_GAP_PX = 16
RADIUS_PX = 8


class _Canvas(QWidget):
    def __init__(self, theme: Theme, *, is_pixelated: bool) -> None:
        super().__init__()
        self._theme = theme
        self._is_pixelated = is_pixelated
        self.image = QImage()
        self.setFixedSize(QSize(PICTURE_PX, PICTURE_PX))
        theme.changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colors = self._theme.colors
        place = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        if self.image.isNull():
            painter.setPen(QPen(QColor(colors.line), 1))
            painter.setBrush(QColor(colors.field))
            painter.drawRoundedRect(place, RADIUS_PX, RADIUS_PX)
        else:
            self._paint_image(painter, place)
        painter.end()

    def _paint_image(self, painter: QPainter, place: QRectF) -> None:
        size = self.image.size().toSizeF()
        scale = min(place.width() / size.width(), place.height() / size.height())
        fitted = QRectF(0, 0, size.width() * scale, size.height() * scale)
        fitted.moveCenter(QPointF(place.center()))
        outline = QPainterPath()
        outline.addRoundedRect(fitted, RADIUS_PX, RADIUS_PX)
        painter.setClipPath(outline)
        # The network's own picture shows its pixels as they are.
        smooth = QPainter.RenderHint.SmoothPixmapTransform
        painter.setRenderHint(smooth, not self._is_pixelated)
        painter.drawImage(fitted, self.image)
        painter.setClipping(False)
        painter.setPen(QPen(QColor(self._theme.colors.line), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(outline)


class PictureFrame(QWidget):
    """A square place for a picture; keeps its size when empty."""

    def __init__(self, theme: Theme, name: str, *, is_pixelated: bool = False) -> None:
        super().__init__()
        self._canvas = _Canvas(theme, is_pixelated=is_pixelated)
        self._canvas.setAccessibleName(name)
        self.caption = ElidedLabel()
        self.caption.setProperty("role", "dim")
        self.caption.setFont(theme.font(12))
        self.setFixedWidth(PICTURE_PX)
        column(self._canvas, self.caption, parent=self, spacing=6)

    @property
    def image(self) -> QImage:
        """The picture shown; null while empty."""
        return self._canvas.image

    def set_side(self, px: int) -> None:
        """Sets how large the place is."""
        if px != self.width():
            self.setFixedWidth(px)
            self._canvas.setFixedSize(QSize(px, px))

    def show_image(self, image: QImage, caption: str) -> None:
        """Shows a picture (null: an empty frame) and words below it."""
        self._canvas.image = image
        self._canvas.update()
        self.caption.set_full_text(caption)


class ResultCard(QFrame):
    """Shows one classified picture, or what can be done while there is none; as large as the view
    has room, but for what images are picked from, which needs it.
    """

    def __init__(self, state: ClassifyState) -> None:
        super().__init__()
        theme = state.context.theme
        self.setProperty("role", "card")
        self.setMinimumHeight(PICTURE_PX + _AROUND_PX)
        self.entry: ClassifiedPicture | None = None
        self.picture = PictureFrame(theme, "Your picture")
        self.seen = PictureFrame(theme, "Model input", is_pixelated=True)
        self.caption = ElidedLabel()
        self.caption.setProperty("role", "dim")  # a run's name is no heading in capitals
        self.note = plain_label(role="warning", wrap=True)
        self.note.hide()
        self._state = state
        self.label = ElidedLabel()
        self.label.setFont(theme.font(26, weight=600))
        self.figure = plain_label(role="dim")
        self.figure.setFont(theme.font(16, tabular=True))
        self.reason = plain_label(role="warning", wrap=True)
        self.reason.setFont(theme.font(14, tabular=True))
        self.truth = ElidedLabel()
        self.message = plain_label(role="dim", wrap=True)
        self.install = InstallLink()
        self.install.installed.connect(self._classify_again)
        self.bars = ScoreBars(theme)
        self.classes = self.bars.in_scroll_area()
        self.classes.setMinimumHeight(2 * ROW_PX)  # a note of several lines leaves less
        self._build()
        self.show_hint()
        self.bars.chosen.connect(state.class_chosen)
        state.shown.connect(self.show_entry)
        state.predicted.connect(lambda: scroll_to(self))
        state.outdated.connect(self.show_outdated)
        state.cleared.connect(self.show_hint)
        state.run_changed.connect(self._show_note)
        state.failed.connect(self._on_failed)
        for changed in (state.picking_changed, state.listing_changed):
            changed.connect(lambda _is_shown: self._make_room())
        self._make_room()

    def _build(self) -> None:
        bottom = Qt.AlignmentFlag.AlignBottom
        says = (self.label, 100), self.figure, (self.reason, 100)
        headline = row(*says, STRETCH, spacing=10)
        headline.setAlignment(self.figure, bottom)
        headline.setAlignment(self.reason, bottom)
        lines = (
            self.caption,
            self.note,
            headline,
            self.truth,
            Gap(6),
            (self.classes, 100),
            self.message,
            row(self.install, STRETCH),
            STRETCH,
        )
        answer = column(*lines, spacing=4)
        frames = [column(frame, STRETCH) for frame in (self.picture, self.seen)]
        row(*frames, (answer, 1), parent=self, margins=(_GAP_PX, 14, _GAP_PX, 12), spacing=_GAP_PX)

    def _make_room(self) -> None:
        """The room of a list that is shown is the list's."""
        has_list = self._state.is_picking or self._state.is_listing
        self.setMaximumHeight((PICTURE_PX if has_list else _LARGEST_PX) + _AROUND_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        beside = 4 * _GAP_PX + self.seen.width() + _ANSWER_PX
        side = min(self.height() - _AROUND_PX, self.width() - beside)
        self.picture.set_side(max(PICTURE_PX, side))
        self._show_whole_rows()

    def _show_whole_rows(self) -> None:
        """Shows as many classes as there is room for, none of them cut."""
        more = (self.height() - self.minimumHeight() + ROW_PX // 2) // ROW_PX
        num_rows = max(NUM_ROWS, min(len(self.bars.scores), NUM_ROWS + more))
        self.classes.setMaximumHeight(num_rows * ROW_PX)

    def hasHeightForWidth(self) -> bool:
        """Takes what room is left: a large picture must be able to become small again."""
        return False

    def show_hint(self) -> None:
        """Shows that nothing has been classified yet."""
        self.entry = None
        self.picture.show_image(QImage(), "Your picture")
        self.seen.show_image(QImage(), "Model input")
        self.caption.set_full_text("Prediction")
        self._say("No prediction yet", "")
        self.truth.hide()
        self.bars.set_scores([])
        self.classes.hide()
        self.install.hide()
        self.message.setText("Drop a picture: the most likely classes appear here.")
        self.message.show()

    def show_outdated(self) -> None:
        """Another run answers: what is shown is not its answer, which follows."""
        if self.entry is None or not self._state.is_outdated(self.entry):
            return
        self.caption.set_full_text(self._state.title)
        self._say("Classifying…", "")
        self.truth.hide()
        self.bars.set_scores([])
        self.message.hide()

    def _on_failed(self) -> None:
        if self.entry is not None and self._state.is_outdated(self.entry):
            self._say("No prediction from this model", "")

    def _show_note(self) -> None:
        self.note.setText(breakable(self._state.note))
        self.note.setVisible(bool(self._state.note))

    def show_entry(self, entry: ClassifiedPicture) -> None:
        """Shows a classified picture, or why it could not be read."""
        self.entry = entry
        answer = entry.answer
        size = f" · {count(answer.width)} × {count(answer.height)}" if answer.width else ""
        self.picture.show_image(entry.picture, f"{entry.name}{size}")
        self._show_seen(entry)
        is_read = answer.error is None
        took = f" · {duration(answer.milliseconds / 1000)}" if is_read else ""
        words = weights_words(answer.weights)
        weights = f"weights: {words}" if words else ""
        self.caption.set_full_text(" · ".join(filter(None, (entry.model, weights))) + took)
        self.classes.setVisible(is_read)
        self.message.setText(answer.blind)
        self.message.setVisible(bool(answer.blind) or not is_read)
        self.install.offer(answer.error.fix if answer.error is not None else "")
        self._show_truth(entry)
        if answer.error is not None:
            self._show_error(answer.error)
            return
        if answer.unknown:
            self._say(UNKNOWN, "", answer.unknown)
        else:
            self._say(answer.label, share(entry.probability))
        scores = [(score.name, score.probability) for score in answer.scores]
        self.bars.set_scores(scores, entry.true_class)
        self._show_whole_rows()
        self.classes.verticalScrollBar().setValue(0)
        self.show_outdated()

    def _show_seen(self, entry: ClassifiedPicture) -> None:
        """What the model sees; the tooltip has what is too long for the caption."""
        shape = entry.answer.input_shape
        words = f"Model input, {image_size_text(shape[:2])}" if shape else ""
        self.seen.show_image(entry.seen, words)
        if shape:
            self.seen.caption.setToolTip(plain_tip(f"Model input, {image_size_text(shape)}"))

    def _say(self, label: str, figure: str, reason: str = "") -> None:
        # As wide as its words, so that the percentage is beside them.
        self.label.setMaximumWidth(self.label.fontMetrics().horizontalAdvance(label) + 4)
        self.label.set_full_text(label)
        self.figure.setText(figure)
        self.figure.setVisible(bool(figure))
        self.reason.setText(reason)
        self.reason.setVisible(bool(reason))

    def _show_error(self, error: ErrorParts) -> None:
        self._say("Cannot be read", "")
        what = f"{error.what.rstrip('.')}: {error.received}." if error.received else error.what
        self.message.setText(" ".join(filter(None, (what, error.fix))))

    def _classify_again(self) -> None:
        """What could not be read is read now."""
        if self.entry is not None:
            self._state.classify([self.entry.answer.file])

    def _show_truth(self, entry: ClassifiedPicture) -> None:
        words = entry.label_words()
        self.truth.set_full_text(words)
        self.truth.setVisible(bool(words))
        moods = {True: "good", False: "bad", None: "dim"}
        set_role(self.truth, moods[entry.is_right])
