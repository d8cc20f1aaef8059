"""Ctrl+C while a run is started and followed: it requests a stop, and drops nothing."""

from __future__ import annotations

import signal
import threading
import time
from types import FrameType
from typing import Self

from workbench.runs.control import request_skip, request_stop
from workbench.runs.folder import RunFolder

_PATIENCE_S = 1.0
_SLICE_S = 0.05


class CtrlC:
    """Handles Ctrl+C for a run; use as a context manager from before its trainer is started.

    The handler only sets a flag; the next check sends the stop request, the latest one on
    exit. A command that is blocked before its next check, as by a full pipe, is ended by
    the second Ctrl+C.

    Args:
        folder: The run.

    Attributes:
        is_pressed: Ctrl+C was pressed, and no stop requested yet.
        has_asked: A stop of the run was requested.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._is_installed = False
        self._pressed_s = 0.0
        self.is_pressed = False
        self.has_asked = False

    def __enter__(self) -> Self:
        # A shell's background commands ignore the key; other threads never receive it.
        is_main = threading.current_thread() is threading.main_thread()
        if is_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._is_installed = True
            signal.signal(signal.SIGINT, self._on_key)
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._is_installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if self._folder.is_alive():
            self.pass_on()

    def pass_on(self) -> None:
        """Requests a stop of the run if Ctrl+C was pressed since the last call; the next time to
        skip what goes on behind its last step.

        Raises:
            SaveError: the run's folder cannot be written.
        """
        if self.is_pressed:
            self.is_pressed = False
            if self.has_asked:
                request_skip(self._folder)
            else:
                self.has_asked = True
                request_stop(self._folder)

    def sleep(self, seconds: float) -> None:
        """Sleeps, but not on when the key is pressed."""
        until = time.monotonic() + seconds
        while not self.is_pressed and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _SLICE_S))

    def _on_key(self, _number: int, _frame: FrameType | None) -> None:
        now = time.monotonic()
        if self.is_pressed and now - self._pressed_s > _PATIENCE_S:
            raise KeyboardInterrupt
        if not self.is_pressed:
            self.is_pressed, self._pressed_s = True, now
