"""From a layer in Design to its feature maps in Classify, with a real worker."""

from __future__ import annotations

import pytest

from tests.bright_network import GRAPH, keep_bright_network
from tests.gui.design.test_menus import center, choose, right_click, words
from workbench.core.projects.project import Project

PATIENCE_MS = 120_000
ENTRY = "Show feature maps"


@pytest.fixture
def trained(qtbot, window, written):
    """The window with a project that has a trained run."""
    window.files.new(Project(title="Bright", graph=GRAPH))
    window.show_view("design")
    run = written("bright", project=window.context.document.project).begin().train(1)
    keep_bright_network(run.folder)
    run.finish()
    return window


@pytest.mark.worker
def test_the_menu_and_the_inspector_lead_from_a_layer_to_its_maps(qtbot, trained):
    window, library = trained, trained.context.library
    design = window.show_view("design")
    inspector, canvas = design.panels["inspector"], design.canvas
    canvas.view.fit()
    canvas.select(["n1"])
    library.runs.clear()
    library.runs_changed.emit()
    assert inspector.maps.isHidden()  # nothing was trained
    menu = right_click(canvas, center(canvas, "n1"))
    assert ENTRY not in words(menu)
    menu.close()
    menu.deleteLater()
    with qtbot.waitSignal(library.runs_changed):
        library.refresh()
    qtbot.waitUntil(lambda: not inspector.maps.isHidden())

    entry = right_click(canvas, center(canvas, "n1"))
    choose(entry, ENTRY)
    assert window.views.current_key == "classify"
    panel = window.views.currentWidget().panels["classify_feature_maps"]
    qtbot.waitUntil(lambda: panel.layers.current == "conv2d_1", timeout=PATIENCE_MS)
    assert panel.isVisible()
    assert panel.grid.count == 1

    window.show_view("design")
    canvas.select(["n3"])
    inspector.maps.click()
    qtbot.waitUntil(lambda: panel.layers.current == "dense_3", timeout=PATIENCE_MS)
    window.show_view("design")
    canvas.select(["n1", "n3"])
    assert inspector.maps.isHidden()
