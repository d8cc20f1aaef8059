"""A slider for each alteration."""

from __future__ import annotations

import math
from collections.abc import Mapping

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QSlider, QStyle, QStyleOptionSlider, QWidget

from workbench.alterations import AlterationSpec, all_alterations
from workbench.gui.kit.labels import plain_label, plain_tip
from workbench.gui.kit.theme import Theme

_LEAST_PX, _WORDS_PX, _FILLED_PX = 60, 44, 4
_FINE_STEPS = 100


class _Slider(QSlider):
    """A whole number of an alteration's unit, or of steps whose square it is where small strengths
    differ most; a double click makes it neutral.
    """

    def __init__(self, spec: AlterationSpec, theme: Theme) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._theme = theme
        self._spec = spec
        self._neutral = 0 if spec.is_fine else spec.neutral
        self.setRange(*((0, _FINE_STEPS) if spec.is_fine else (spec.least, spec.greatest)))
        self.setValue(self._neutral)
        self.setProperty("centered", spec.least < spec.neutral)
        self.setMinimumWidth(_LEAST_PX)
        self.setPageStep(max(1, (self.maximum() - self.minimum()) // 10))
        self.setAccessibleName(spec.title)
        self.setToolTip(plain_tip(f"{spec.meaning}\nDouble-click to reset."))

    @property
    def strength(self) -> float:
        """Strength in the alteration's unit."""
        if not self._spec.is_fine:
            return float(self.value())
        room = self._spec.greatest - self._spec.neutral
        return round(self._spec.neutral + room * (self.value() / _FINE_STEPS) ** 2, 1)

    def set_strength(self, strength: float) -> None:
        """Moves to this strength, or the nearest that there is."""
        if self._spec.is_fine:
            room = self._spec.greatest - self._spec.neutral
            strength = _FINE_STEPS * math.sqrt(max(0.0, strength - self._spec.neutral) / room)
        self.setValue(round(strength))

    def filled(self) -> QRect:
        """What is drawn as filled: from the neutral value to the handle."""
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        slider, part = QStyle.ComplexControl.CC_Slider, QStyle.SubControl
        groove = self.style().subControlRect(slider, option, part.SC_SliderGroove, self)
        handle = self.style().subControlRect(slider, option, part.SC_SliderHandle, self)
        room, half = groove.width() - handle.width(), handle.width() // 2
        least, greatest = self.minimum(), self.maximum()
        neutral, now = (
            groove.x() + half + QStyle.sliderPositionFromValue(least, greatest, value, room)
            for value in (self._neutral, self.value())
        )
        # The handle is drawn already: what is filled ends before it.
        left, right = (neutral, now - half) if now > neutral else (now + half, neutral)
        top = self.rect().center().y() - _FILLED_PX // 2
        return QRect(left, top, max(0, right - left), _FILLED_PX)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Filled from zero on where zero is in the middle: else rotation 0 looks like half."""
        super().paintEvent(event)
        if self.property("centered") and self.value() != self._neutral:
            painter = QPainter(self)
            painter.fillRect(self.filled(), QColor(self._theme.colors.accent))
            painter.end()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.setValue(self._neutral)
        event.accept()


class AlterationSliders(QWidget):
    """All alterations below each other. `changed` when any of them was moved."""

    changed = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._specs = all_alterations()
        self.sliders = {key: _Slider(spec, theme) for key, spec in self._specs.items()}
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
        """Strengths of the alterations that change something, by key, in order of use."""
        return {
            key: slider.strength
            for key, slider in self.sliders.items()
            if slider.strength != self._specs[key].neutral
        }

    def set_strengths(self, strengths: Mapping[str, float]) -> None:
        """Moves all sliders at once; those that are not named become neutral."""
        for key, slider in self.sliders.items():
            slider.blockSignals(True)
            slider.set_strength(strengths.get(key, self._specs[key].neutral))
            slider.blockSignals(False)
        self._on_moved()

    def _on_moved(self) -> None:
        self._show_words()
        self.changed.emit()

    def _show_words(self) -> None:
        for key, spec in self._specs.items():
            self.words[key].setText(spec.words(self.sliders[key].strength))
