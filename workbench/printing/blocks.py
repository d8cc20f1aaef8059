"""The blocks of a report on paper."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QByteArray, QRectF
from PySide6.QtSvg import QSvgRenderer

from workbench.printing.gallery import gallery_row_height, paint_gallery
from workbench.printing.labels import paint_labels
from workbench.printing.sheet import Sheet
from workbench.printing.table import paint_table
from workbench.printing.text import POINT, Style, TextBox
from workbench.report.blocks import Block, Facts, Figure, Gallery, Role, Table, Text
from workbench.report.drawing import Label
from workbench.report.palette import LIGHT
from workbench.report.svg import svg

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
