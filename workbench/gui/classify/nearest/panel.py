"""Nearest training images: one line until it is opened."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame

from workbench.gui.classify.nearest.images import NearestImagesView
from workbench.gui.classify.state import ClassifyState
from workbench.gui.kit.collapsible import CollapsibleSection
from workbench.gui.kit.layout import column


class NearestPanel(QFrame):
    """Requests the images of the picture that is shown while it is open."""

    def __init__(self, state: ClassifyState) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.section = CollapsibleSection("Nearest training images")
        self.section.set_note("The training images that look most like it to the network")
        self.images = NearestImagesView(state)
        self.section.body.addWidget(self.images)
        column(self.section, parent=self, margins=(14, 6, 14, 6))
