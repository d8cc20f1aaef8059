"""Writes files in a thread of its own, one after another, so that no window waits."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEventLoop, QObject, QRunnable, QThreadPool, Signal

from workbench.errors import SaveError

Done = Callable[[SaveError | None], None]


class _Write(QRunnable):
    """Not a function given to the pool: PySide 6.11 sometimes crashes when it deletes those."""

    def __init__(self, owner: FileWriter, number: int, save: Callable[[], None]) -> None:
        super().__init__()
        self.setAutoDelete(True)
        self._owner = owner
        self._number = number
        self._save = save

    def run(self) -> None:
        self._owner.written.emit(self._number, _outcome_of(self._save))


class FileWriter(QObject):
    """A queue of writes. What they need must be immutable: they run in another thread."""

    written = Signal(int, object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(1)
        self._waiting: dict[int, Done] = {}
        self._number = 0
        self._is_closed = False
        self.written.connect(self._on_written)

    def write(self, save: Callable[[], None], done: Done) -> None:
        """Runs `save` soon; `done` is called in this thread with its SaveError or None."""
        if self._is_closed:
            return
        self._number += 1
        number = self._number
        self._waiting[number] = done
        self._pool.start(_Write(self, number, save))

    def write_and_wait(self, save: Callable[[], None]) -> None:
        """Runs `save` after all others and returns when it is done; the window goes on
        painting meanwhile, but takes no keys and clicks.

        Raises:
            SaveError: what `save` raised.
        """
        loop = QEventLoop()
        outcome: list[SaveError | None] = []

        def finish(error: SaveError | None) -> None:
            outcome.append(error)
            loop.quit()

        self.write(save, finish)
        while not outcome:
            loop.exec(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)
        if outcome[0] is not None:
            raise outcome[0]

    def finish(self) -> None:
        """Blocks until everything is written: for the end of the application."""
        self._pool.waitForDone(-1)

    def close(self) -> None:
        """Finishes as `finish` does, and takes nothing more: for writes that may be lost, such as a
        layout.
        """
        self._is_closed = True
        self.finish()

    def _on_written(self, number: int, error: SaveError | None) -> None:
        self._waiting.pop(number)(error)


def _outcome_of(save: Callable[[], None]) -> SaveError | None:
    """Runs a write in the pool's thread; nothing may escape there, so all is made words."""
    try:
        save()
    except SaveError as error:
        return error
    except Exception as error:  # noqa: BLE001 - handed to the window's thread in words
        return SaveError("The file could not be written.", received=f"{error}")
    return None
