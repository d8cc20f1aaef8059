"""A screen reader finds the layers, in sentences."""

from __future__ import annotations

import gc

from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication

NAME = QAccessible.Text.Name


def test_nodes_are_found_in_order(small, document) -> None:
    canvas = QAccessible.queryAccessibleInterface(small.view)
    assert canvas.role() == QAccessible.Role.List
    assert canvas.text(NAME) == "Network canvas, 4 layers"
    names = [canvas.child(index).text(NAME) for index in range(canvas.childCount())]
    assert [name.split()[0] for name in names] == ["Input", "Conv2D", "Flatten", "Dense"]
    shape = " by ".join(f"{size:,}" for size in document.analysis.shapes["n2"])
    assert f"output {shape}" in names[1]


def test_a_node_has_its_place_and_state(small) -> None:
    canvas = QAccessible.queryAccessibleInterface(small.view)
    node = canvas.child(2)
    small.select(["n3"])
    assert node.state().selected
    assert not canvas.child(0).state().selected
    middle = node.rect().center()
    assert canvas.indexOfChild(canvas.childAt(middle.x(), middle.y())) == 2
    assert node.parent() is canvas


def test_a_removed_node_is_no_longer_valid(small, document) -> None:
    canvas = QAccessible.queryAccessibleInterface(small.view)
    node = canvas.child(1)
    QAccessible.uniqueId(node)
    document.remove(["n2"])
    gc.collect()
    assert not node.isValid()
    assert node.text(NAME) == ""
    assert node.state().invalid
    assert canvas.childCount() == 3
    document.undo_stack.undo()
    assert node.isValid()


def test_the_selection_is_announced_while_a_screen_reader_runs(small, hand) -> None:
    QAccessible.setActive(True)
    try:
        small.select(["n2"])
        small.select(["n4"])
        QApplication.processEvents()
    finally:
        QAccessible.setActive(False)
    assert small.scene.selected_ids() == ["n4"]
