"""Work for what can be seen: what is hidden is not computed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget


class WhenSeen(QObject):
    """Does the newest work for a widget at once while it is visible, or else when it is shown."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._due: Callable[[], None] | None = None
        widget.installEventFilter(self)

    def do(self, work: Callable[[], None]) -> None:
        """Does this, in place of what is still due."""
        self._due = work
        self._do_due()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show:
            # What has opened the widget may also choose what it shows, right after this.
            QTimer.singleShot(0, self, self._do_due)
        return super().eventFilter(watched, event)

    def _do_due(self) -> None:
        work = self._due
        if work is not None and self._widget.isVisible():
            self._due = None
            work()
