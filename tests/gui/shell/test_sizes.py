"""Views and main dialogs in the smallest windows: nothing clipped, covered or out of reach.

All sizes, scales and both themes: `bash packaging/prove.sh sizes`.
"""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect
from PySide6.QtWidgets import QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from tests.looks import flaws_of
from tests.staged import VIEWS, Staged

SMALLEST = ((900, 600), (960, 540), (1024, 700))
FRAME_PX = 48


@pytest.fixture
def staged(window, tmp_path):
    stage = Staged(window, tmp_path)
    stage.stage()
    return stage


def settled(qtbot, widget):
    """Its flaws, once its layout has come to rest."""
    for _ in range(20):
        qtbot.wait(20)
        if not (found := flaws_of(widget)):
            break
    return [str(flaw) for flaw in found]


@pytest.mark.parametrize("size", SMALLEST)
def test_every_view_fits_a_small_window(staged, qtbot, size):
    for view in VIEWS:
        staged.window.resize(*size)
        shown = staged.show(view)
        assert settled(qtbot, shown) == [], view
        assert (shown.width(), shown.height()) == size, view


def test_every_main_dialog_fits_a_small_screen(staged, qtbot):
    width, height = SMALLEST[0]
    for name, open_it in staged.dialogs():
        dialog = open_it()
        dialog.resize(min(dialog.width(), width), min(dialog.height(), height - FRAME_PX))
        assert settled(qtbot, dialog) == [], name
        assert dialog.height() <= height - FRAME_PX, name
        dialog.close()


def test_flaws_are_found(qtbot):
    """A planted flaw of each kind: the looks above can fail."""
    window = QWidget()
    qtbot.addWidget(window)
    window.resize(300, 200)
    label, button = QLabel("A sentence that is too long", window), QPushButton("Press", window)
    label.setGeometry(QRect(0, 0, 40, 20))
    button.setGeometry(QRect(290, 190, 80, 30))
    wide, area = QWidget(), QScrollArea(window)
    wide.setMinimumWidth(500)
    area.setWidget(wide)
    area.setGeometry(QRect(0, 60, 100, 60))
    boxed = QWidget(window)
    boxed.setGeometry(QRect(150, 60, 100, 60))
    column = QVBoxLayout(boxed)
    for name in ("one", "two"):
        part = QLabel(name)
        part.setMinimumHeight(50)
        column.addWidget(part)
    boxed.setMaximumHeight(60)
    window.show()
    qtbot.waitExposed(window)
    column.itemAt(1).widget().move(column.itemAt(0).widget().pos())
    kinds = {flaw.kind for flaw in flaws_of(window)}
    assert kinds == {"clipped", "unreachable", "scroll bar", "overlap"}
