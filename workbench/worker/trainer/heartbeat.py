"""Signs of life of a trainer: one event every two seconds, with the memory it holds."""

from __future__ import annotations

import threading
from typing import Self

from workbench.processes.memory import resident_bytes
from workbench.protocol.events import Heartbeat
from workbench.runs.log.event_log import EventWriter

INTERVAL_S = 2.0


class HeartbeatThread:
    """Beats in a thread of its own while it is entered; the first beat comes at once."""

    def __init__(self, writer: EventWriter, *, interval_s: float = INTERVAL_S) -> None:
        self._writer = writer
        self._interval_s = interval_s
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._beat, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._end.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._end.is_set():
            self._writer.write(Heartbeat(memory_bytes=resident_bytes()))
            self._end.wait(self._interval_s)
