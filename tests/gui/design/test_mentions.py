"""Layers that a problem names: their cards show the names, and are marked while it is looked at."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPointF, QRectF, QSizeF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from tests.gui.design.hand import NONE, chain
from workbench.core.network.graph import Edge
from workbench.core.projects.project import Project
from workbench.gui.kit.problem_list import ProblemList
from workbench.gui.kit.widgets import Box


@pytest.fixture
def mismatch(panel, document, layers):
    """Two Conv2D without padding, and Add of both."""
    graph = chain(layers, "input", "conv2d", "conv2d", "add", "flatten", "dense")
    document.new(Project(graph=graph.with_edge(Edge("n2", "n4", 1))))
    return panel


def names(panel):
    return {key: item.facts.shown_name for key, item in panel.scene.nodes.items()}


def marked(panel):
    return {key for key, item in panel.scene.nodes.items() if item.is_marked}


def test_cards_show_the_names_that_a_message_or_a_button_names(mismatch, document) -> None:
    shown = names(mismatch)
    assert (shown["n2"], shown["n3"], shown["n4"]) == ("conv2d", "conv2d_2", "add")
    assert (shown["n1"], shown["n5"]) == ("", "")
    title = mismatch.scene.card.problem.fixes[0].title
    assert title == "Set padding of “conv2d_2” to same"
    document.apply_fix(mismatch.scene.card.problem.fixes[0])
    assert document.analysis.problems_by_node.get("n4") is None
    assert names(mismatch)["n3"] == ""


def test_names_that_differ_at_their_end_look_different(panel, document, layers) -> None:
    kinds = ("input", "average_pooling2d", "average_pooling2d", "flatten", "dense")
    document.new(Project(graph=chain(layers, *kinds)))
    pictures = []
    for key in ("n2", "n3"):
        item = panel.scene.nodes[key]
        item.facts = replace(item.facts, is_named=True)
        title = QRectF(item.card_rect().topLeft(), QSizeF(item.card_rect().width(), 28))
        pictures.append(QImage(title.size().toSize(), QImage.Format.Format_RGB32))
        with QPainter(pictures[-1]) as painter:
            panel.scene.render(painter, QRectF(pictures[-1].rect()), title)
    is_alike = pictures[0] == pictures[1]
    assert not is_alike


def test_a_name_that_a_person_chose_is_always_shown(small, document) -> None:
    document.rename("n2", "stem")
    assert names(small)["n2"] == "stem"


def test_looking_at_a_card_marks_the_layers_it_names(mismatch, hand) -> None:
    mismatch.scene.select([])
    assert marked(mismatch) == set()
    card = mismatch.scene.card
    place = card.mapToScene(QPointF(20, 12))
    hand.move(place, button=NONE)
    assert marked(mismatch) == {"n2", "n3", "n4"}
    hand.move(mismatch.scene.nodes["n1"].card_rect().center(), button=NONE)
    assert marked(mismatch) == set()
    mismatch.scene.select(["n4"])
    assert marked(mismatch) == {"n2", "n3", "n4"}


def test_a_list_reports_the_problem_that_the_pointer_is_on(qtbot, mismatch, document) -> None:
    listed = ProblemList()
    qtbot.addWidget(listed)
    listed.set_problems(document.analysis.problems)
    listed.show()
    listed.problem_hovered.connect(mismatch.scene.look_at)
    mismatch.scene.select([])
    box = listed.findChildren(Box)[0]
    QApplication.sendEvent(box, QEvent(QEvent.Type.Enter))
    assert marked(mismatch) == {"n2", "n3", "n4"}
    QApplication.sendEvent(box, QEvent(QEvent.Type.Leave))
    assert marked(mismatch) == set()
