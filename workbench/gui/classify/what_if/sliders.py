"""A slider for each alteration."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QGridLayout, QSlider, QWidget

from workbench.alterations import AlterationSpec, all_alterations
from workbench.gui.kit.labels import plain_label, plain_tip

_LEAST_PX, _WORDS_PX = 60, 44


class _Slider(QSlider):
    """A whole number of an alteration's unit; a double click makes it neutral."""

    def __init__(self, spec: AlterationSpec) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._neutral = spec.neutral
        self.setRange(spec.least, spec.greatest)
        self.setValue(spec.neutral)
        self.setMinimumWidth(_LEAST_PX)
        self.setPageStep(max(1, (spec.greatest - spec.least) // 10))
        self.setAccessibleName(spec.title)
        self.setToolTip(plain_tip(f"{spec.meaning}\nDouble-click to reset."))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.setValue(self._neutral)
        event.accept()


class AlterationSliders(QWidget):
    """All alterations below each other. `changed` when any of them was moved."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._specs = all_alterations()
        self.sliders = {key: _Slider(spec) for key, spec in self._specs.items()}
        self.words = {key: plain_label(role="dim") for key in self._specs}
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(4)
        grid.setColumnStretch(1, 1)
        for row, (key, spec) in enumerate(self._specs.items()):
            title, words = plain_label(spec.title), self.words[key]
            title.setBuddy(self.sliders[key])
            words.setMinimumWidth(_WORDS_PX)
            words.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            for place, part in enumerate((title, self.sliders[key], words)):
                grid.addWidget(part, row, place)
            self.sliders[key].valueChanged.connect(self._on_moved)
        self._show_words()

    @property
    def strengths(self) -> dict[str, float]:
        """Those that change something, in the order in which they are applied."""
        return {
            key: float(slider.value())
            for key, slider in self.sliders.items()
            if slider.value() != self._specs[key].neutral
        }

    def set_strengths(self, strengths: Mapping[str, float]) -> None:
        """Moves all sliders at once; those that are not named become neutral."""
        for key, slider in self.sliders.items():
            slider.blockSignals(True)
            slider.setValue(round(strengths.get(key, self._specs[key].neutral)))
            slider.blockSignals(False)
        self._on_moved()

    def _on_moved(self) -> None:
        self._show_words()
        self.changed.emit()

    def _show_words(self) -> None:
        for key, spec in self._specs.items():
            self.words[key].setText(spec.words(self.sliders[key].value()))
