"""The fixture that fails tests which leave something behind finds each kind of it."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading

import pytest

from tests.leftovers import Leftovers

SLEEPER = (sys.executable, "-c", "input()")


def test_a_thread_is_found_until_it_has_ended():
    before, over = Leftovers(), threading.Event()
    thread = threading.Thread(target=over.wait, name="stays")
    thread.start()
    assert before.found(patience_s=0) == ["thread left: stays"]
    over.set()
    assert before.found() == []


def test_a_child_is_found_and_killed():
    before = Leftovers()
    with subprocess.Popen(SLEEPER, stdin=subprocess.PIPE) as child:
        (line,) = before.found(patience_s=0)
        assert line.startswith(f"process left: {child.pid} ")
        child.wait()
    assert before.found() == []


def test_a_process_that_is_no_child_is_known_by_a_mark():
    before = Leftovers()
    code = f"import subprocess; print(subprocess.Popen({SLEEPER!r}, stdin=0, stdout=2).pid)"
    reading, writing = os.pipe()
    command = [sys.executable, "-c", code]
    environment = {**os.environ, "MARK": "/of/one/test"}
    out = subprocess.run(
        command, env=environment, stdin=reading, stdout=subprocess.PIPE, text=True, check=True
    )
    assert before.found(patience_s=0) == []
    before.marks.append("/of/one/test")
    (line,) = before.found(patience_s=0)
    assert line.startswith(f"process left: {out.stdout.strip()} ")
    assert before.found() == []
    os.close(reading)
    os.close(writing)


def test_a_warning_must_be_expected_and_come():
    before = Leftovers()
    log = logging.getLogger("workbench.test")
    log.info("all is well")
    log.warning("the disk is full")
    assert before.found() == ["logged: WARNING workbench.test: the disk is full"]
    before.expected_logs.append("disk is full")
    assert before.found() == ["not logged: disk is full"]
    log.warning("the disk is full")
    assert before.found() == []


def test_windows_timers_and_work_of_qt_are_found(qapp):
    import shiboken6
    from PySide6.QtCore import QObject, QThreadPool, QTimer
    from PySide6.QtWidgets import QWidget

    before, over = Leftovers(), threading.Event()
    window, owner, pool = QWidget(), QObject(), QThreadPool()
    window.setWindowTitle("Left")
    timer = QTimer(owner)
    timer.start(60_000)
    QTimer.singleShot(60_000, owner, owner.deleteLater)
    pool.start(over.wait)
    found = before.found(patience_s=0)
    assert found[:2] == ["window left: QWidget 'Left'", "timer left: of QObject, every 60000 ms"]
    assert found[2] == "work left: in a pool of NoneType"
    assert found[3].startswith("timer left: after 60000 ms")
    assert len(found) == 4
    over.set()
    pool.waitForDone()
    shiboken6.delete(owner)
    del window
    assert before.found() == []


def test_what_was_there_before_is_not_found(qapp):
    from PySide6.QtWidgets import QWidget

    window, over = QWidget(), threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    assert Leftovers().found(patience_s=0) == []
    over.set()
    thread.join()
    window.deleteLater()


@pytest.mark.parametrize("name", ["_leftovers", "_fresh_home"])
def test_every_test_is_looked_at(request, name):
    assert name in request.fixturenames
