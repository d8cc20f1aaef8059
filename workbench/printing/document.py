"""A whole report on paper: title, then section by section."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from PySide6.QtCore import QByteArray, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

from workbench.printing.sheet import POINT, Sheet, Style, TextBox
from workbench.report.blocks import (
    LIGHT,
    Block,
    Document,
    Facts,
    Figure,
    Gallery,
    Label,
    Picture,
    Role,
    Section,
    Table,
    Text,
)
from workbench.report.page import svg

# gallery -------------------------------------------------------------------------------------
# Images side by side on paper, with their captions.

_TITLE_GALLERY = Style(10, is_bold=True)
_STRONG, _LINE = Style(8, is_bold=True), Style(7.5, color="dim")
_GAP_GALLERY, _PAD_GALLERY = 8 * POINT, 5 * POINT
_MOST_LINES_GALLERY = 2


def gallery_row_height(sheet: Sheet, gallery: Gallery) -> float:
    """The title and the first row."""
    return _TITLE_GALLERY.line_height + _row_height(sheet, gallery, gallery.pictures)


def paint_gallery(sheet: Sheet, gallery: Gallery) -> None:
    """Paints the images in rows; a row is never parted."""
    columns = _columns(gallery)
    sheet.need(gallery_row_height(sheet, gallery))
    sheet.paragraph(gallery.title, _TITLE_GALLERY)
    sheet.y += 3 * POINT
    for start in range(0, len(gallery.pictures), columns):
        row = gallery.pictures[start : start + columns]
        height = _row_height(sheet, gallery, row)
        sheet.need(height)
        for place, picture in enumerate(row):
            x = sheet.left + place * (_width(sheet, gallery) + _GAP_GALLERY)
            _paint(sheet, picture, QRectF(x, sheet.y, _width(sheet, gallery), height))
        sheet.y += height + _GAP_GALLERY


def _columns(gallery: Gallery) -> int:
    return 3 if any(picture.heat_jpeg is not None for picture in gallery.pictures) else 4


def _width(sheet: Sheet, gallery: Gallery) -> float:
    columns = _columns(gallery)
    return (sheet.width - _GAP_GALLERY * (columns - 1)) / columns


def _image_side(picture: Picture, width: float) -> float:
    inner = width - 2 * _PAD_GALLERY
    return inner if picture.heat_jpeg is None else (inner - _PAD_GALLERY) / 2


def _texts(picture: Picture, width: float) -> list[TextBox]:
    inner = width - 2 * _PAD_GALLERY
    return [
        TextBox(line, _LINE if number else _STRONG, inner, most=_MOST_LINES_GALLERY)
        for number, line in enumerate(picture.lines)
    ]


def _row_height(sheet: Sheet, gallery: Gallery, row: list[Picture]) -> float:
    width = _width(sheet, gallery)
    return max(
        _image_side(picture, width)
        + sum(box.height for box in _texts(picture, width))
        + 3 * _PAD_GALLERY
        for picture in row
    )


def _paint(sheet: Sheet, picture: Picture, area: QRectF) -> None:
    sheet.box(area, "background", "line")
    bar = QRectF(area.left(), area.top(), area.width(), 2 * POINT)
    sheet.painter.fillRect(bar, QColor(sheet.color(picture.tone or "line")))
    side = _image_side(picture, area.width())
    x, y = area.left() + _PAD_GALLERY, area.top() + _PAD_GALLERY + POINT
    for data in filter(None, (picture.jpeg, picture.heat_jpeg)):
        _paint_image(sheet.painter, data, QRectF(x, y, side, side))
        x += side + _PAD_GALLERY
    y += side + _PAD_GALLERY / 2
    for box in _texts(picture, area.width()):
        box.draw(sheet.painter, area.left() + _PAD_GALLERY, y, sheet.color(box.style.color))
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


# labels --------------------------------------------------------------------------------------
# The texts of a figure on paper, in the letters of the rest: Qt's SVG would choose others.

_ANCHORS = {"start": 0.0, "middle": 0.5, "end": 1.0}
"""Share of a text that is before its place."""


def paint_labels(
    sheet: Sheet, labels: Iterable[Label], place: tuple[float, float], scale: float
) -> None:
    """Paints labels of a drawing whose upper left corner is at `place`; `scale` is in units of the
    paper per pixel of the drawing.
    """
    for label in labels:
        color = label.color if label.color.startswith("#") else sheet.color(label.color)
        x, y = place[0] + label.x * scale, place[1] + label.y * scale
        _paint_label(sheet.painter, label, (x, y), label.size * scale, color)


def _paint_label(
    painter: QPainter, label: Label, place: tuple[float, float], size: float, color: str
) -> None:
    style = Style(size / POINT, is_bold=label.is_bold)
    font: QFont = style.font
    painter.save()
    painter.translate(*place)
    painter.rotate(label.turn)
    painter.setFont(font)
    painter.setPen(QColor(color))
    start = QPointF(-style.width(label.text) * _ANCHORS[label.anchor], 0.0)
    painter.drawText(start, label.text)
    painter.restore()


# table ---------------------------------------------------------------------------------------
# Tables on paper: columns as wide as their texts, the heading again on each page.

_TITLE_TABLE, _HEAD, _CELL = Style(8.5, color="dim"), Style(8, color="dim"), Style(8.5)
_GAP_TABLE, _PAD_TABLE = 10 * POINT, 2 * POINT
_MEASURED = 200
"""Rows that the widths are taken from."""

_MOST_LINES = 4
"""Most lines of a cell: names from files may be long."""


def paint_table(sheet: Sheet, table: Table) -> None:
    """Paints a table, row by row; of a long one its first rows, and how many there are."""
    widths = _widths(sheet, table)
    sheet.need(_TITLE_TABLE.line_height + 4 * _CELL.line_height)
    sheet.paragraph(table.title, _TITLE_TABLE)
    _paint_head(sheet, table, widths)
    for row in table.rows[: table.most_printed]:
        boxes = _boxes(row, widths, _CELL)
        height = max(box.height for box in boxes) + 2 * _PAD_TABLE
        if sheet.need(height):
            _paint_head(sheet, table, widths)
        _paint_row(sheet, boxes, widths, table, height)
    if len(table.rows) > table.most_printed:
        words = f"{table.most_printed} of {len(table.rows):,} rows; the HTML report has all."
        sheet.paragraph(words, _TITLE_TABLE)


def _paint_head(sheet: Sheet, table: Table, widths: list[float]) -> None:
    boxes = _boxes(table.columns, widths, _HEAD)
    height = max(box.height for box in boxes) + 2 * _PAD_TABLE
    _paint_row(sheet, boxes, widths, table, height)


def _boxes(row: list[str], widths: list[float], style: Style) -> list[TextBox]:
    return [
        TextBox(cell, style, width, most=_MOST_LINES)
        for cell, width in zip(row, widths, strict=True)
    ]


def _paint_row(
    sheet: Sheet, boxes: list[TextBox], widths: list[float], table: Table, height: float
) -> None:
    x = sheet.left
    for place, (box, width) in enumerate(zip(boxes, widths, strict=True)):
        color = sheet.color(box.style.color)
        for number, line in enumerate(box.lines):
            is_number = place >= table.num_text
            free = width - line.naturalTextWidth() if is_number else 0.0
            y = sheet.y + _PAD_TABLE + number * box.style.line_height
            box.draw_line(sheet.painter, number, x + max(free, 0.0), y, color)
        x += width + _GAP_TABLE
    sheet.y += height
    sheet.rule(sheet.y)


def _widths(sheet: Sheet, table: Table) -> list[float]:
    """Numbers get what they need; texts share the rest as their longest ones ask for it."""
    rows = table.rows[: min(_MEASURED, table.most_printed)]
    wanted = [
        max([_HEAD.width(title), *(_CELL.width(row[place]) for row in rows)]) + POINT
        for place, title in enumerate(table.columns)
    ]
    room = sheet.width - _GAP_TABLE * (len(wanted) - 1)
    texts, numbers = wanted[: table.num_text], wanted[table.num_text :]
    left = max(room - sum(numbers), room * 0.3)
    if sum(texts) > left:
        texts = _shared(texts, left)
    else:
        texts = [width + (left - sum(texts)) / len(texts) for width in texts]
    if sum(numbers) > room - left + 1:
        numbers = _shared(numbers, room - left)
    return [*texts, *numbers]


def _shared(wanted: list[float], room: float) -> list[float]:
    """Room for texts that have too little: the short ones get theirs, the others the same."""
    widths = [0.0] * len(wanted)
    waiting = sorted(range(len(wanted)), key=lambda place: wanted[place])
    for done, place in enumerate(waiting):
        widths[place] = min(wanted[place], room / (len(wanted) - done))
        room -= widths[place]
    return widths


# blocks --------------------------------------------------------------------------------------
# The blocks of a report on paper.

_STYLES: dict[Role, Style] = {
    "": Style(9.5),
    "lead": Style(11),
    "strong": Style(9.5, is_bold=True),
    "note": Style(8.5, color="dim"),
    "missing": Style(9.5),
    "code": Style(9, is_mono=True),
    "quote": Style(9.5),
}
_CAPTION = Style(8.5, color="dim")
_NAME, _VALUE = Style(9.5, color="dim"), Style(9.5)
_LARGE_NAME, _LARGE_VALUE = Style(7.5, color="dim"), Style(14, is_bold=True)
_NAME_WIDTH = 130 * POINT
_PAD = 8 * POINT
_PER_PIXEL = 0.62 * POINT
"""Units of a pixel of a drawing where it need not be smaller."""

_LEAST_SHARE = 0.7
"""Share of its size that a figure may be reduced to, rather than to leave the end of a page empty.
"""

_MOST_OF_PAGE, _MOST_OF_WIDE = 0.86, 0.55
"""Share of a page's height that a tall or a wide figure may take: heading and caption stay with it.
"""


def paint(sheet: Sheet, block: Block) -> None:
    """Paints a block at the sheet's place."""
    if isinstance(block, Text):
        _text(sheet, block)
    elif isinstance(block, Facts):
        (_tiles if block.is_large else _facts)(sheet, block)
    elif isinstance(block, Table):
        paint_table(sheet, block)
    elif isinstance(block, Figure):
        _figure(sheet, block)
    else:
        paint_gallery(sheet, block)


def least_height(sheet: Sheet, block: Block) -> float:
    """The room that the first part of a block needs on one page."""
    if isinstance(block, Figure):
        return _figure_size(sheet, block)[1] * _LEAST_SHARE + 3 * _CAPTION.line_height
    if isinstance(block, Gallery):
        return gallery_row_height(sheet, block)
    return 60 * POINT


def _text(sheet: Sheet, block: Text) -> None:
    style = _STYLES[block.role]
    if block.role == "code":
        _boxed(sheet, block.text, style, "background", "line")
        return
    is_set_off = block.role in ("missing", "quote")
    if block.role == "strong":
        sheet.need(4 * style.line_height)
    elif not is_set_off:
        sheet.need(2 * style.line_height)
    bar = {"missing": "warning", "quote": "line"}.get(block.role, "")
    _barred(sheet, block.text, style, bar) if bar else sheet.paragraph(block.text, style)


def _barred(sheet: Sheet, text: str, style: Style, color: str) -> None:
    """Paints a paragraph with a bar on its left, line by line: it may go on on the next page."""
    box = TextBox(text, style, sheet.width - _PAD)
    for number in range(len(box.lines)):
        sheet.need(style.line_height)
        area = QRectF(sheet.left, sheet.y, 2 * POINT, style.line_height)
        sheet.painter.fillRect(area, sheet.color(color))
        box.draw_line(sheet.painter, number, sheet.left + _PAD, sheet.y, sheet.color(style.color))
        sheet.y += style.line_height


def _boxed(sheet: Sheet, text: str, style: Style, fill: str, stroke: str) -> None:
    box = TextBox(text, style, sheet.width - 2 * _PAD)
    sheet.need(box.height + 2 * _PAD)
    area = QRectF(sheet.left, sheet.y, sheet.width, box.height + 2 * _PAD)
    sheet.box(area, fill, stroke)
    box.draw(sheet.painter, sheet.left + _PAD, sheet.y + _PAD, sheet.color(style.color))
    sheet.y += area.height()


def _facts(sheet: Sheet, block: Facts) -> None:
    pad = 2.5 * POINT
    for name, value in block.rows:
        names = TextBox(name, _NAME, _NAME_WIDTH - _PAD)
        values = TextBox(value, _VALUE, sheet.width - _NAME_WIDTH, most=40)
        height = max(names.height, values.height) + 2 * pad
        sheet.need(height)
        names.draw(sheet.painter, sheet.left, sheet.y + pad, sheet.color("dim"))
        x = sheet.left + _NAME_WIDTH
        values.draw(sheet.painter, x, sheet.y + pad, sheet.color("text"))
        sheet.y += height
        sheet.rule(sheet.y)


def _tiles(sheet: Sheet, block: Facts) -> None:
    gap = 8 * POINT
    width = (sheet.width - gap * (len(block.rows) - 1)) / max(len(block.rows), 1)
    inner = width - 2 * _PAD
    boxes = [
        (TextBox(name, _LARGE_NAME, inner), TextBox(value, _LARGE_VALUE, inner))
        for name, value in block.rows
    ]
    height = max((a.height + b.height for a, b in boxes), default=0.0) + 2 * _PAD
    sheet.need(height)
    x = sheet.left
    for name, value in boxes:
        sheet.box(QRectF(x, sheet.y, width, height), "background", "line")
        name.draw(sheet.painter, x + _PAD, sheet.y + _PAD, sheet.color("dim"))
        y = sheet.y + height - _PAD - value.height
        value.draw(sheet.painter, x + _PAD, y, sheet.color("text"))
        x += width + gap
    sheet.y += height


def _figure_size(sheet: Sheet, block: Figure) -> tuple[float, float]:
    wide, high = block.drawing.width, block.drawing.height
    most = sheet.page_height * (_MOST_OF_PAGE if high > 1.4 * wide else _MOST_OF_WIDE)
    scale = min(_PER_PIXEL, sheet.width / wide, most / high)
    return wide * scale, high * scale


def _figure(sheet: Sheet, block: Figure) -> None:
    width, height = _figure_size(sheet, block)
    caption = TextBox(block.caption, _CAPTION, sheet.width)
    share = (sheet.room - caption.height - 4 * POINT) / height
    if _LEAST_SHARE <= share < 1:
        width, height = width * share, height * share
    sheet.need(height + caption.height + 4 * POINT)
    x = sheet.left + (sheet.width - width) / 2
    shapes = [mark for mark in block.drawing.marks if not isinstance(mark, Label)]
    text = svg(msgspec.structs.replace(block.drawing, marks=shapes), block.alt, LIGHT)
    renderer = QSvgRenderer(QByteArray(text.encode("utf-8", "replace")))
    renderer.render(sheet.painter, QRectF(x, sheet.y, width, height))
    labels = (mark for mark in block.drawing.marks if isinstance(mark, Label))
    paint_labels(sheet, labels, (x, sheet.y), width / block.drawing.width)
    sheet.y += height + 4 * POINT
    caption.draw(sheet.painter, sheet.left, sheet.y, sheet.color("dim"))
    sheet.y += caption.height


# document ------------------------------------------------------------------------------------

_TITLE = Style(20, is_bold=True)
_SUBTITLE = Style(10, color="dim")
_HEADING = Style(13, is_bold=True)
_GAP = 8 * POINT


def pdf_bytes(document: Document) -> bytes:
    """The document as a PDF; its project file is attached."""
    application = QGuiApplication.instance() or QGuiApplication([])
    sheet = Sheet(document.title, f"{document.title} · {document.footer}", document.colors)
    sheet.paragraph(document.title, _TITLE)
    sheet.paragraph(document.subtitle, _SUBTITLE)
    for number, section in enumerate(document.sections):
        _section(sheet, section, has_heading=number > 0)
    if document.project:
        attached = QByteArray(document.project.encode("utf-8", "replace"))
        sheet.writer.addFileAttachment(document.project_name, attached, "application/json")
    data = sheet.finish()
    del application
    return data


def _section(sheet: Sheet, section: Section, *, has_heading: bool) -> None:
    sheet.skip(20 * POINT)
    if has_heading:
        # A heading goes to the next page with what is below it.
        first = least_height(sheet, section.blocks[0]) if section.blocks else 0.0
        sheet.need(_HEADING.line_height + 14 * POINT + first)
        if not sheet.is_at_top:
            sheet.rule(sheet.y)
            sheet.y += 8 * POINT
        sheet.paragraph(section.title, _HEADING)
        sheet.y += 4 * POINT
    for block in section.blocks:
        paint(sheet, block)
        sheet.skip(_GAP)
