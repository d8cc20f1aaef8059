"""Widgets that go on in the next line."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget

from workbench.gui.kit.layout import FlowLayout


@pytest.fixture
def shown(qtbot):
    """Three widgets of 60 x 20 pixels, 10 apart, lines 4 apart."""
    place = QWidget()
    qtbot.addWidget(place)
    flow = FlowLayout(place, spacing=10, line_spacing=4)
    parts = [QWidget() for _ in range(3)]
    for part in parts:
        part.setFixedSize(60, 20)
        flow.addWidget(part)
    place.show()
    return place, flow, parts


@pytest.mark.parametrize(
    ("width", "places"),
    [
        (200, [(0, 0), (70, 0), (140, 0)]),
        (199, [(0, 0), (70, 0), (0, 24)]),
        (60, [(0, 0), (0, 24), (0, 48)]),
    ],
)
def test_what_has_no_room_goes_on_in_the_next_line(shown, width, places):
    place, flow, parts = shown
    place.resize(width, 200)
    assert [(part.x(), part.y()) for part in parts] == places
    assert flow.heightForWidth(width) == places[-1][1] + 20


def test_a_hidden_widget_takes_no_room(shown):
    place, flow, parts = shown
    parts[0].hide()
    place.resize(130, 100)
    flow.activate()
    assert [(part.x(), part.y()) for part in parts[1:]] == [(0, 0), (70, 0)]
