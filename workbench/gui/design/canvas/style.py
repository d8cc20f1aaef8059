"""Colors, pens, fonts and outlines that all items of one canvas share."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPainterPath,
    QPen,
    QStaticText,
)

from workbench.core.network.graph import Training
from workbench.core.network.layout import NODE_WIDTH
from workbench.gui.kit.theme import Theme

RADIUS = 8.0
STRIP_WIDTH = 5.0
PADDING = 16.0
PORT_RADIUS = 4.5
_MARK_RADIUS = 6.0
_MARK_ROOM = 17.0
_PART_GAP = 12.0
_LEAST_WORDS = 40.0
_WORD_STARTS = re.compile("(?<=[a-z])(?=[A-Z0-9])")

Part = tuple[Training, str]
"""Words, and when what they are about learns: "always" for words without a mark."""

_LINE = Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine
LEFT = int(Qt.AlignmentFlag.AlignLeft | _LINE)
RIGHT = int(Qt.AlignmentFlag.AlignRight | _LINE)
CENTER = int(Qt.AlignmentFlag.AlignHCenter | _LINE)
DETAIL_FROM = 0.35
"""Below this scale texts of the usual size cannot be read: cards show their type alone, large."""
KIND_FROM = 0.15
"""Below this scale a card has no room for that either: it is a plain box."""
_FAR_TEXT_PX, _LARGEST_TEXT = 9.5, 34
"""Smallest size on the screen, and largest in the scene, of a type seen from far away."""


@dataclass(frozen=True)
class TextStyle:
    """A font and the color it is written in."""

    font: QFont
    color: QColor
    metrics: QFontMetricsF = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "metrics", QFontMetricsF(self.font))

    def draw(self, painter: QPainter, place: QRectF, text: str, flags: int = LEFT) -> None:
        """Draws a text in a place; `flags` are Qt's for alignment and lines."""
        painter.setFont(self.font)
        painter.setPen(self.color)
        painter.drawText(place, flags, text)

    def cut(self, text: str, width: float) -> str:
        """A class name that fills a width: its longest words lose their ends, as in "MaxPool2D"."""
        words = _WORD_STARTS.split(text)
        while any(words) and self.metrics.horizontalAdvance("".join(words)) > width:
            longest = max(range(len(words)), key=lambda at: len(words[at]))
            words[longest] = words[longest][:-1]
        return "".join(words)

    def elided(self, text: str, width: float) -> str:
        """A text, shortened to a width in pixels."""
        return self.metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)

    def elided_name(self, name: str, width: float) -> str:
        """A name, shortened in its middle: names of layers often differ only at the end."""
        return self.metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, width)


class CanvasStyle:
    """What items paint with, made once per theme instead of at every repaint."""

    def __init__(self, theme: Theme) -> None:
        self.theme = theme
        self._cards: dict[float, tuple[QPainterPath, QPainterPath]] = {}
        self.refresh()

    def refresh(self) -> None:
        """Takes colors and fonts from the theme again."""
        colors = self.theme.colors
        self._categories: dict[str, QColor] = {}
        self.canvas = QColor(colors.canvas)
        self.panel = QColor(colors.panel)
        self.text = QColor(colors.text)
        self.dim = QColor(colors.dim)
        self.faint = QColor(colors.faint)
        self.accent = QColor(colors.accent)
        self.accent_text = QColor(colors.accent_text)
        self.accent_soft = QColor(colors.accent_soft)
        self.bad = QColor(colors.bad)
        self.bad_soft = QColor(colors.bad_soft)
        self.warning = QColor(colors.warning)
        self.hover = QColor(colors.hover)
        self.line = QColor(colors.line)
        tones: dict[str, str] = {"never": colors.frozen, "fine_tuning": colors.fine_tuning}
        self._trainings = {key: QColor(tone) for key, tone in tones.items()}
        self.frame_fill = _between(self.canvas, self.panel)
        self.frame_bar = QColor(colors.hover)
        self._make_pens()
        self._make_fonts()

    def _make_pens(self) -> None:
        self.border_pen = QPen(self.line, 1)
        self.edge_pen = QPen(self.faint, 1.6)
        self.edge_pen.setCapStyle(Qt.PenCapStyle.FlatCap)
        self.far_edge_pen = QPen(self.faint, 1)
        self.far_edge_pen.setCosmetic(True)
        self.hot_edge_pen = QPen(self.accent, 2.4)
        self.selected_edge_pen = QPen(self.accent, 4.0)
        self.far_selected_edge_pen = QPen(self.accent, 3)
        self.far_selected_edge_pen.setCosmetic(True)
        self.selected_pen = QPen(self.accent, 2)
        self.far_selected_pen = QPen(self.accent, 2)
        self.far_selected_pen.setCosmetic(True)
        self.bad_pen = QPen(self.bad, 1.2)
        self.bad_line_pen = QPen(self.bad, 2.4)
        self.warning_pen = QPen(self.warning, 1.2)
        # A layer that a text names is no layer with a problem: not in the color of warnings.
        self.marked_pen = QPen(self.dim, 1.6, Qt.PenStyle.DotLine)
        self.far_marked_pen = QPen(self.dim, 2.4, Qt.PenStyle.DotLine)
        self.far_marked_pen.setCosmetic(True)
        self.placeholder_pen = QPen(self.faint, 1, Qt.PenStyle.DashLine)
        self.frame_pen = QPen(self.faint, 1)
        self.mark_pens = {key: _round_pen(color, 1.25) for key, color in self._trainings.items()}
        self.chevron_pen = _round_pen(self.dim, 1.8)
        self.ghost_pen = QPen(self.accent, 1.4, Qt.PenStyle.DashLine)

    def _make_fonts(self) -> None:
        self._far_texts: dict[tuple[str, int, int], tuple[QStaticText, QFont]] = {}
        self._far_widths: dict[str, float] = {}
        font = self.theme.font
        self.title_ink = TextStyle(font(13, weight=600), self.text)
        self.words_ink = TextStyle(font(12), self.dim)
        self.link_ink = TextStyle(font(12), self.accent)
        self.count_ink = TextStyle(font(12, tabular=True), self.dim)
        self.shape_ink = TextStyle(font(11, tabular=True), self.dim)
        self.body_ink = TextStyle(font(12), self.text)
        self.button_ink = TextStyle(font(12, weight=600), self.text)
        self.primary_ink = TextStyle(font(12, weight=600), self.accent_text)
        self.badge_ink = TextStyle(font(11, weight=600), self.panel)

    def draw_far(self, painter: QPainter, place: QRectF, text: str, scale: float) -> None:
        """Writes a text from far away: it fills the place, and can be read at the scale.

        Laid out texts are kept: hundreds are drawn at once there.
        """
        size = self._far_size(text, place.width(), scale)
        key = text, size, round(place.width())
        if key not in self._far_texts:
            ink = TextStyle(self.theme.font(size, weight=600), self.text)
            laid_out = QStaticText(ink.cut(text, place.width()))
            laid_out.setTextFormat(Qt.TextFormat.PlainText)
            laid_out.prepare(font=ink.font)
            self._far_texts[key] = laid_out, ink.font
        laid_out, font = self._far_texts[key]
        painter.setFont(font)
        painter.setPen(self.text)
        top = place.center().y() - laid_out.size().height() / 2
        painter.drawStaticText(QPointF(place.left(), top), laid_out)

    def _far_size(self, text: str, width: float, scale: float) -> int:
        """Font size in scene pixels."""
        if text not in self._far_widths:
            metrics = QFontMetricsF(self.theme.font(_LARGEST_TEXT, weight=600))
            self._far_widths[text] = max(1.0, metrics.horizontalAdvance(text))
        filled = _LARGEST_TEXT * width / self._far_widths[text]
        return round(max(_FAR_TEXT_PX / scale, min(_LARGEST_TEXT, filled)))

    def category_color(self, category: str) -> QColor:
        """The strip's color of a layer category."""
        if category not in self._categories:
            self._categories[category] = QColor(self.theme.category_color(category))
        return self._categories[category]

    def draw_trainings(
        self,
        painter: QPainter,
        right: float,
        height: float,
        trainings: Sequence[Training],
        width: float = STRIP_WIDTH,
    ) -> None:
        """Draws the stripe at the right side of a card: when its layers learn, the first one's part
        at the top. That of fine-tuning is broken, so that it differs not by color alone.
        """
        if all(training == "always" for training in trainings):
            return
        card, _ = self.card_paths(height)
        painter.save()
        painter.setClipPath(card, Qt.ClipOperation.IntersectClip)
        step = height / len(trainings)
        for number, training in enumerate(trainings):
            color = self._trainings.get(training)
            part = QRectF(right - width, number * step, width, step + 0.5)
            if color is not None:
                is_broken = training == "fine_tuning"
                brush = QBrush(color, Qt.BrushStyle.Dense4Pattern) if is_broken else QBrush(color)
                painter.fillRect(part, brush)
        painter.restore()

    def draw_training_mark(self, painter: QPainter, center: QPointF, training: Training) -> None:
        """Draws a snowflake for what is frozen, a half filled circle for what is fine-tuned."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self.mark_pens[training])
        painter.setBrush(Qt.BrushStyle.NoBrush)
        if training == "never":
            painter.drawPath(_SNOWFLAKE.translated(center))
            return
        painter.drawEllipse(center, _MARK_RADIUS - 1, _MARK_RADIUS - 1)
        painter.setBrush(self._trainings[training])
        size = 2 * (_MARK_RADIUS - 1)
        place = QRectF(center.x() - size / 2, center.y() - size / 2, size, size)
        painter.drawPie(place, -90 * 16, 180 * 16)

    def draw_words(self, painter: QPainter, place: QRectF, parts: Sequence[Part]) -> None:
        """Draws words one behind the other, those about training behind its mark, as far as they
        fit.
        """
        left = place.left()
        for training, text in parts:
            if training in self.mark_pens and place.right() - left > _MARK_ROOM:
                self.draw_training_mark(painter, QPointF(left + 6, place.center().y()), training)
                left += _MARK_ROOM
            room = QRectF(left, place.top(), max(0.0, place.right() - left), place.height())
            needed = self.words_ink.metrics.horizontalAdvance(text)
            if needed > room.width() < _LEAST_WORDS:
                return  # one letter and dots would say nothing
            shown = self.words_ink.elided(text, room.width())
            self.words_ink.draw(painter, room, shown)
            left += self.words_ink.metrics.horizontalAdvance(text) + _PART_GAP

    def draw_chevron(self, painter: QPainter, center: QPointF, *, is_down: bool) -> None:
        """Draws the sign of a button that opens (down) or folds (up) a group."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(self.chevron_pen)
        dy = 2.5 if is_down else -2.5
        x, y = center.x(), center.y()
        painter.drawPolyline([QPointF(x - 5, y - dy), QPointF(x, y + dy), QPointF(x + 5, y - dy)])

    def card_paths(self, height: float) -> tuple[QPainterPath, QPainterPath]:
        """Outline of a card of this height, and of the strip at its left."""
        if height not in self._cards:
            card = QPainterPath()
            card.addRoundedRect(QRectF(0, 0, NODE_WIDTH, height), RADIUS, RADIUS)
            strip = QPainterPath()
            strip.addRect(QRectF(0, 0, STRIP_WIDTH, height))
            self._cards[height] = card, card.intersected(strip)
        return self._cards[height]


def _round_pen(color: QColor, width: float) -> QPen:
    pen = QPen(color, width)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    return pen


def _between(a: QColor, b: QColor) -> QColor:
    """The color in the middle of two."""
    return QColor(
        (a.red() + b.red()) // 2, (a.green() + b.green()) // 2, (a.blue() + b.blue()) // 2
    )


def _snowflake() -> QPainterPath:
    """Six arms, three of them with two twigs, around (0, 0)."""
    path = QPainterPath()
    for number in range(6):
        angle = math.pi / 3 * number + math.pi / 6

        def at(part: float, turn: float = 0.0, angle: float = angle) -> QPointF:
            away = part * _MARK_RADIUS
            return QPointF(away * math.cos(angle + turn), away * math.sin(angle + turn))

        path.moveTo(QPointF())
        path.lineTo(at(1.0))
        if number % 2:
            path.moveTo(at(0.9, 0.42))
            path.lineTo(at(0.52))
            path.lineTo(at(0.9, -0.42))
    return path


_SNOWFLAKE = _snowflake()


def rounded_path(points: list[QPointF], radius: float = 10.0) -> QPainterPath:
    """A line through points with round corners; falling diagonals become S-curves."""
    path = QPainterPath(points[0])
    for index in range(1, len(points)):
        before, here = points[index - 1], points[index]
        if here.x() != before.x() and here.y() > before.y():
            middle = (before.y() + here.y()) / 2
            path.cubicTo(QPointF(before.x(), middle), QPointF(here.x(), middle), here)
        elif index + 1 < len(points) and _turns(before, here, points[index + 1]):
            after = points[index + 1]
            path.lineTo(_towards(here, before, radius))
            path.quadTo(here, _towards(here, after, radius))
        else:
            path.lineTo(here)
    return path


def _turns(before: QPointF, here: QPointF, after: QPointF) -> bool:
    """True at a right angle between a level and an upright stretch."""
    into_level, out_level = before.y() == here.y(), here.y() == after.y()
    into_upright, out_upright = before.x() == here.x(), here.x() == after.x()
    return (into_level and out_upright) or (into_upright and out_level)


def _towards(start: QPointF, end: QPointF, distance: float) -> QPointF:
    delta = end - start
    length = (delta.x() ** 2 + delta.y() ** 2) ** 0.5
    part = min(0.5, distance / length) if length else 0.0
    return start + delta * part
