"""Rows and columns of widgets, written as they look on the screen."""

from __future__ import annotations

from typing import TypeVar

from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QScrollArea, QVBoxLayout, QWidget

L = TypeVar("L", bound=QBoxLayout)

Margins = int | tuple[int, int, int, int]


class Stretch(int):
    """An empty place that grows with its layout; the number is its share of the room."""


class Gap(int):
    """An empty place of a fixed size in pixels."""


Part = QWidget | QLayout | Stretch | Gap | tuple[QWidget | QLayout, int]

STRETCH = Stretch(1)


def row(
    *parts: Part, parent: QWidget | None = None, margins: Margins | None = 0, spacing: int = -1
) -> QHBoxLayout:
    """A layout of parts from left to right.

    Args:
        parts: Widgets, layouts, stretches and gaps; as (part, share) it grows with the row.
        parent: The widget that is laid out.
        margins: Pixels around: the same at each side, or left, top, right and bottom; None: the
            style's margins.
        spacing: Pixels between the parts; -1: the style's spacing.
    """
    return _filled(QHBoxLayout(), parts, parent, margins, spacing)


def column(
    *parts: Part, parent: QWidget | None = None, margins: Margins | None = 0, spacing: int = -1
) -> QVBoxLayout:
    """A layout of parts from top to bottom; arguments as for `row`."""
    return _filled(QVBoxLayout(), parts, parent, margins, spacing)


def add_to(layout: QBoxLayout, *parts: Part) -> None:
    """Adds parts at the end of a row or column."""
    for part in parts:
        what, share = part if isinstance(part, tuple) else (part, 0)
        if isinstance(what, Stretch):
            layout.addStretch(what)
        elif isinstance(what, Gap):
            layout.addSpacing(what)
        elif isinstance(what, QWidget):
            layout.addWidget(what, share)
        else:
            layout.addLayout(what, share)


def scroll_area(widget: QWidget) -> QScrollArea:
    """A scroll area around a widget, which is made as wide as the area."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setWidget(widget)
    return area


def scroll_to(widget: QWidget) -> None:
    """Scrolls the areas around a widget as far as it takes to see it."""
    parent = widget.parentWidget()
    while parent is not None:
        if isinstance(parent, QScrollArea):
            parent.ensureWidgetVisible(widget)
        parent = parent.parentWidget()


def _filled(
    layout: L,
    parts: tuple[Part, ...],
    parent: QWidget | None,
    margins: Margins | None,
    spacing: int,
) -> L:
    if parent is not None:
        parent.setLayout(layout)
    if margins is not None:
        sides = (margins,) * 4 if isinstance(margins, int) else margins
        layout.setContentsMargins(*sides)
    layout.setSpacing(spacing)
    add_to(layout, *parts)
    return layout
