"""What the user chooses for all plots at once, as actions of their menus."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu

from workbench.curves import CurveSpec
from workbench.gui.plots.x_scale import X_AXES

DEFAULT_X_AXIS = "epoch"


class PlotChoices(QObject):
    """The x axis, whether it is logarithmic, and which plots are shown below the others.

    The same actions stand in the menu of each plot. `changed` when one of them changes.

    Args:
        below: The curves that can be shown there.
        parent: Qt's.
    """

    changed = Signal()

    def __init__(self, below: Iterable[CurveSpec], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._axes = QActionGroup(self)
        for key, title in X_AXES.items():
            action = self._axes.addAction(title)
            action.setCheckable(True)
            action.setData(key)
            action.setChecked(key == DEFAULT_X_AXIS)
        self.log_x = QAction("Logarithmic x axis", self)
        self.log_x.setCheckable(True)
        self.below = {curve.key: QAction(f"Show {curve.title.lower()}", self) for curve in below}
        for action in self.below.values():
            action.setCheckable(True)
            action.toggled.connect(self._tell)
        self._axes.triggered.connect(self._tell)
        self.log_x.toggled.connect(self._tell)

    @property
    def x_axis(self) -> str:
        """A key of X_AXES."""
        return str(self._axes.checkedAction().data())

    @property
    def is_x_log(self) -> bool:
        """Whether the x axis is logarithmic."""
        return self.log_x.isChecked()

    def set_x_axis(self, kind: str) -> None:
        """Chooses by key."""
        for action in self._axes.actions():
            if action.data() == kind and not action.isChecked():
                action.setChecked(True)
                self._tell()

    def add_to(self, menu: QMenu) -> None:
        """Adds the actions to a plot's menu."""
        axes = menu.addMenu("X axis")
        axes.addActions(self._axes.actions())
        axes.addSeparator()
        axes.addAction(self.log_x)
        menu.addActions(list(self.below.values()))

    def _tell(self, _what: object = None) -> None:
        self.changed.emit()
