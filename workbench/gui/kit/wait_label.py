"""What is shown while something is done: words, after two seconds for how long, and a bar."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QLabel, QProgressBar

from workbench.core.format import clock
from workbench.gui.kit.labels import set_role, window_words

SAY_HOW_LONG_AFTER_S = 2.0
TICK_MS = 500


class WaitLabel(QLabel):
    """Plain words that keep their line when they are empty."""

    def __init__(self) -> None:
        super().__init__()
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setProperty("role", "dim")
        self.setMinimumHeight(self.fontMetrics().lineSpacing())
        self._words = ""
        self._since = monotonic()
        self._tick = QTimer(self)
        self._tick.setInterval(TICK_MS)
        self._tick.timeout.connect(self._refresh)

    @property
    def is_waiting(self) -> bool:
        """Whether something is being done."""
        return self._tick.isActive()

    def wait_for(self, words: str) -> None:
        """Shows what is being done; the clock runs since the first such words."""
        if not self._tick.isActive():
            self._since = monotonic()
            set_role(self, "dim")
            self._tick.start()
        self._words = words.rstrip("…. ")
        self._refresh()

    def say(self, words: str, *, is_bad: bool = False) -> None:
        """Ends the wait and shows words, or nothing."""
        self._tick.stop()
        set_role(self, "bad" if is_bad else "dim")
        self.setText(window_words(words))

    def _refresh(self) -> None:
        waited_s = monotonic() - self._since
        is_long = waited_s >= SAY_HOW_LONG_AFTER_S
        self.setText(f"{self._words}, {clock(waited_s)}" if is_long else f"{self._words}…")


class SteadyBar(QProgressBar):
    """A bar without words that is painted together with all else that has changed. Qt's own paints
    itself at once, and with it all around it, be it laid out for what was shown before.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setTextVisible(False)

    def setRange(self, minimum: int, maximum: int) -> None:
        """Qt's own; 0 to 0 is a bar that moves while nothing is known."""
        with self._painted_later():
            super().setRange(minimum, maximum)

    def setValue(self, value: int) -> None:
        """Sets the value as Qt does."""
        if value != self.value():
            with self._painted_later():
                super().setValue(value)

    @contextmanager
    def _painted_later(self) -> Iterator[None]:
        self.setUpdatesEnabled(False)
        try:
            yield
        finally:
            self.setUpdatesEnabled(True)
