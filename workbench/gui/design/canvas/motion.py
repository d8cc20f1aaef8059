"""Motion that shows where things went: a moment, and none where it is switched off."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QEasingCurve, QObject, QPointF, Qt, QVariantAnimation
from PySide6.QtGui import QTransform
from PySide6.QtWidgets import QApplication, QGraphicsItem

MOTION_MS = 120


def allow_motion(*, is_allowed: bool) -> None:
    """Sets whether anything of this application moves by itself."""
    QApplication.setEffectEnabled(Qt.UIEffect.UI_General, is_allowed)


def is_motion_allowed() -> bool:
    """Whether `allow_motion` has allowed motion."""
    return QApplication.isEffectEnabled(Qt.UIEffect.UI_General)


class Glide(QVariantAnimation):
    """Items of a scene come from where they were. Their places are the new ones at once, so that
    nothing but the drawing lags behind.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._offsets: Mapping[QGraphicsItem, QPointF] = {}
        self.setStartValue(1.0)
        self.setEndValue(0.0)
        self.setDuration(MOTION_MS)
        self.setEasingCurve(QEasingCurve.Type.OutCubic)
        self.valueChanged.connect(self._show)

    def start_from(self, offsets: Mapping[QGraphicsItem, QPointF]) -> None:
        """Begins with items so far from their places; those of before are there at once."""
        self.stop()
        self._show(0.0)
        self._offsets = offsets
        if offsets and is_motion_allowed():
            self._show(1.0)
            self.start()

    def _show(self, part: float) -> None:
        for item, offset in self._offsets.items():
            item.setTransform(QTransform.fromTranslate(offset.x() * part, offset.y() * part))
