"""The views, each built when it is first shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

Maker = Callable[[], QWidget]


class ViewStack(QStackedWidget):
    """Shows one view at a time.

    Signals:
        built: Key and widget of a view that was just built, before it is shown.
    """

    built = Signal(str, QWidget)

    def __init__(self, makers: Mapping[str, Maker]) -> None:
        super().__init__()
        self._makers = dict(makers)
        self._views: dict[str, QWidget] = {}
        self.current_key = ""

    def view(self, key: str) -> QWidget:
        """The view, built now if it was not yet."""
        if key not in self._views:
            widget = self._makers[key]()
            self._views[key] = widget
            self.addWidget(widget)
            widget.resize(self.size())  # its panels are sized in the room they will have
            self.built.emit(key, widget)
        return self._views[key]

    def built_views(self) -> Mapping[str, QWidget]:
        """The views that were built so far."""
        return dict(self._views)

    def show_view(self, key: str) -> QWidget:
        """Brings a view to the front."""
        widget = self.view(key)
        self.current_key = key
        self.setCurrentWidget(widget)
        return widget
