"""Tables on paper: columns as wide as their texts, the heading again on each page."""

from __future__ import annotations

from workbench.printing.sheet import Sheet
from workbench.printing.text import POINT, Style, TextBox
from workbench.report.blocks import Table

_TITLE, _HEAD, _CELL = Style(8.5, color="dim"), Style(8, color="dim"), Style(8.5)
_GAP, _PAD = 10 * POINT, 2 * POINT
_MEASURED = 200
"""Rows that the widths are taken from."""

_MOST_LINES = 4
"""Most lines of a cell: names from files may be long."""


def paint_table(sheet: Sheet, table: Table) -> None:
    """Paints a table, row by row; of a long one its first rows, and how many there are."""
    widths = _widths(sheet, table)
    sheet.need(_TITLE.line_height + 4 * _CELL.line_height)
    sheet.paragraph(table.title, _TITLE)
    _paint_head(sheet, table, widths)
    for row in table.rows[: table.most_printed]:
        boxes = _boxes(row, widths, _CELL)
        height = max(box.height for box in boxes) + 2 * _PAD
        if sheet.need(height):
            _paint_head(sheet, table, widths)
        _paint_row(sheet, boxes, widths, table, height)
    if len(table.rows) > table.most_printed:
        words = f"{table.most_printed} of {len(table.rows):,} rows; the HTML report has all."
        sheet.paragraph(words, _TITLE)


def _paint_head(sheet: Sheet, table: Table, widths: list[float]) -> None:
    boxes = _boxes(table.columns, widths, _HEAD)
    height = max(box.height for box in boxes) + 2 * _PAD
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
            y = sheet.y + _PAD + number * box.style.line_height
            box.draw_line(sheet.painter, number, x + max(free, 0.0), y, color)
        x += width + _GAP
    sheet.y += height
    sheet.rule(sheet.y)


def _widths(sheet: Sheet, table: Table) -> list[float]:
    """Numbers get what they need; texts share the rest as their longest ones ask for it."""
    rows = table.rows[: min(_MEASURED, table.most_printed)]
    wanted = [
        max([_HEAD.width(title), *(_CELL.width(row[place]) for row in rows)]) + POINT
        for place, title in enumerate(table.columns)
    ]
    room = sheet.width - _GAP * (len(wanted) - 1)
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
