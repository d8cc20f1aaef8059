"""Rows and columns: what is in them, in which order, and with which room."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel, QWidget

from workbench.gui.kit.layout import STRETCH, Gap, Stretch, add_to, column, row, scroll_area


@pytest.fixture
def page(qtbot):
    page = QWidget()
    qtbot.addWidget(page)
    return page


def test_parts_keep_their_order_and_belong_to_the_parent(page):
    first, second, last = QLabel("first"), QLabel("second"), QLabel("last")
    made = column(row(first, STRETCH, second), Gap(6), (last, 2), Stretch(3), parent=page)
    assert page.layout() is made
    inner = made.itemAt(0).layout()
    assert [inner.itemAt(i).widget() for i in range(3)] == [first, None, second]
    assert made.itemAt(1).sizeHint().height() == 6
    assert made.itemAt(2).widget() is last
    assert [made.stretch(i) for i in range(4)] == [0, 0, 2, 3]
    assert {each.parentWidget() for each in (first, second, last)} == {page}


def test_margins_and_spacing(page):
    made = row(QLabel("a"), parent=page, margins=(1, 2, 3, 4), spacing=5)
    sides = made.contentsMargins()
    assert (sides.left(), sides.top(), sides.right(), sides.bottom()) == (1, 2, 3, 4)
    assert made.spacing() == 5
    assert column(margins=7).contentsMargins().bottom() == 7
    assert column().contentsMargins().isNull()


def test_no_margins_given_are_the_margins_of_the_style(page):
    made = column(parent=page, margins=None)
    assert made.contentsMargins().left() > 0


def test_parts_are_added_at_the_end(page):
    made = column(QLabel("first"), parent=page)
    last = QLabel("last")
    add_to(made, (row(QLabel("between")), 1), last)
    assert made.count() == 3
    assert made.stretch(1) == 1
    assert made.itemAt(2).widget() is last


def test_a_scrolled_widget_fills_its_area(qtbot):
    page = QWidget()
    area = scroll_area(page)
    qtbot.addWidget(area)
    area.resize(300, 200)
    area.show()
    qtbot.waitUntil(lambda: page.width() == area.viewport().width())
