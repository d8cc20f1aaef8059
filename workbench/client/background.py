"""Work off the window's thread: a function runs in a pool, its result comes back as a call
on the thread of the owner. QtCore only.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable
from typing import Any, TypeVar

from PySide6.QtCore import QObject, QRunnable, Qt, QThreadPool, Signal, Slot

from workbench.errors import RunError, WorkbenchError, os_errors_as

T = TypeVar("T")

_log = logging.getLogger(__name__)

Failure = Callable[[WorkbenchError], None]


class _Job(QRunnable):
    def __init__(self, owner: Background, number: int, work: Callable[[], Any]) -> None:
        super().__init__()
        self.setAutoDelete(True)
        self._owner = owner
        self._number = number
        self._work = work

    def run(self) -> None:
        result, failure = None, None
        try:
            with os_errors_as(RunError, "A file could not be read or written.", ""):
                result = self._work()
        except WorkbenchError as error:
            failure = error
        except Exception as error:  # noqa: BLE001 - lost in a thread, the caller would wait for ever
            _log.exception("Work in another thread failed")
            failure = RunError("An unexpected error occurred in Workbench.", received=repr(error))
        with contextlib.suppress(RuntimeError):  # the owner is gone: nobody waits for the result
            self._owner.ended.emit(self._number, result, failure)


class Background(QObject):
    """A small pool of threads for one owner. `close` or `finish` must be called before the
    application ends: they wait for what runs, and drop results that have not been delivered yet;
    `close_soon` does not keep its thread waiting.
    """

    ended = Signal(int, object, object)

    def __init__(self, parent: QObject | None = None, *, max_threads: int = 2) -> None:
        super().__init__(parent)
        self._pool = QThreadPool()
        self._pool.setMaxThreadCount(max_threads)
        self._waiting: dict[int, tuple[Callable[[Any], None], Failure | None]] = {}
        self._next = 1
        self._unended: set[int] = set()
        self._on_closed: Callable[[], None] | None = None
        self.ended.connect(self._on_ended, Qt.ConnectionType.QueuedConnection)

    @property
    def is_busy(self) -> bool:
        """Whether results are still to come."""
        return bool(self._waiting)

    def run(
        self, work: Callable[[], T], on_done: Callable[[T], None], on_failed: Failure | None = None
    ) -> None:
        """Runs `work` in the pool; then calls `on_done(result)` or `on_failed(error)` here.

        Args:
            work: Must touch nothing that this thread touches meanwhile.
            on_done: Called on this object's thread.
            on_failed: The same, for a WorkbenchError or OSError; without it failures of a
                look that is repeated anyway are passed over.
        """
        number, self._next = self._next, self._next + 1
        if self._on_closed is not None:
            return
        self._waiting[number] = (on_done, on_failed)
        self._unended.add(number)
        self._pool.start(_Job(self, number, work))

    def close(self) -> None:
        """Waits for running work, and drops what has not begun; nothing is called back any more."""
        self._pool.clear()
        self.finish()

    def finish(self) -> None:
        """Waits for all work, also what has not begun; nothing is called back any more."""
        self._waiting.clear()
        self._pool.waitForDone()

    def close_soon(self, on_closed: Callable[[], None]) -> None:
        """Drops all results, and calls `on_closed()` here once all work has ended, also what has
        not begun; at once where there is none.
        """
        self._waiting.clear()
        self._on_closed = on_closed
        if not self._unended:
            on_closed()

    @Slot(int, object, object)
    def _on_ended(self, number: int, result: object, error: object) -> None:
        on_done, on_failed = self._waiting.pop(number, (None, None))
        self._unended.discard(number)
        if self._on_closed is not None and not self._unended:
            self._on_closed()
            return
        if isinstance(error, WorkbenchError):
            if on_failed is not None:
                on_failed(error)
        elif on_done is not None:
            on_done(result)
