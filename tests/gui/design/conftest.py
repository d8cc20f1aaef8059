"""A canvas with a real document."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from tests.gui.design.hand import Hand, chain
from workbench.client.run_library import RunLibrary
from workbench.core.projects.project import Project
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec
from workbench.document.project_document import ProjectDocument
from workbench.gui.design.canvas_panel import CanvasPanel
from workbench.gui.kit.theme import Theme


@pytest.fixture(scope="session")
def layers() -> Registry[LayerSpec]:
    return Registry.from_package("workbench.layers", LayerSpec)


@pytest.fixture
def theme(qapp) -> Theme:
    return Theme("light")


@pytest.fixture
def document(qapp, layers) -> ProjectDocument:
    return ProjectDocument(layers)


@pytest.fixture
def panel(qtbot, document, theme, layers) -> Iterator[CanvasPanel]:
    library = RunLibrary()
    parts = SimpleNamespace(document=document, theme=theme, layers=layers, library=library)
    panel = CanvasPanel(parts)
    panel.resize(1000, 800)
    qtbot.addWidget(panel)
    with qtbot.waitActive(panel):  # shortcuts need the active window
        panel.show()
        panel.activateWindow()
    panel.view.setFocus()
    yield panel
    library.close()


@pytest.fixture
def small(panel, document, layers):
    """Input, Conv2D, Flatten, Dense in a column, at 100 %."""
    document.new(Project(graph=chain(layers, "input", "conv2d", "flatten", "dense")))
    panel.view.set_zoom(1.0)
    return panel


@pytest.fixture
def hand(panel) -> Hand:
    return Hand(panel)
