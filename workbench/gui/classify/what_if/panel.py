"""The What-if panel of the classify view: one line until it is opened."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame

from workbench.gui.classify.classified import ClassifiedPicture
from workbench.gui.classify.state import ClassifyState
from workbench.gui.classify.what_if.bench import WhatIfBench
from workbench.gui.kit.collapsible import CollapsibleSection
from workbench.gui.kit.layout import column, scroll_to


class WhatIfPanel(QFrame):
    """Opens the bench, which is made then."""

    def __init__(self, state: ClassifyState) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._state = state
        self._entry: ClassifiedPicture | None = None
        self.bench: WhatIfBench | None = None
        self.section = CollapsibleSection("What-if")
        self.section.set_note("Rotate, crop, blur … the picture and watch the prediction")
        column(self.section, parent=self, margins=(14, 6, 14, 6))
        self.section.opening.connect(self._open)
        state.shown.connect(self._take)
        state.cleared.connect(lambda: self._take(None))
        state.what_if_wanted.connect(self._show)

    def _take(self, entry: ClassifiedPicture | None) -> None:
        self._entry = entry
        if self.bench is not None:
            self.bench.set_entry(entry if self.section.is_open else None)

    def _show(self) -> None:
        self.section.head.setChecked(True)
        scroll_to(self)

    def _open(self) -> None:
        if self.bench is None:
            self.bench = WhatIfBench(self._state)
            self.section.body.addWidget(self.bench)
        self.bench.set_entry(self._entry)
