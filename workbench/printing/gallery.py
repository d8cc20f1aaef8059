"""Images side by side on paper, with their captions."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter

from workbench.printing.sheet import Sheet
from workbench.printing.text import POINT, Style, TextBox
from workbench.report.blocks import Gallery, Picture

_TITLE = Style(10, is_bold=True)
_STRONG, _LINE = Style(8, is_bold=True), Style(7.5, color="dim")
_GAP, _PAD = 8 * POINT, 5 * POINT
_MOST_LINES = 2


def gallery_row_height(sheet: Sheet, gallery: Gallery) -> float:
    """The title and the first row."""
    return _TITLE.line_height + _row_height(sheet, gallery, gallery.pictures)


def paint_gallery(sheet: Sheet, gallery: Gallery) -> None:
    """Paints the images in rows; a row is never parted."""
    columns = _columns(gallery)
    sheet.need(gallery_row_height(sheet, gallery))
    sheet.paragraph(gallery.title, _TITLE)
    sheet.y += 3 * POINT
    for start in range(0, len(gallery.pictures), columns):
        row = gallery.pictures[start : start + columns]
        height = _row_height(sheet, gallery, row)
        sheet.need(height)
        for place, picture in enumerate(row):
            x = sheet.left + place * (_width(sheet, gallery) + _GAP)
            _paint(sheet, picture, QRectF(x, sheet.y, _width(sheet, gallery), height))
        sheet.y += height + _GAP


def _columns(gallery: Gallery) -> int:
    return 3 if any(picture.heat_jpeg is not None for picture in gallery.pictures) else 4


def _width(sheet: Sheet, gallery: Gallery) -> float:
    columns = _columns(gallery)
    return (sheet.width - _GAP * (columns - 1)) / columns


def _image_side(picture: Picture, width: float) -> float:
    inner = width - 2 * _PAD
    return inner if picture.heat_jpeg is None else (inner - _PAD) / 2


def _texts(picture: Picture, width: float) -> list[TextBox]:
    inner = width - 2 * _PAD
    return [
        TextBox(line, _LINE if number else _STRONG, inner, most=_MOST_LINES)
        for number, line in enumerate(picture.lines)
    ]


def _row_height(sheet: Sheet, gallery: Gallery, row: list[Picture]) -> float:
    width = _width(sheet, gallery)
    return max(
        _image_side(picture, width) + sum(box.height for box in _texts(picture, width)) + 3 * _PAD
        for picture in row
    )


def _paint(sheet: Sheet, picture: Picture, area: QRectF) -> None:
    sheet.box(area, "background", "line")
    bar = QRectF(area.left(), area.top(), area.width(), 2 * POINT)
    sheet.painter.fillRect(bar, QColor(sheet.color(picture.tone or "line")))
    side = _image_side(picture, area.width())
    x, y = area.left() + _PAD, area.top() + _PAD + POINT
    for data in filter(None, (picture.jpeg, picture.heat_jpeg)):
        _paint_image(sheet.painter, data, QRectF(x, y, side, side))
        x += side + _PAD
    y += side + _PAD / 2
    for box in _texts(picture, area.width()):
        box.draw(sheet.painter, area.left() + _PAD, y, sheet.color(box.style.color))
        y += box.height


def _paint_image(painter: QPainter, jpeg: bytes, area: QRectF) -> None:
    """Paints an image within a square, its proportions kept."""
    image = QImage.fromData(jpeg)
    if image.isNull():
        return
    size = image.size().scaled(area.size().toSize(), Qt.AspectRatioMode.KeepAspectRatio)
    x = area.left() + (area.width() - size.width()) / 2
    y = area.top() + (area.height() - size.height()) / 2
    painter.drawImage(QRectF(x, y, size.width(), size.height()), image)
