"""A connection to another computer is lost, and tried again by a click: a real ssh server on
loopback, the real run mirror in a thread, and a light trainer behind them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading

import pytest
from PySide6.QtCore import Qt

from tests.remote.there import There
from tests.sshd import sshd  # noqa: F401 - a fixture
from workbench.core.projects.project import Project
from workbench.core.storage.own_file import take_lock
from workbench.gui.panels import panels_of
from workbench.gui.train.view import TrainView
from workbench.protocol.events import Heartbeat
from workbench.remote.mirror import run_mirror
from workbench.remote.mirror.run_mirror import LinkReporter
from workbench.remote.ssh.command import RemoteHost
from workbench.remote.ssh.connection import Connection
from workbench.remote.ssh.host_keys import accept, offered_keys
from workbench.runs.control import send_command
from workbench.runs.folder import create_run
from workbench.runs.link import read_link, write_link
from workbench.runs.log.event_log import read_all

PATIENCE_MS = 120_000
WAIT_S = 3_600.0
"""Longer than any test waits: only a click ends it."""


@pytest.fixture
def view(show_view, context):
    return show_view(TrainView(context, panels_of("train")), 1300, 800)


@pytest.fixture
def brought(sshd, context, open_library, monkeypatch):  # noqa: F811
    """A run that a mirror brings over ssh, selected in the window; ended at the end."""
    monkeypatch.setenv("SSH_AUTH_SOCK", "")
    monkeypatch.setattr(run_mirror, "_FIRST_WAIT_S", WAIT_S)
    monkeypatch.setattr(run_mirror, "_LONGEST_WAIT_S", WAIT_S)
    home = sshd.home / "workbench"
    place = RemoteHost(
        host=sshd.address,
        user=sshd.user,
        port=sshd.port,
        key_file=str(sshd.key_file),
        home=str(home),
    )
    accept(place, offered_keys(place))
    there = There(home, events=20_000)
    run = create_run(Project())
    lock = take_lock(run.lock_path)
    reporter = LinkReporter(run, host=place.text(), device="")
    write_link(run, reporter.link)
    mirror = run_mirror.RunMirror(run, lambda: Connection.to(place), there.prepare, reporter)
    thread = threading.Thread(target=mirror.run)
    thread.start()
    open_library()
    context.library.select(run.path)
    yield run
    send_command(run, "leave")
    thread.join(PATIENCE_MS / 1000)
    for pid in there.pids():
        with contextlib.suppress(OSError):
            os.kill(int(pid), signal.SIGKILL)
    os.close(lock)


def num_heartbeats(run):
    if not run.events_path.exists():
        return 0
    return sum(isinstance(event, Heartbeat) for event in read_all(run.events_path))


def test_a_click_on_try_now_connects_again_without_waiting(qtbot, view, brought, sshd):  # noqa: F811
    trouble = view.trouble
    qtbot.waitUntil(lambda: num_heartbeats(brought) > 5, timeout=PATIENCE_MS)
    assert trouble.isHidden()
    sshd.stop()
    qtbot.waitUntil(trouble.isVisible, timeout=PATIENCE_MS)
    assert "reconnecting in" in trouble.words.text()
    offered = [offer.text() for offer in trouble._offers if offer.isVisible()]
    assert offered == ["Try now"]
    assert trouble.property("role") == "notice"

    # In vain: it is reported, and can be tried once more.
    tries = read_link(brought).tries
    qtbot.mouseClick(trouble.try_now, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: read_link(brought).tries > tries, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: "reconnecting in" in trouble.words.text(), timeout=PATIENCE_MS)

    sshd.start()
    before = num_heartbeats(brought)
    # The words count the seconds: a press that takes longer is a click all the same.
    words = trouble.words.text()
    qtbot.mousePress(trouble.try_now, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: trouble.words.text() != words)
    assert trouble.try_now.hasFocus()
    qtbot.mouseRelease(trouble.try_now, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: read_link(brought).state == "attached", timeout=PATIENCE_MS)
    qtbot.waitUntil(trouble.isHidden, timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: num_heartbeats(brought) > before, timeout=PATIENCE_MS)
    assert not brought.retry_path.exists()
