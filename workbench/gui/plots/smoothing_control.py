"""Chooses how much of an epoch the smooth curves of all plots average over."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QSlider, QWidget

from workbench.core.format import share
from workbench.gui.kit.labels import ElidedLabel, plain_label, plain_tip
from workbench.gui.kit.layout import row

SLIDER_STEPS = 60
_LEAST, _DECADES = 0.01, 3.0
_SLIDER_PX, _GAP_PX = 56, 6
DEFAULT_EPOCHS = 0.05
"""Short enough that the first epoch is followed, whatever a loss falls from."""


def position_of(epochs: float) -> int:
    """Part of an epoch, or a number of them -> nearest slider position; 0 for none."""
    if epochs <= 0.0:
        return 0
    return max(0, round(SLIDER_STEPS * math.log10(epochs / _LEAST) / _DECADES))


def epochs_of(position: int) -> float:
    """Slider position -> epochs averaged over: 0 (none), then 0.01 to 10, by ratio."""
    return float(_LEAST * 10.0 ** (_DECADES * position / SLIDER_STEPS)) if position > 0 else 0.0


def smoothing_words(epochs: float) -> str:
    """How much is averaged over: "off", "5% of an epoch", "2.5 epochs"."""
    if epochs <= 0.0:
        return "off"
    if epochs < 0.995:
        return f"{share(epochs, 0)} of an epoch"
    rounded = float(f"{epochs:.2g}")
    return "1 epoch" if rounded == 1.0 else f"{rounded:g} epochs"


class _Slider(QSlider):
    """A double click resets it."""

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.setValue(position_of(DEFAULT_EPOCHS))
        event.accept()


class SmoothingControl(QWidget):
    """One slider for all plots, with its name and unit. `changed` when it was moved.

    Epochs as the unit: each run is averaged by its own length of an epoch, so that its curve is
    the same alone and beside others.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.slider = _Slider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, SLIDER_STEPS)
        self.slider.setValue(position_of(DEFAULT_EPOCHS))
        self.slider.setFixedWidth(_SLIDER_PX)
        self.slider.setAccessibleName("Smoothing")
        self.words = ElidedLabel(mode=Qt.TextElideMode.ElideRight)
        self.words.setProperty("role", "dim")
        self._name = plain_label("Smoothing", role="dim")
        row(self._name, self.slider, (self.words, 1), parent=self, spacing=_GAP_PX)
        self.slider.valueChanged.connect(self._on_moved)
        self._show_words()

    @property
    def epochs(self) -> float:
        """How many epochs are averaged over; 0.0 for none."""
        return epochs_of(self.slider.value())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_words()

    def _on_moved(self) -> None:
        self._show_words()
        self.changed.emit()

    def _show_words(self) -> None:
        words = smoothing_words(self.epochs)
        room = self.width() - self._name.sizeHint().width() - _SLIDER_PX - 2 * _GAP_PX
        is_short = self.words.fontMetrics().horizontalAdvance(words) > room
        self.words.set_full_text(words.partition(" of ")[0] if is_short else words)
        self.words.setToolTip(plain_tip(words))
        tip = f"Smoothing of the training curves: {words}.\nDouble-click to reset."
        self.slider.setToolTip(plain_tip(tip))
