"""What the user chooses for all plots at once, as actions of their menus."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu

from workbench.curves import CurveSpec
from workbench.gui.plots.x_scale import X_AXES


class PlotChoices(QObject):
    """The x axis, whether it is logarithmic, and which plots are shown below the others.

    The same actions are in the menu of each plot. `changed` when one of them changes.
    """

    changed = Signal()

    def __init__(self, below: Iterable[CurveSpec], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._group = QActionGroup(self)
        self.axes = {key: self._group.addAction(title) for key, title in X_AXES.items()}
        for key, action in self.axes.items():
            action.setCheckable(True)
            action.setData(key)
        self.axes["epoch"].setChecked(True)
        self.log_x = QAction("Logarithmic x axis", self)
        self.log_x.setCheckable(True)
        self.below = {curve.key: QAction(f"Show {curve.title.lower()}", self) for curve in below}
        for action in self.below.values():
            action.setCheckable(True)
            action.toggled.connect(self.changed)
        self._group.triggered.connect(self.changed)
        self.log_x.toggled.connect(self.changed)

    @property
    def x_axis(self) -> str:
        """A key of X_AXES."""
        return str(self._group.checkedAction().data())

    @property
    def is_x_log(self) -> bool:
        """Whether the x axis is logarithmic."""
        return self.log_x.isChecked()

    def add_to(self, menu: QMenu) -> None:
        """Adds the actions to a plot's menu."""
        axes = menu.addMenu("X axis")
        axes.addActions(self._group.actions())
        axes.addSeparator()
        axes.addAction(self.log_x)
        menu.addActions(list(self.below.values()))
