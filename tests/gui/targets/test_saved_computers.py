"""Computers that were connected before: listed at the start, forgotten in the menu."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox

from workbench.gui.kit.labels import ElidedLabel
from workbench.remote.ssh.host import RemoteHost
from workbench.remote.ssh.host_keys import HostKey, accept, accepted_keys
from workbench.remote.ssh.saved_hosts import save_host, saved_hosts

ME, YOU = (RemoteHost(host="vm", user=user, port=2222) for user in ("me", "you"))
KEY = HostKey("ssh-ed25519", "AAAAC3NzaC1lZDI1NTE5AAAAIGFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh")


@pytest.fixture
def hosts():
    for place in (ME, YOU):
        save_host(place, words="v5litepod-8, 112 cores")
    accept(ME, [KEY])


def forgetting(window):
    """Address -> action of the menu of targets, as it opens now."""
    window.top.targets.aboutToShow.emit()
    titles = {action.text(): action.menu() for action in window.top.targets.actions()}
    menu = titles.get("Forget a computer")
    return {action.text(): action for action in menu.actions()} if menu is not None else {}


def trigger(window, text, answer):
    """Chooses an entry, and a button of the question it leads to."""
    asked = []

    def click():
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        asked.append(box.text())
        next(each for each in box.buttons() if each.text() == answer).click()

    QTimer.singleShot(0, click)
    forgetting(window)[text].trigger()
    return asked


def test_no_computer_no_entry(cifar):
    assert forgetting(cifar) == {}


def test_a_computer_is_forgotten_after_a_question_with_its_host_key(hosts, cifar, qtbot):
    assert set(forgetting(cifar)) == {"me@vm:2222…", "you@vm:2222…"}
    assert trigger(cifar, "me@vm:2222…", "Cancel") == ["Forget me@vm:2222?"]
    assert len(saved_hosts()) == 2

    trigger(cifar, "me@vm:2222…", "Forget")
    qtbot.waitUntil(lambda: cifar.status.currentMessage() == "me@vm:2222 was forgotten.")
    assert [host.address for host in saved_hosts()] == ["you@vm:2222"]
    assert accepted_keys(YOU) == [KEY]  # the same computer, still saved for another account

    trigger(cifar, "you@vm:2222…", "Forget")
    qtbot.waitUntil(lambda: cifar.status.currentMessage() == "you@vm:2222 was forgotten.")
    assert saved_hosts() == []
    assert accepted_keys(YOU) == []
    assert forgetting(cifar) == {}


def test_the_start_page_lists_what_was_connected_before(hosts, window, qtbot):
    window.show_view("train")
    welcome = window.show_view("welcome")
    assert welcome.saved.window() is window  # no window of its own before the page is filled
    qtbot.waitUntil(lambda: not welcome._targets.isEmpty())
    assert welcome.saved.isVisible()
    labels = [label for label in welcome.saved.findChildren(ElidedLabel) if label.isVisible()]
    assert sorted(label.full_text for label in labels) == [
        "me@vm:2222 · v5litepod-8, 112 cores",
        "you@vm:2222 · v5litepod-8, 112 cores",
    ]
