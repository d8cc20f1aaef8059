"""What a test leaves behind in Qt: windows, running timers, work in pools of threads.

Imports Qt only where a test has: the pure lanes run without.
"""

from __future__ import annotations

import gc
import sys
import time
import weakref

_timers: weakref.WeakSet = weakref.WeakSet()
_pools: weakref.WeakSet = weakref.WeakSet()
_shots: list[tuple[float, weakref.ref | None, str]] = []
"""When each is due, for whom (None: for as long as the application runs), and in words."""


def watch() -> None:
    """Notes each timer and pool that is started from now on: Qt has no list of them."""
    from PySide6.QtCore import QThreadPool, QTimer

    start_timer, start_work, shoot_later = QTimer.start, QThreadPool.start, QTimer.singleShot

    def start(timer, *arguments):
        _timers.add(timer)
        start_timer(timer, *arguments)

    def work(pool, *arguments):
        _pools.add(pool)
        start_work(pool, *arguments)

    def shoot(milliseconds, *rest):
        if milliseconds > 0:
            receiver = rest[0] if len(rest) > 1 else getattr(rest[0], "__self__", None)
            weak = None if receiver is None else weakref.ref(receiver)
            text = f"timer left: after {milliseconds} ms {rest[-1]}"
            _shots.append((time.monotonic() + milliseconds / 1000, weak, text))
        shoot_later(milliseconds, *rest)

    QTimer.start, QThreadPool.start, QTimer.singleShot = start, work, staticmethod(shoot)


def look() -> dict[object, str]:
    """What is there now: something to recognize it by -> in words."""
    if "PySide6.QtWidgets" not in sys.modules:
        return {}
    from PySide6.QtWidgets import QApplication
    from shiboken6 import getCppPointer

    if QApplication.instance() is None:
        return {}
    found: dict[object, str] = {}
    for widget in QApplication.topLevelWidgets():
        found["window", getCppPointer(widget)[0]] = (
            f"window left: {type(widget).__name__} {widget.windowTitle()!r}"
        )
    found.update(_running())
    return found


def _running() -> dict[object, str]:
    from shiboken6 import isValid

    found: dict[object, str] = {}
    for timer in _timers:
        if isValid(timer) and timer.isActive():
            owner = type(timer.parent()).__name__
            found["timer", id(timer)] = f"timer left: of {owner}, every {timer.interval()} ms"
    for pool in _pools:
        if isValid(pool) and pool.activeThreadCount():
            found["pool", id(pool)] = f"work left: in a pool of {type(pool.parent()).__name__}"
    for shot in list(_shots):
        due, weak, text = shot
        receiver = None if weak is None else weak()
        if due < time.monotonic() or (weak and (receiver is None or not isValid(receiver))):
            _shots.remove(shot)
        else:
            found[due, text] = text
    return found


def delete_garbage() -> None:
    """Deletes what is closed, and circles that nothing refers to: those are no leaks."""
    from PySide6.QtCore import QCoreApplication, QEvent

    # What is collected first may own what only then can be collected.
    for _ in range(3):
        gc.collect()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
