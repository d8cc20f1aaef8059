"""Why a picture got its class: a heat map over it, and the check of the map.

The maps are made by the worker (`workbench.worker.explain`) and colored by the functions that the
terminal uses too (`heat_colors`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QImage,
    QImageReader,
    QLinearGradient,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QResizeEvent,
)
from PySide6.QtWidgets import QSizePolicy, QSlider, QWidget

from workbench.client.service_process import AnswerLoader
from workbench.core.evaluation.significance import comparison_words
from workbench.core.format import duration, share
from workbench.core.outside_text import csv_cells
from workbench.errors import PictureError, WorkbenchError
from workbench.gui.classify.answers import ClassifiedPicture
from workbench.gui.classify.state import ClassifyState, WhenSeen
from workbench.gui.common.figure_saver import FigureSaver, SaveFigureButton, figure_file
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.gui.kit.buttons import button
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.layout import STRETCH, Stretch, column, row
from workbench.gui.kit.theme import Theme
from workbench.gui.kit.widgets import Box, WaitLabel
from workbench.pictures.heat import OPACITY, heat_colors
from workbench.protocol.trained.explain import Explain, Explained, Method

# maps ----------------------------------------------------------------------------------------
# Heat maps as they are shown: read and colored.

LEVELS = 256


@dataclass(frozen=True)
class ShownMap:
    """An explanation and its maps in memory.

    Attributes:
        answer: The worker's answer.
        heat, check: The map, and the one with random weights, as colors with alpha; no `check`
            (null) where it was not requested.
        levels: The map as rows of its levels, 1 to 255; 0 where the model does not see the picture.
    """

    answer: Explained
    heat: QImage
    check: QImage
    levels: tuple[bytes, ...]


def load_maps(answer: Explained) -> ShownMap:
    """Reads the files of an answer.

    Raises:
        PictureError: a file is not there any more.
    """
    levels = _read(answer.heat_png)
    check = _colored(_read(answer.check_png)) if answer.check_png else QImage()
    return ShownMap(answer, _colored(levels), check, _rows(levels))


def _read(path: str) -> QImage:
    image = QImageReader(path).read()
    if image.isNull():
        what = "The heat map could not be read."
        raise PictureError(what, where=Path(path).name, fix="Request it again.")
    return image.convertToFormat(QImage.Format.Format_Grayscale8)


def _rows(levels: QImage) -> tuple[bytes, ...]:
    data, step = bytes(levels.constBits()), levels.bytesPerLine()
    return tuple(data[y * step : y * step + levels.width()] for y in range(levels.height()))


def _colored(levels: QImage) -> QImage:
    """An image of levels in the colors of heat maps."""
    width, height, step = levels.width(), levels.height(), levels.bytesPerLine()
    indexed = QImage(levels.constBits(), width, height, step, QImage.Format.Format_Indexed8).copy()
    colors = heat_colors(np.arange(LEVELS, dtype=np.uint8)).tolist()
    indexed.setColorTable([a << 24 | r << 16 | g << 8 | b for r, g, b, a in colors])
    return indexed.convertToFormat(QImage.Format.Format_ARGB32_Premultiplied)


# figure --------------------------------------------------------------------------------------
# The picture with its heat map over it, and beside it the map of random weights.

_LEAST_PX_FIGURE, _HINT_PX = 150, 300
_WORDS_PX, _GAP_PX, _RADIUS_PX = 20, 10, 8
_BAR_PX = 8
_STOPS = 9


@dataclass(frozen=True)
class Layer:
    """A map over the picture, and words below it; "" leaves no room for them."""

    heat: QImage
    words: str = ""


class MapFigure(QWidget):
    """Draws the picture once for each map, as large as fits, with a legend of the colors."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._picture = QImage()
        self._layers: tuple[Layer, ...] = ()
        self._opacity = OPACITY
        self.setMinimumSize(QSize(_LEAST_PX_FIGURE, _LEAST_PX_FIGURE))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The maps that are shown."""
        return self._layers

    @property
    def opacity(self) -> float:
        """Opacity of the maps over the picture, 0..1."""
        return self._opacity

    def sizeHint(self) -> QSize:
        return QSize(_HINT_PX, _HINT_PX)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_height()

    def _fit_height(self) -> None:
        """Takes no more height than the pictures need below each other; that follows from its width
        alone, so that no layout goes round in circles.
        """
        if self._picture.isNull():
            return
        count = max(1, len(self._layers))
        picture = self.width() * self._picture.height() / self._picture.width()
        each = picture + (_WORDS_PX if count > 1 else 0)
        height = count * each + (count - 1) * _GAP_PX + _WORDS_PX + _GAP_PX
        self.setMaximumHeight(max(_LEAST_PX_FIGURE, round(height)))

    def set_picture(self, picture: QImage) -> None:
        """Shows a picture without a map; null shows nothing."""
        self._picture = picture
        self.set_layers((), "")

    def set_layers(self, layers: tuple[Layer, ...], words: str) -> None:
        """Lays maps over the picture; the words describe them for those who cannot see them."""
        self._layers = layers
        self.setAccessibleName(words or "The picture")
        self._fit_height()
        self.update()

    def set_opacity(self, opacity: float) -> None:
        """Sets how much the maps cover the picture, 0..1."""
        self._opacity = opacity
        self.update()

    def places(self) -> list[QRectF]:
        """Rectangles of the pictures, in pixels: beside or below each other, whichever makes them
        larger.
        """
        if self._picture.isNull():
            return []
        count = max(1, len(self._layers))
        rows = [_divided(self._room(), count, is_row=is_row) for is_row in (True, False)]
        sizes = [[self._fitted(place) for place in places] for places in rows]
        return max(sizes, key=lambda places: places[0].width())

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
        painter.setFont(self._theme.font(12))
        layers = self._layers or (Layer(QImage()),)
        for place, layer in zip(self.places(), layers, strict=False):
            self._paint(painter, place, layer)
        if self._layers and not self._picture.isNull():
            self._paint_legend(painter)
        painter.end()

    def _room(self) -> QRectF:
        return QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5 - _WORDS_PX - _GAP_PX)

    def _fitted(self, place: QRectF) -> QRectF:
        words = _WORDS_PX if any(layer.words for layer in self._layers) else 0
        room = place.adjusted(0, 0, 0, -words)
        size = self._picture.size().toSizeF()
        scale = max(0.0, min(room.width() / size.width(), room.height() / size.height()))
        result = QRectF(0, 0, size.width() * scale, size.height() * scale)
        result.moveCenter(QPointF(room.center()))
        return result

    def _paint(self, painter: QPainter, place: QRectF, layer: Layer) -> None:
        colors = self._theme.colors
        outline = QPainterPath()
        outline.addRoundedRect(place, _RADIUS_PX, _RADIUS_PX)
        painter.save()
        painter.setClipPath(outline)
        painter.drawImage(place, self._picture)
        if not layer.heat.isNull():
            painter.setOpacity(self._opacity)
            painter.drawImage(place, layer.heat)
        painter.restore()
        painter.setPen(QPen(QColor(colors.line), 1))
        painter.drawPath(outline)
        if layer.words:
            painter.setPen(QColor(colors.dim))
            below = QRectF(place.left() - _GAP_PX, place.bottom(), place.width() + 2 * _GAP_PX, 0)
            below.setHeight(_WORDS_PX)
            painter.drawText(below, Qt.AlignmentFlag.AlignCenter, layer.words)

    def _paint_legend(self, painter: QPainter) -> None:
        """Paints a bar of the colors between “less” and “more evidence”."""
        line = QRectF(0, self.height() - _WORDS_PX, self.width(), _WORDS_PX)
        words = ("less", "more evidence")
        left, right = (painter.fontMetrics().horizontalAdvance(each) + _GAP_PX for each in words)
        painter.setPen(QColor(self._theme.colors.dim))
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(line, middle | Qt.AlignmentFlag.AlignLeft, words[0])
        painter.drawText(line, middle | Qt.AlignmentFlag.AlignRight, words[1])
        bar = QRectF(left, 0, max(0.0, line.width() - left - right), _BAR_PX)
        bar.moveTop(line.center().y() - _BAR_PX / 2)
        gradient = QLinearGradient(bar.topLeft(), bar.topRight())
        levels = np.linspace(1, LEVELS - 1, _STOPS).astype(np.uint8)
        for at, color in zip(np.linspace(0, 1, _STOPS), heat_colors(levels).tolist(), strict=True):
            gradient.setColorAt(float(at), QColor(*color))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(gradient)
        painter.drawRoundedRect(bar, _BAR_PX / 2, _BAR_PX / 2)
        painter.setBrush(Qt.BrushStyle.NoBrush)


def _divided(room: QRectF, count: int, *, is_row: bool) -> list[QRectF]:
    """Equal parts of a room, beside or below each other."""
    whole = room.width() if is_row else room.height()
    part = (whole - (count - 1) * _GAP_PX) / count
    starts = [number * (part + _GAP_PX) for number in range(count)]
    if is_row:
        return [QRectF(room.left() + at, room.top(), part, room.height()) for at in starts]
    return [QRectF(room.left(), room.top() + at, room.width(), part) for at in starts]


# words ---------------------------------------------------------------------------------------
# What an explanation says, in words for people who have not met heat maps before. Qt-free.

AT_LAST = "gradcam_last"
"""Grad-CAM at the same layer for each picture, so that maps can be compared."""

METHODS: tuple[tuple[str, str, str], ...] = (
    ("gradcam", "Grad-CAM", "Where convolutions find evidence for the class"),
    (AT_LAST, "Grad-CAM (last)", "The same at the last convolution, for each picture"),
    ("gradients", "Gradients", "The pixels that would change the score of the class most"),
    ("occlusion", "Occlusion", "How far the probability falls where a patch covers the picture"),
)
"""Key, title and tooltip of each method."""


def title_of(method: Method) -> str:
    """The name of a method."""
    return next(title for key, title, _ in METHODS if key == method)


def facts_of(answer: Explained) -> str:
    """What is shown: method, class, layers, time."""
    where = f" at {', '.join(answer.layers)}" if answer.method == "gradcam" else ""
    took = duration(answer.milliseconds / 1000)
    name = f"“{answer.class_name}” ({share(answer.probability)})"
    return f"{title_of(answer.method)}{where} for {name}, {took}"


def layer_words(answer: Explained, *, is_fixed: bool) -> str:
    """Why it is these layers; "" for methods without layers."""
    if answer.method != "gradcam":
        return ""
    if is_fixed:
        return "The last convolution, the same for each picture."
    return (
        "Tried at up to eight layers; shown is the map that counts most for this answer. Another "
        "picture, class or run may have another layer."
    )


# panel ---------------------------------------------------------------------------------------
# Explanation: which places of the picture count for a class.

_HINT = "Drop a picture: a heat map shows where in it the evidence for a class is."
_LEAST_PX = 270
_PERCENT = 100


class ExplanationPanel(Box):
    """Method, class, the picture with the map over it, and the check with random weights."""

    def __init__(self, state: ClassifyState) -> None:
        super().__init__("card", 16, 8)
        self.setAccessibleName("Explanation")
        theme = state.context.theme
        self._state = state
        self._entry: ClassifiedPicture | None = None
        self._map: ShownMap | None = None
        self._when_seen = WhenSeen(self)
        self.maps = AnswerLoader(state.context.service, state.background, load_maps, self)
        self.method, self.class_box = NoWheelComboBox(), NoWheelComboBox()
        self.figure = MapFigure(theme)
        self.opacity = QSlider(Qt.Orientation.Horizontal)
        self.check = button("Compare with random weights")
        self.menu_button = SaveFigureButton(theme, "heat map")
        self.wait = WaitLabel()
        self.note = plain_label(wrap=True)
        self.hint = plain_label(_HINT, role="dim", wrap=True)
        self.body = QWidget()
        self._build()
        self._connect()
        self.clear()

    def _build(self) -> None:
        self.setMinimumWidth(_LEAST_PX)
        for key, title, tip in METHODS:
            self.method.addItem(title, key)
            self.method.setItemData(self.method.count() - 1, tip, Qt.ItemDataRole.ToolTipRole)
        for box, name in ((self.method, "Method"), (self.class_box, "Class to explain")):
            box.setAccessibleName(name)
            box.setToolTip(name)
        self.method.setSizeAdjustPolicy(NoWheelComboBox.SizeAdjustPolicy.AdjustToContents)
        self.check.setToolTip(
            "Repeats the map with the network's weights in random places.\n"
            "A map that stays the same shows the picture, and nothing of what was learned."
        )
        self.opacity.setRange(0, _PERCENT)
        self.opacity.setValue(round(OPACITY * _PERCENT))
        self.opacity.setAccessibleName("Opacity of the heat map")
        self.opacity.setToolTip("Opacity of the heat map")
        self.saver = FigureSaver(self, self._state.background, "heat-map", "heat map", self._writer)
        self.menu_button.set_saver(self.saver)
        column(
            row(self.method, (self.class_box, 1), spacing=8),
            (self.figure, 1),
            row(plain_label("Opacity", role="dim"), (self.opacity, 1), self.menu_button, spacing=8),
            self.wait,
            self.note,
            row(self.check, STRETCH),
            Stretch(0),
            parent=self.body,
            spacing=8,
        )
        self.column.addWidget(self.hint)
        self.column.addWidget(self.body, 1)
        self.column.addStretch(0)

    def _connect(self) -> None:
        state = self._state
        state.shown.connect(self.show_entry)
        state.class_chosen.connect(self.explain_class)
        state.cleared.connect(self.clear)
        state.outdated.connect(self._on_outdated)
        self.saver.said.connect(state.said)
        self.method.activated.connect(lambda _index: self._request())
        self.class_box.activated.connect(lambda _index: self._request())
        self.class_box.currentTextChanged.connect(self._show_class)
        self.opacity.valueChanged.connect(lambda value: self.figure.set_opacity(value / _PERCENT))
        self.check.clicked.connect(lambda: self._request(with_check=True))
        self.maps.waiting.connect(self.wait.wait_for)
        self.maps.loaded.connect(self._on_explained)
        self.maps.failed.connect(self._on_failed)

    def clear(self) -> None:
        """Shows no explanation: no picture is shown, or it could not be read."""
        self._entry = None
        self._forget_map()
        self.figure.set_picture(QImage())
        self.body.hide()
        self.hint.show()

    def show_entry(self, entry: ClassifiedPicture) -> None:
        """Explains the most probable class of another picture."""
        if entry.answer.error is not None or self._state.is_outdated(entry):
            self.clear()
            return
        self._entry = entry
        self.figure.set_picture(entry.picture)
        self.class_box.clear()
        for score in entry.answer.scores:
            self.class_box.addItem(score.name, score.name)
        self.hint.hide()
        self.body.show()
        self._request()

    def explain_class(self, name: str) -> None:
        """Explains another class of the picture."""
        if (index := self.class_box.findData(name)) >= 0:
            self.class_box.setCurrentIndex(index)
            self._request()

    def _request(self, *, with_check: bool = False) -> None:
        self._forget_map()
        self._when_seen.do(lambda: self._explain(with_check=with_check))

    def _explain(self, *, with_check: bool) -> None:
        entry, run = self._entry, self._state.run
        if entry is None or run is None:
            return
        self.wait.wait_for("Computing the heat map")
        self.maps.ask(
            Explain(
                id=0,
                model=str(run),
                picture=entry.answer.file,
                class_name=str(self.class_box.currentData()),
                method="gradcam" if self._is_at_last else self.method.currentData(),
                at_last=self._is_at_last,
                with_check=with_check,
            )
        )

    @property
    def _is_at_last(self) -> bool:
        return bool(self.method.currentData() == AT_LAST)

    def _show_class(self, name: str) -> None:
        self.class_box.setToolTip(plain_tip(f"Class to explain: {name}"))

    def _on_outdated(self) -> None:
        """Drops the map, as another run answers: its map follows its answer."""
        self._forget_map()
        self.wait.say("")

    def _forget_map(self) -> None:
        self.maps.drop()
        self._map = None
        self.wait.setToolTip("")
        self.figure.set_layers((), "")
        self.note.hide()
        self.check.setEnabled(False)
        self.menu_button.setEnabled(False)

    def _on_explained(self, shown: ShownMap) -> None:
        self._map = shown
        answer, is_checked = shown.answer, not shown.check.isNull()
        words = facts_of(answer)
        layers = [Layer(shown.heat, "This network" if is_checked else "")]
        if is_checked:
            layers.append(Layer(shown.check, "Random weights"))
        self.figure.set_layers(tuple(layers), f"Heat map: {words}")
        self.wait.say(words)
        self.wait.setToolTip(plain_tip(layer_words(answer, is_fixed=self._is_at_last)))
        notes = [answer.note] if answer.note else []
        if is_checked:
            notes.append(comparison_words(answer.correlation))
        self.note.setText(" ".join(notes))
        self.note.setVisible(bool(notes))
        self.check.setEnabled(not is_checked)
        self.menu_button.setEnabled(True)

    def _on_failed(self, error: WorkbenchError) -> None:
        self.wait.say(error.brief, is_bad=True)

    def _writer(self, path: Path) -> Callable[[], None]:
        return figure_file(path, self.figure, self.figure.accessibleName(), self._table)

    def _table(self) -> str:
        """The map as a table: a row of levels, 1 to 255, for each row of the picture."""
        rows = self._map.levels if self._map is not None else ()
        return "".join(f"{csv_cells(values)}\n" for values in rows)
