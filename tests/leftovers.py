"""What a test leaves behind: threads, processes, log records; of Qt: tests/qt_leftovers.py."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path

from tests import qt_leftovers

HARMLESS_THREADS = {
    "tqdm_monitor": "tqdm starts one per process and keeps it",
    "decode_": "workbench.pictures.file_rows keeps one pool per process",
}
"""How the names of threads begin that stay for the life of the process, and why."""

HARMLESS_PROGRAMS = {
    "multiprocessing.resource_tracker": "Python starts one per process and keeps it",
}
"""Parts of command lines of processes that stay for the life of this one, and why."""

HARMLESS_RECORDS = {
    "Qt: This plugin does not support": "what Qt's offscreen platform lacks",
    "triggered tf.function retracing": "tests build many networks in one process",
}
"""Parts of log records that no test is about, and why."""


class Leftovers:
    """Looks before a test, and again after it.

    Attributes:
        marks: Texts that show whose a process is that is no child of this one: folders of this
            test alone, in its environment or its command line.
    """

    def __init__(self) -> None:
        self.marks: list[str] = []
        self.expected_logs: list[str] = []
        self._threads = set(threading.enumerate())
        self._pids = _all_pids()
        self._qt = set(qt_leftovers.look())
        RECORDS.lines = []

    def found(self, *, patience_s: float = 30.0) -> list[str]:
        """One line per leftover.

        Args:
            patience_s: For what is ending already: a thread that was asked to stop, a process
                without stdin. Processes that are still there then are killed.
        """
        if self._left_of_qt():
            qt_leftovers.delete_garbage()
        looks = (self._left_of_qt, self._left_threads, self._left_processes)
        deadline = time.monotonic() + patience_s
        while (left := [line for look in looks for line in look()]) and time.monotonic() < deadline:
            time.sleep(0.02)
        for pid in self._new_pids():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        return left + self._logs()

    def _left_of_qt(self) -> list[str]:
        return [text for key, text in qt_leftovers.look().items() if key not in self._qt]

    def _left_threads(self) -> list[str]:
        # Dummies are threads of C++ that have called Python: of Qt's pools, which are looked at
        # with Qt, and of TensorFlow.
        return [
            f"thread left: {thread.name}"
            for thread in threading.enumerate()
            if thread not in self._threads
            and not isinstance(thread, threading._DummyThread)
            and not thread.name.startswith(tuple(HARMLESS_THREADS))
        ]

    def _left_processes(self) -> list[str]:
        return [f"process left: {pid} {_words(pid)}" for pid in self._new_pids()]

    def _new_pids(self) -> list[int]:
        return [pid for pid in sorted(_all_pids() - self._pids) if self._is_ours(pid)]

    def _is_ours(self, pid: int) -> bool:
        state, parent = _state_and_parent(pid)
        words = _words(pid)
        if state in {"", "Z", "X"} or any(part in words for part in HARMLESS_PROGRAMS):
            return False
        text = _read(f"/proc/{pid}/environ") + words
        return parent == os.getpid() or any(mark in text for mark in self.marks)

    def _logs(self) -> list[str]:
        lines, RECORDS.lines = RECORDS.lines, []
        expected = self.expected_logs
        missing = [p for p in expected if not any(re.search(p, line) for line in lines)]
        return [
            *(f"logged: {line}" for line in lines if not any(re.search(p, line) for p in expected)),
            *(f"not logged: {pattern}" for pattern in missing),
        ]


class LogRecords(logging.Handler):
    """Keeps what was logged as a warning or worse, as lines of text."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        line = self.format(record)
        if not any(part in line for part in HARMLESS_RECORDS):
            self.lines.append(line)


RECORDS = LogRecords()


_MANY_MODULES = 200
_frozen: set[str] = set()


def freeze_modules() -> None:
    """Where many modules are new, takes what there is now out of all later garbage collections:
    modules stay, and those of TensorFlow alone make each collection take a third of a second.
    """
    if len(sys.modules) < len(_frozen) + _MANY_MODULES:
        return
    _frozen.update(sys.modules)
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def watch() -> None:
    """Called once, before the first test."""
    logging.getLogger().addHandler(RECORDS)
    if "PySide6.QtCore" in sys.modules:
        qt_leftovers.watch()


def _all_pids() -> set[int]:
    return {int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()}


def _read(path: str) -> str:
    """Text of a file of /proc; "" when the process is gone."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _state_and_parent(pid: int) -> tuple[str, int]:
    fields = _read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    return (fields[0], int(fields[1])) if fields else ("", 0)


def _words(pid: int) -> str:
    return _read(f"/proc/{pid}/cmdline").replace("\0", " ").strip()
