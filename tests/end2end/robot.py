"""A person's hands: moves the pointer, presses, drags and types through xdotool while the
application's own event loop runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QEventLoop, QPoint, QProcess, QTimer
from PySide6.QtWidgets import QApplication, QWidget

_PAUSE = ["sleep", "0.05"]


class GaveUpError(AssertionError):
    """Something that should have happened did not in the time given."""


class Robot:
    """Every method returns when the input has been given and the events it caused ran."""

    def click(self, point: QPoint, *, times: int = 1) -> None:
        """Presses and releases the left button."""
        clicks = ["click", "--repeat", str(times), "--delay", "60", "1"]
        self._xdotool(*self._to(point), *_PAUSE, *clicks)

    def drag(self, start: QPoint, end: QPoint) -> None:
        """Presses at `start`, moves in small steps to `end`, releases there."""
        words = [*self._to(start), *_PAUSE, "mousedown", "1", *_PAUSE]
        for step in range(1, 16):
            words += [*self._to(start + (end - start) * (step / 15)), "sleep", "0.03"]
        self._xdotool(*words, "sleep", "0.15", "mouseup", "1")

    def key(self, *names: str) -> None:
        """Presses keys such as "ctrl+5", "Return"."""
        self._xdotool("key", "--delay", "40", *names)

    def write(self, text: str) -> None:
        """Types text."""
        self._xdotool("type", "--delay", "20", text)

    def focus(self, window: QWidget) -> None:
        """Gives the keyboard to a window (there is no window manager to do it)."""
        self._xdotool("windowfocus", str(int(window.winId())))

    def wait(self, is_there: Callable[[], object], what: str, *, timeout_s: float = 60) -> None:
        """Lets the application run until `is_there()`; raises GaveUpError naming `what`."""
        end = time.monotonic() + timeout_s
        while not is_there():
            if time.monotonic() > end:
                raise GaveUpError(f"Waited {timeout_s:.0f} s for: {what}")
            self.pause(30)

    def pause(self, milliseconds: int) -> None:
        """Lets the application run for a while."""
        loop = QEventLoop()
        QTimer.singleShot(milliseconds, loop.quit)
        loop.exec()

    @staticmethod
    def _to(point: QPoint) -> list[str]:
        return ["mousemove", str(point.x()), str(point.y())]

    def _xdotool(self, *words: str) -> None:
        process = QProcess()
        loop = QEventLoop()
        process.finished.connect(loop.quit)
        process.start("xdotool", list(words))
        if not process.waitForStarted(5000):
            raise GaveUpError("xdotool did not start")
        if process.state() != QProcess.ProcessState.NotRunning:
            loop.exec()
        if process.exitCode() != 0:
            raise GaveUpError(bytes(process.readAllStandardError()).decode())
        QApplication.sendPostedEvents()
        self.pause(60)


def center(widget: QWidget) -> QPoint:
    """The middle of a widget on the screen."""
    return widget.mapToGlobal(widget.rect().center())
