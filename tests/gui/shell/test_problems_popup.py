"""The list of problems above the status line: kept up only while it is shown."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QScrollArea

from tests.big_network import deep_project
from workbench.templates import find_template


def tried(document):
    """The problems whose fixes were tried."""
    return [each for each in document.analysis.problems if "fixes" in vars(each)]


def test_a_closed_list_tries_no_fixes(window, qtbot):
    document = window.context.document
    document.new(deep_project(17, strays=5))
    assert len(document.analysis.problems) > 5
    assert document.analysis.problems[0].severity == "error"  # else the status line tries one
    assert tried(document) == []
    window.show_problems()
    qtbot.waitUntil(lambda: len(tried(document)) == len(document.analysis.problems))
    window.popup.close()
    window.design().canvas.select(["conv2d0"])  # with nothing selected the inspector shows them
    document.set_params("conv2d0", filters=8)
    assert len(document.analysis.problems) > 5
    assert tried(document) == document.analysis.problems[:1]  # the card's on the canvas


def test_the_list_stays_where_it_was_opened(window, qtbot):
    document, status = window.context.document, window.status
    document.new(deep_project(2, strays=3))
    window.show_view("design")
    qtbot.waitUntil(lambda: status.problems.width() >= status.problems.sizeHint().width())
    qtbot.mouseClick(status.problems, Qt.MouseButton.LeftButton)
    corner, place = window.popup.geometry().bottomRight(), status.problems.mapTo(window, QPoint())
    document.remove([key for key in document.graph.nodes if key.startswith("stray")])
    qtbot.waitUntil(lambda: status.problems.mapTo(window, QPoint()) != place)
    document.add_node("dropout")
    assert window.popup.geometry().bottomRight() == corner
    window.popup.close()


def test_a_short_list_is_shown_without_a_scroll_bar(window, qtbot):
    window.files.new(find_template("flowers_gap").project)
    window.show_view("design")
    window.show_problems()
    area = window.popup.findChild(QScrollArea)
    qtbot.waitUntil(lambda: area.widget().height() == area.viewport().height())
    assert area.verticalScrollBar().maximum() == 0
    window.popup.close()


def test_a_long_list_scrolls_to_its_end(window, qtbot):
    window.context.document.new(deep_project(2, strays=9))
    window.show_view("design")
    window.show_problems()
    area = window.popup.findChild(QScrollArea)
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() > 0)
    page = area.widget()
    assert page.height() >= page.heightForWidth(page.width()) > area.viewport().height()
    window.popup.close()
