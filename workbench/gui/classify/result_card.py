"""The answer: the picture, the model input, the class, ranked bars."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QImage,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from workbench.core.calibration import UNKNOWN
from workbench.core.format import count, duration, image_size_text, share
from workbench.gui.classify.answers import ClassifiedPicture
from workbench.gui.classify.state import ClassifyState
from workbench.gui.kit.dialogs import InstallLink
from workbench.gui.kit.labels import ElidedLabel, breakable, plain_label, plain_tip, set_role
from workbench.gui.kit.layout import STRETCH, Gap, column, row, scroll_area, scroll_to
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import PaintedWidget
from workbench.protocol.bases import ErrorParts
from workbench.runs.log.texts import weights_words

# bar rows ------------------------------------------------------------------------------------
# Rows of names, bars and figures; the first can be seen, the others are scrolled to.

NUM_ROWS = 5
"""Rows that can be seen at once; the others are scrolled to."""
ROW_PX, NAME_PX = 25, 132
_BAR_PX, _LEAST_BAR_PX = 14, 2.0
_RADIUS_PX = 4.0


class BarRows(PaintedWidget):
    """Shows all rows: `in_scroll_area` bounds its height.

    Args:
        theme: Colors and fonts.
        width_px: Its usual width.
        least_px: Its smallest width.
    """

    def __init__(self, theme: Theme, width_px: int, least_px: int) -> None:
        super().__init__(theme, QSize(width_px, ROW_PX * NUM_ROWS), least_px)

    def in_scroll_area(self) -> QScrollArea:
        """The bars as high as the first rows."""
        area = scroll_area(self)
        area.setFrameShape(QFrame.Shape.NoFrame)
        for each in (self, area.viewport()):  # on the card, not on a background of their own
            each.setAutoFillBackground(False)
        area.setFixedHeight(ROW_PX * NUM_ROWS)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.verticalScrollBar().setSingleStep(ROW_PX)
        return area

    def _make_room(self, num_rows: int) -> None:
        """Makes room for this many rows."""
        self._hint = QSize(self._hint.width(), ROW_PX * num_rows)
        self.updateGeometry()
        self.update()

    def _rows_seen(self, num_rows: int) -> range:
        """Indices of the rows that have to be painted."""
        seen = self.visibleRegion().boundingRect()
        return range(seen.top() // ROW_PX, min(num_rows, seen.bottom() // ROW_PX + 1))

    def _paint_name(self, painter: QPainter, row: int, room_px: int, name: str) -> None:
        """Paints the name of a row, elided, in the font that is set."""
        painter.setPen(QColor(self._theme.colors.text))
        words = painter.fontMetrics().elidedText(name, Qt.TextElideMode.ElideMiddle, room_px)
        place = QRectF(0, row * ROW_PX, room_px, ROW_PX)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, words)

    def _paint_figure(self, painter: QPainter, row: int, right: float, figure: str) -> None:
        """Paints words that end at `right`, in the font and color that are set."""
        place = QRectF(0, row * ROW_PX, right, ROW_PX)
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, figure)

    def _paint_bar(
        self, painter: QPainter, row: int, left: float, width: float, part: float, *, is_best: bool
    ) -> None:
        """Paints a part (0..1) of a bar of this width."""
        colors = self._theme.colors
        place = QRectF(left, row * ROW_PX + (ROW_PX - _BAR_PX) / 2, width, _BAR_PX)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colors.field if colors.field != colors.panel else colors.hover))
        painter.drawRoundedRect(place, _RADIUS_PX, _RADIUS_PX)
        place.setWidth(max(_LEAST_BAR_PX, place.width() * min(1.0, max(0.0, part))))
        painter.setBrush(QColor(colors.accent if is_best else colors.faint))
        painter.drawRoundedRect(place, _RADIUS_PX, _RADIUS_PX)


# score bars ----------------------------------------------------------------------------------
# Ranked bars: a class a row, its bar, its percentage.

_NAME_SHARE = 0.4
"""Share of the width that names may have: longer ones are elided."""
_GAP_PX_SCORE_BARS, _FIGURE_PX = 12, 64


class ScoreBars(BarRows):
    """Shows (name, 0..1) pairs in the order given; while there are none, room for the first.

    Signals:
        chosen(str): The row of this name was clicked.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, 360, least_px=240)
        self.scores: list[tuple[str, float]] = []
        self.true_label = ""
        self._longest_px = 0
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        row = int(event.position().y() // ROW_PX)
        if event.button() == Qt.MouseButton.LeftButton and 0 <= row < len(self.scores):
            self.chosen.emit(self.scores[row][0])

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()

    def set_scores(self, scores: Sequence[tuple[str, float]], true_label: str = "") -> None:
        """Shows all rows; the true class, where known, is marked."""
        self.scores = list(scores)
        self.true_label = true_label
        words = [f"{name} {share(value)}" for name, value in self.scores[:NUM_ROWS]]
        self.setAccessibleName(", ".join(words))
        self.setToolTip(plain_tip("\n".join([*words, "", "Click a class to explain it."])))
        self._longest_px = self._longest()
        self._make_room(len(self.scores) or NUM_ROWS)

    def in_scroll_area(self) -> QScrollArea:
        """The bars as high as the first rows, and at least as wide as they have to be."""
        area = super().in_scroll_area()
        bar_px = area.verticalScrollBar().sizeHint().width()
        area.setMinimumWidth(self.minimumSizeHint().width() + bar_px)
        return area

    def _longest(self) -> int:
        """The width of the longest name, in pixels."""
        metrics = QFontMetrics(self._theme.font(13, weight=600, tabular=True))
        return max((metrics.horizontalAdvance(self._words(n)) for n, _ in self.scores), default=0)

    def paint(self, painter: QPainter) -> None:
        name_px = max(
            NAME_PX, min(self._longest_px + _GAP_PX_SCORE_BARS, int(_NAME_SHARE * self.width()))
        )
        for entry in self._rows_seen(len(self.scores)):
            self._paint_row(painter, entry, name_px, *self.scores[entry])

    def _words(self, name: str) -> str:
        return f"{name} ✓" if name == self.true_label else name

    def _paint_row(
        self, painter: QPainter, row: int, name_px: int, name: str, value: float
    ) -> None:
        is_best = row == 0
        painter.setFont(self._theme.font(13, weight=600 if is_best else 400, tabular=True))
        self._paint_name(painter, row, name_px - _GAP_PX_SCORE_BARS, self._words(name))
        beside_px = _GAP_PX_SCORE_BARS // 2 if len(self.scores) > NUM_ROWS else 0  # the scroll bar
        right = self.width() - beside_px
        self._paint_figure(painter, row, right, share(value))
        width = right - _FIGURE_PX - name_px
        self._paint_bar(painter, row, name_px, width, value, is_best=is_best)


# result card ---------------------------------------------------------------------------------

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
