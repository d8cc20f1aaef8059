"""The line above a plot: title, legend, log axis, and a menu."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable
from functools import partial
from typing import Any, TypeVar

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QIcon,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from workbench.gui.kit.buttons import IconButton
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, add_to, row
from workbench.gui.kit.theme import Theme

# curve button --------------------------------------------------------------------------------
# The name of a curve, with a piece of its line; a click hides the curve or shows it again.

SWATCH_PX = QSize(16, 12)
HOW = "Click to hide or show; double-click or Ctrl+click to show only this one"

K = TypeVar("K", bound=Hashable)


def only(key: K, keys: Collection[K], hidden: set[K]) -> set[K]:
    """What is hidden to show only `key`; nothing, where it was the only one."""
    others = set(keys) - {key}
    return set() if others and others <= hidden and key not in hidden else others


class CurveButton(QToolButton):
    """Checked while its curve is shown.

    Signals:
        shown: The user hides or shows the curve.
        only_asked: The user shows this curve alone, or all again.
    """

    shown = Signal(bool)
    only_asked = Signal()

    def __init__(self, text: str) -> None:
        super().__init__()
        self.setCheckable(True)
        self.setChecked(True)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setIconSize(SWATCH_PX)
        self.setText(text)
        self.setToolTip(HOW)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self._was_checked = True
        self.clicked.connect(self.shown)

    def set_line(
        self, color: str, faint: str, *, width: float = 2.0, has_dot: bool = False
    ) -> None:
        """Draws the piece of line: in its color, dotted and faint while it is hidden."""
        icon = QIcon()
        for state, shown in ((QIcon.State.On, color), (QIcon.State.Off, faint)):
            is_on = state == QIcon.State.On
            pen = QPen(QColor(shown), width)
            pen.setStyle(Qt.PenStyle.SolidLine if is_on else Qt.PenStyle.DotLine)
            pixmap = _line(pen, has_dot=has_dot and is_on)
            for mode in (QIcon.Mode.Normal, QIcon.Mode.Active):
                icon.addPixmap(pixmap, mode, state)
        self.setIcon(icon)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Ctrl+click shows this one alone; anything else is a click."""
        self._was_checked = self.isChecked()
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.only_asked.emit()
            event.accept()
            return
        super().mousePressEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Its first click has hidden or shown the curve: that is undone before."""
        event.accept()
        if event.button() == Qt.MouseButton.LeftButton:
            self.shown.emit(self._was_checked)
            self.only_asked.emit()


def _line(pen: QPen, *, has_dot: bool) -> QPixmap:
    pixmap = QPixmap(SWATCH_PX * 2)
    pixmap.setDevicePixelRatio(2.0)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(pen)
    painter.drawLine(1, 6, SWATCH_PX.width() - 1, 6)
    if has_dot:
        painter.setBrush(pen.color())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawEllipse(5, 3, 6, 6)
    painter.end()
    return pixmap


# mark strip ----------------------------------------------------------------------------------
# The line of words above a plot's inner area, where they hide no value.

HEIGHT_PX = 18
_GAP_PX = 12


class MarkStrip(pg.GraphicsWidget):  # type: ignore[misc]  # pyqtgraph ships no type information
    """Names a place of the x axis, above it, and holds a note at the other side.

    Args:
        theme: Colors and font.
        box: The inner area below.
    """

    def __init__(self, theme: Theme, box: Any) -> None:
        super().__init__()
        self._theme = theme
        self._box = box
        self._x: float | None = None
        self.words = ""
        self.note = ""
        box.sigXRangeChanged.connect(lambda *_range: self.update())
        box.sigResized.connect(lambda *_size: self.update())

    def set_mark(self, x: float | None, words: str) -> None:
        """Names a place of the x axis; None names nothing."""
        self._x, self.words = x, words if x is not None else ""
        self.update()

    def set_note(self, words: str) -> None:
        """Shows a note; "" for none."""
        if words != self.note:
            self.note = words
            self.update()

    def _words_font(self) -> QFont:
        return self._theme.font(11, weight=600, tabular=True)

    def places(self) -> tuple[tuple[QRectF, str], tuple[QRectF, str]]:
        """Rectangle and text of the mark and of the note, in this item's pixels; "" for what is not
        shown, as a mark outside the x range.
        """
        at = self._px()
        metrics = QFontMetricsF(self._words_font())
        note_px = math.ceil(metrics.horizontalAdvance(self.note))
        words = self.words if at is not None else ""
        if words and self.note and metrics.horizontalAdvance(words) + note_px > self._room():
            what, _, where = words.rpartition(": ")  # "best val. accuracy: epoch 6"
            words = f"{what.split(' ')[0]}: {where}" if what else words
        width = math.ceil(metrics.horizontalAdvance(words))
        x = max(0.0, min((at or 0.0) - width / 2, self.rect().width() - width))
        is_mark_left = x + width / 2 < self.rect().width() / 2
        note_x = self.rect().width() - note_px if is_mark_left and words else 0.0
        if words and self.note:  # both keep apart, however near the mark is to the middle
            x = min(x, note_x - _GAP_PX - width) if is_mark_left else max(x, note_px + _GAP_PX)
        height = self.rect().height()
        mark, note = QRectF(x, 0, width, height), QRectF(note_x, 0, note_px, height)
        return (mark, words), (note, self.note)

    def _room(self) -> float:
        return float(self.rect().width()) - _GAP_PX

    def _px(self) -> float | None:
        """Position of the mark, in this item's pixels; None outside the x range."""
        low, high = self._box.viewRange()[0]
        if self._x is None or not low <= self._x <= high:
            return None
        point = self._box.mapViewToScene(QPointF(self._x, 0.0))
        return float(self.mapFromScene(point).x())

    def paint(self, painter: QPainter, *_options: object) -> None:
        """Draws both."""
        colors = self._theme.colors
        (mark, words), (note, note_words) = self.places()
        painter.setFont(self._words_font())
        side = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
        painter.setPen(colors.text)
        painter.drawText(mark, side, words)
        painter.setPen(colors.dim)  # nearly every run has it: no warning
        painter.drawText(note, side, note_words)


# header --------------------------------------------------------------------------------------

_SPACING_PX = 4


class Swatch(QWidget):
    """A short line in the color of a curve."""

    def __init__(self, color: str) -> None:
        super().__init__()
        self._color = color
        self.setFixedSize(12, 12)

    def set_color(self, color: str) -> None:
        """Shows another color."""
        self._color = color
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QPen(QColor(self._color), 2.0))
        painter.drawLine(0, 6, 12, 6)
        painter.end()


def _toggle(text: str, tip: str) -> QToolButton:
    result = QToolButton()
    result.setText(text)
    result.setToolTip(plain_tip(tip))
    result.setAccessibleName(tip)
    result.setCheckable(True)
    result.setProperty("role", "toggle")
    return result


class PlotHeader(QWidget):
    """The controls of one plot. The menu is filled by the plot.

    Args:
        theme: Colors and icons.
        title: What is plotted.
        is_plain: For a single line: without legend and points by epoch.
        has_validation: Whether the legend names a second line.
        can_ignore: Whether values far from the rest can be left out of sight.

    Attributes:
        keys: The legend's buttons by the name of their line, "train" and "validation".

    `lines_changed` when another line is hidden or shown.
    """

    lines_changed = Signal()

    def __init__(
        self,
        theme: Theme,
        title: str,
        *,
        is_plain: bool = False,
        has_validation: bool = True,
        can_ignore: bool = True,
    ) -> None:
        super().__init__()
        self._is_plain = is_plain
        self._theme = theme
        self._hidden: set[str] = set()
        self.title = plain_label(title, role="strong")
        names = ("train", "validation") if has_validation else ("train",)
        self.keys = {} if is_plain else {name: CurveButton(f" {name}") for name in names}
        self.log = _toggle("Log", f"Logarithmic {title.lower()} axis")
        self.menu_button = IconButton(theme, "more", f"Options of the {title.lower()} plot")
        self.menu = QMenu(self)
        self.by_epoch = self.menu.addAction("Epoch averages")
        self.by_epoch.setCheckable(True)
        self.ignore_outliers = self.menu.addAction("Ignore outliers")
        self.ignore_outliers.setCheckable(True)
        self.ignore_outliers.setChecked(True)
        self.ignore_outliers.setVisible(can_ignore)
        self.menu_button.setMenu(self.menu)
        self.menu_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._build()

    def is_line_shown(self, name: str) -> bool:
        """Whether a line of the legend is to be seen; any that it does not name is."""
        return name not in self._hidden

    def color_keys(self) -> None:
        """Draws the legend as the lines are drawn, in the colors of the theme."""
        colors = self._theme.colors
        for name, key in self.keys.items():
            is_train = name == "train"
            color = colors.train if is_train else colors.validation
            key.set_line(color, colors.faint, has_dot=not is_train)

    def _hide(self, hidden: set[str]) -> None:
        self._hidden = hidden
        for name, key in self.keys.items():
            key.setChecked(name not in hidden)
        self.lines_changed.emit()

    def _on_shown(self, name: str, is_shown: bool) -> None:  # noqa: FBT001 - Qt's signal
        self._hide(self._hidden - {name} if is_shown else self._hidden | {name})

    def _on_only(self, name: str) -> None:
        self._hide(only(name, self.keys, self._hidden))

    def show_controls(self, *, is_shown: bool) -> None:
        """Hides what makes no sense in an image, or shows it again."""
        for part in (self.log, self.menu_button):
            part.setVisible(is_shown)

    def _build(self) -> None:
        line = row(self.title, STRETCH, parent=self, spacing=_SPACING_PX)
        for name, key in self.keys.items():
            key.setProperty("role", "key")
            key.setAccessibleName(f"{name} curve of the {self.title.text().lower()} plot")
            key.shown.connect(partial(self._on_shown, name))
            key.only_asked.connect(partial(self._on_only, name))
            add_to(line, key)
        self.color_keys()
        add_to(line, self.log, self.menu_button)
        self.by_epoch.setVisible(not self._is_plain)
