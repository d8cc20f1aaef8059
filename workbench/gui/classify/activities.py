"""What brings images in for a while, and how the user ends it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal


class Activities(QObject):
    """What is under way, by key; each has a button of its own that ends it.

    Signals:
        begun(str, str): This key, with the words of its button.
        ended(str): It is over.
    """

    begun = Signal(str, str)
    ended = Signal(str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._stops: dict[str, Callable[[], None]] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing is under way."""
        return not self._stops

    def begin(self, key: str, words: str, stop: Callable[[], None]) -> None:
        """Adds an activity under way, which `stop` ends soon."""
        self._stops[key] = stop
        self.begun.emit(key, words)

    def end(self, key: str) -> None:
        """Removes an activity that is over, however it has ended."""
        if self._stops.pop(key, None) is not None:
            self.ended.emit(key)

    def stop(self, key: str) -> None:
        """Ends an activity for the user."""
        if key in self._stops:
            self._stops[key]()
