"""A person's hands: moves the pointer, presses, drags and types through xdotool while the
application's own event loop runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import QEventLoop, QPoint, QProcess, QTimer
from PySide6.QtWidgets import QApplication, QWidget

W = TypeVar("W", bound=QWidget)
_PAUSE = ["sleep", "0.05"]
_STILL = 5
"""So many looks, 30 ms apart, at which a place that is at rest is the same."""


class GaveUpError(AssertionError):
    """Something that should have happened did not in the time given."""


class Robot:
    """Every method returns when the input has been given and the events it caused ran."""

    def click(self, point: QPoint, *, times: int = 1, button: int = 1, holding: str = "") -> None:
        """Presses and releases a button (1 left, 3 right), while a key such as "ctrl" is held."""
        clicks = ["click", "--repeat", str(times), "--delay", "60", str(button)]
        held = (["keydown", holding], ["keyup", holding]) if holding else ([], [])
        self._xdotool(*self._to(point), *_PAUSE, *held[0], *clicks, *held[1])

    def rest_on(self, point: QPoint) -> None:
        """Moves the pointer to a point, and leaves it there."""
        self._xdotool(*self._to(point + QPoint(2, 0)), *_PAUSE, *self._to(point))

    def drag(
        self, start: QPoint, end: QPoint, *, before_release: Callable[[], None] | None = None
    ) -> None:
        """Presses at `start`, moves in small steps to `end`, releases there."""
        words = [*self._to(start), *_PAUSE, "mousedown", "1", *_PAUSE]
        for step in range(1, 16):
            words += [*self._to(start + (end - start) * (step / 15)), "sleep", "0.03"]
        if before_release is not None:
            self._xdotool(*words)
            before_release()
            words = self._to(end + QPoint(1, 0))
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
        if not self.sees(is_there, timeout_s=timeout_s):
            raise GaveUpError(f"Waited {timeout_s:.0f} s for: {what}")

    def sees(self, is_there: Callable[[], object], *, timeout_s: float = 10) -> bool:
        """Lets the application run until `is_there()`; False where it is not in the time given."""
        end = time.monotonic() + timeout_s
        while not is_there():
            if time.monotonic() > end:
                return False
            self.pause(30)
        return True

    def at_rest(self, place: Callable[[], QPoint]) -> QPoint:
        """A point of the screen once it has stopped moving: a layout that is still changing would
        put something else under the pointer."""
        points: list[QPoint] = []

        def has_stopped() -> bool:
            points.append(place())
            return points[-_STILL:] == [points[-1]] * _STILL

        self.wait(has_stopped, "a place that stays where it is")
        return points[-1]

    def while_open(
        self,
        find: Callable[[], QWidget | None],
        act: Callable[[Any], None],
        *,
        opening: Callable[[], None],
    ) -> None:
        """Opens a menu or a dialog that runs its own event loop, and acts while it is open.

        Args:
            find: The widget, or None while it is not there.
            act: Given the widget; ends with what closes it.
            opening: The input that opens it; returns when it is closed again.
        """
        failed: list[Exception] = []

        def look() -> None:
            widget = find()
            if widget is None:
                QTimer.singleShot(50, look)
                return
            try:
                self.pause(150)
                act(widget)
            except (GaveUpError, StopIteration) as error:
                failed.append(error)
                widget.close()

        QTimer.singleShot(50, look)
        opening()
        self.wait(lambda: find() is None, "the menu or dialog closed")
        if failed:
            raise failed[0]

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


def opened(kind: type[W]) -> W | None:
    """A window, menu or dialog of a kind that is shown now."""
    found = (each for each in QApplication.topLevelWidgets() if isinstance(each, kind))
    return next((each for each in found if each.isVisible()), None)
