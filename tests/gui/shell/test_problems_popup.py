"""The list of problems above the status line: kept up only while it is shown, and filled in
slices.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QScrollArea

from tests.big_network import deep_project
from tests.small_projects import project_without_folder
from workbench.gui.kit.buttons import WrappedButton
from workbench.gui.kit.problem_list import ProblemBox

_PATIENCE_MS = 60_000
"""A long list is shown a few boxes in each turn, which other programs may hold up."""


def tried(document):
    """The problems whose fixes were tried."""
    return [each for each in document.analysis.problems if "fixes" in vars(each)]


def test_a_closed_list_tries_no_fixes(window, qtbot):
    document = window.context.document
    document.new(deep_project(17, strays=5))
    assert len(document.analysis.problems) > 5
    assert document.analysis.problems[0].severity == "error"  # else the status line tries one
    QApplication.processEvents()
    assert tried(document) == []
    window.show_problems()
    qtbot.waitUntil(lambda: len(tried(document)) == len(document.analysis.problems))
    window.popup.close()
    window.design().canvas.select(["conv2d0"])  # with nothing selected the inspector shows them
    document.set_params("conv2d0", filters=8)
    assert len(document.analysis.problems) > 5
    card = document.analysis.problems[:1]
    qtbot.waitUntil(lambda: tried(document) == card)
    for _ in range(20):
        QApplication.processEvents()
    assert tried(document) == card


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


def boxes(shown):
    """The boxes of a list from the top."""
    found = [box for box in shown.findChildren(ProblemBox) if not box.isHidden()]
    return sorted(found, key=lambda box: box.y())


def words(shown):
    """What each box has to say, and its buttons."""
    return [
        (box.problem, [button.text() for button in box.findChildren(WrappedButton)])
        for box in boxes(shown)
    ]


def expected(document):
    return [(each, [fix.title for fix in each.fixes[:3]]) for each in document.analysis.problems]


@pytest.fixture
def large(window, qtbot):
    """The design view with 293 layers, of which 20 are not connected, one of them selected."""
    window.files.new(deep_project(67, strays=20))
    window.show_view("design").canvas.select(["conv2d0"])
    qtbot.waitUntil(lambda: window.design().canvas.scene.card is not None)
    return window


def test_a_large_network_is_listed_over_many_turns_from_the_top(large, qtbot):
    document = large.context.document
    large.show_problems()
    steps = [(len(boxes(large.popup.list)), len(tried(document)))]
    corner, top = large.popup.geometry().bottomRight(), large.popup.y()
    while steps[-1][0] < len(document.analysis.problems):
        QApplication.processEvents()
        steps.append((len(boxes(large.popup.list)), len(tried(document))))
        assert (large.popup.geometry().bottomRight(), large.popup.y()) == (corner, top)
    built = [after[0] - before[0] for before, after in pairwise(steps)]
    known = [after[1] - before[1] for before, after in pairwise(steps)]
    assert max(built) <= 3
    assert max(known) == 1
    assert words(large.popup.list) == expected(document)
    large.popup.close()


def test_what_is_known_is_listed_in_slices_too(large, qtbot):
    document, panel = large.context.document, large.design().panels["inspector"].problems
    count = len(expected(document))
    assert count > 20
    large.design().canvas.select([])
    built = [len(boxes(panel))]
    while built[-1] < count:
        QApplication.processEvents()
        built.append(len(boxes(panel)))
    assert max(after - before for before, after in pairwise([0, *built])) == 3
    assert words(panel) == expected(document)


def test_an_edit_keeps_the_boxes_of_problems_that_stay(large, qtbot):
    document, panel = large.context.document, large.design().panels["inspector"].problems
    large.design().canvas.select([])
    qtbot.waitUntil(lambda: words(panel) == expected(document), timeout=_PATIENCE_MS)
    before = boxes(panel)
    document.remove(["stray3"])
    assert [box for box in before if box.problem.node != "stray3"] == boxes(panel)
    QApplication.processEvents()
    document.undo_stack.undo()
    qtbot.waitUntil(lambda: words(panel) == expected(document), timeout=_PATIENCE_MS)
    kept = [box for box in boxes(panel) if box in before]
    assert len(kept) >= 20


def test_the_card_on_the_canvas_has_all_its_buttons_from_the_start(large, qtbot):
    scene = large.design().canvas.scene
    large.design().canvas.select(["stray7"])
    assert scene.card is None
    qtbot.waitUntil(lambda: scene.card is not None)
    (problem,) = large.context.document.analysis.problems_by_node["stray7"]
    assert len(scene.card.button_places()) == len(problem.fixes) > 1
    assert large.design().canvas.action("fix").isEnabled()


def test_the_next_step_of_a_large_network_is_offered_when_it_is_known(window, qtbot):
    document, status = window.context.document, window.status
    project = deep_project(75, strays=1)
    graph = project.graph
    for key in [key for key in graph.nodes if graph.nodes[key].kind == "conv2d"]:
        graph = graph.with_params(key, padding="same")
    document.new(replace(project, graph=graph))
    assert status.next_step.isHidden()
    assert status.problems.text() == document.analysis.blocking_words
    qtbot.waitUntil(lambda: not status.next_step.isHidden())
    assert status.next_step.text() == document.analysis.errors[0].fixes[0].title


def test_a_short_list_is_shown_without_a_scroll_bar(window, qtbot):
    window.files.new(project_without_folder())
    window.show_view("design")
    window.show_problems()
    area = window.popup.findChild(QScrollArea)
    qtbot.waitUntil(lambda: area.widget().height() == area.viewport().height())
    assert area.verticalScrollBar().maximum() == 0
    window.popup.close()


def test_a_long_list_scrolls_to_its_end(window, qtbot):
    window.files.new(deep_project(2, strays=9))
    panel = window.show_view("design").panels["inspector"].problems
    document = window.context.document
    qtbot.waitUntil(lambda: words(panel) == expected(document), timeout=_PATIENCE_MS)
    window.show_problems()
    area = window.popup.findChild(QScrollArea)
    qtbot.waitUntil(lambda: words(window.popup.list) == expected(document))
    page = area.widget()
    qtbot.waitUntil(lambda: page.height() >= page.heightForWidth(page.width()))
    assert page.heightForWidth(page.width()) > area.viewport().height()
    assert area.verticalScrollBar().maximum() > 0
    window.popup.close()
