"""A whole report on paper: title, then section by section."""

from __future__ import annotations

from PySide6.QtCore import QByteArray
from PySide6.QtGui import QGuiApplication

from workbench.printing.blocks import least_height, paint
from workbench.printing.sheet import Sheet
from workbench.printing.text import POINT, Style
from workbench.report.blocks import Document, Section

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
