"""Choice of the images of a run to evaluate and show: a drop-down that needs little width."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QSizePolicy

from workbench.gui.evaluate.state import PARTS
from workbench.gui.forms.param_editors import NoWheelComboBox
from workbench.protocol.trained.evaluate import ImageSet


class PartBox(NoWheelComboBox):
    """A drop-down of the parts of a run's images; as wide as the longest of them.

    Signals:
        chosen(str): The user has chosen a part, an `ImageSet`.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Images")
        self.setToolTip("Images that are evaluated, and whose scores are shown")
        self.setSizeAdjustPolicy(self.SizeAdjustPolicy.AdjustToContents)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.activated.connect(lambda place: self.chosen.emit(self.itemData(place)))
        self.set_offered([*PARTS])

    def set_offered(self, parts: Sequence[ImageSet]) -> None:
        """Lists these parts; the one that is shown stays."""
        if [self.itemData(place) for place in range(self.count())] == [*parts]:
            return
        shown = self.currentData()
        self.clear()
        for part in parts:
            self.addItem(PARTS[part], part)
        self.setCurrentIndex(self.findData(shown))

    def set_current(self, part: ImageSet) -> None:
        """Shows a choice without a signal."""
        self.setCurrentIndex(self.findData(part))
