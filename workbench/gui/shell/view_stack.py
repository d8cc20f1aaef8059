"""The views, each built when it is first shown."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from workbench.gui.common.view_spec import WindowServices
from workbench.gui.views import all_views


class ViewStack(QStackedWidget):
    """Shows one view at a time.

    Signals:
        was_built: Key and widget of a view that was just built, before it is shown.

    Attributes:
        built: The views that were built so far, by key.
    """

    was_built = Signal(str, QWidget)

    def __init__(self, services: WindowServices) -> None:
        super().__init__()
        self._services = services
        self.built: dict[str, QWidget] = {}
        self._between = QWidget()
        self.addWidget(self._between)
        self.current_key = ""

    def view(self, key: str) -> QWidget:
        """The view, built now if it was not yet."""
        if key not in self.built:
            widget = self.built[key] = all_views()[key].load()(self._services)
            self.addWidget(widget)
            widget.resize(self.size())  # its panels are sized in the room they will have
            self.was_built.emit(key, widget)
        return self.built[key]

    def show_view(self, key: str) -> QWidget:
        """Brings a view to the front; while it is built for the first time nothing is shown, rather
        than the view before under the name of this one.
        """
        if key not in self.built and self.built:
            self.setCurrentWidget(self._between)
            self.window().repaint()  # now: building takes this thread
        widget = self.view(key)
        self.current_key = key
        self.setCurrentWidget(widget)
        return widget
