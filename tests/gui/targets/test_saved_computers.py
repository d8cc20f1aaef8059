"""Computers that were connected before: listed at the start, named and forgotten in a dialog."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QLineEdit, QMessageBox

from workbench.gui.kit.labels import ElidedLabel
from workbench.remote.ssh.command import RemoteHost
from workbench.remote.ssh.host_keys import HostKey, accept, accepted_keys
from workbench.remote.ssh.saved_hosts import choice_of, find_host, save_host, saved_hosts
from workbench.runs.trust import is_known

ME, YOU = (RemoteHost(host="vm", user=user, port=2222) for user in ("me", "you"))
KEY = HostKey("ssh-ed25519", "AAAAC3NzaC1lZDI1NTE5AAAAIGFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFh")
WORDS = "v5litepod-8, 112 cores"


@pytest.fixture
def hosts():
    for seen, place in enumerate((YOU, ME), 1):
        save_host(place, words=WORDS, environment="tpu", seen=float(seen))
    accept(ME, [KEY])


def entries(window):
    """Text -> action of the menu of targets, as it opens now."""
    window.top.targets.aboutToShow.emit()
    return {action.text(): action for action in window.top.targets.actions()}


@pytest.fixture
def dialog(hosts, cifar, qtbot):
    entries(cifar)["Saved computers…"].trigger()
    dialog = cifar.places.dialogs["computers"]
    qtbot.waitExposed(dialog)
    return dialog


def shown(dialog):
    """Name and address of each row."""
    items = [dialog.table.topLevelItem(row) for row in range(dialog.table.topLevelItemCount())]
    return [(item.text(0), item.text(1)) for item in items]


def row_of(dialog, place):
    (item,) = dialog.table.findItems(place.text(), Qt.MatchFlag.MatchExactly, 1)
    return item


def cell(dialog, place, section=0):
    """The middle of a cell, as a mouse finds it."""
    index = dialog.table.indexFromItem(row_of(dialog, place), section)
    return dialog.table.visualRect(index).center()


def type_name(dialog, qtbot, name, key=Qt.Key.Key_Return):
    field = dialog.table.findChild(QLineEdit)
    field.selectAll()
    qtbot.keyClicks(field, name)
    qtbot.keyClick(field, key)


def press_forget(dialog, qtbot, answer):
    """Presses Forget…, and a button of the question; returns the question."""
    asked = []

    def click():
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        asked.append(box.text())
        next(each for each in box.buttons() if each.text() == answer).click()

    QTimer.singleShot(0, click)
    qtbot.mouseClick(dialog.forget, Qt.MouseButton.LeftButton)
    return asked


def test_without_a_saved_computer_the_dialog_leads_to_connecting_one(cifar, qtbot):
    assert "Saved computers…" not in entries(cifar)
    cifar.actions_by_key["computers"].trigger()
    dialog = cifar.places.dialogs["computers"]
    assert dialog.empty.isVisible()
    assert dialog.focusWidget() is dialog.empty.action
    assert not dialog.rename.isVisible()
    qtbot.mouseClick(dialog.empty.action, Qt.MouseButton.LeftButton)
    assert "connect" in cifar.places.dialogs
    cifar.places.close()


def test_a_name_takes_the_place_of_the_address_wherever_targets_are_listed(dialog, cifar, qtbot):
    cifar.places.choose(choice_of(find_host(ME.text())))
    assert cifar.top.target.text().strip() == "me@vm:2222, TPU"
    assert shown(dialog) == [(ME.text(), ME.text()), (YOU.text(), YOU.text())]

    # By double click anywhere in the row.
    at = cell(dialog, ME, 2)
    viewport = dialog.table.viewport()
    qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=at)
    qtbot.mouseDClick(viewport, Qt.MouseButton.LeftButton, pos=at)
    type_name(dialog, qtbot, "Lab <b>TPU & co")
    qtbot.waitUntil(lambda: find_host(ME.text()).name == "Lab <b>TPU & co")
    qtbot.waitUntil(lambda: shown(dialog)[0] == ("Lab <b>TPU & co", ME.text()))

    qtbot.waitUntil(lambda: cifar.top.target.text().strip() == "Lab <b>TPU && co, TPU")
    assert "me@vm:2222" in cifar.top.target.toolTip()
    action = entries(cifar)[f"Lab <b>TPU && co, TPU · {WORDS}"]
    assert "me@vm:2222" in action.toolTip()
    assert "<" not in action.toolTip()  # Qt would read it as mark-up
    assert f"you@vm:2222, TPU · {WORDS}" in entries(cifar)
    cifar.places.ask("agreement")
    combo = cifar.places.dialogs["agreement"].right
    assert "Lab <b>TPU & co, TPU" in [combo.itemText(i) for i in range(combo.count())]
    cifar.places.dialogs["agreement"].reject()

    # By key, back to the address.
    dialog.table.setFocus()
    dialog.table.setCurrentItem(row_of(dialog, ME))
    qtbot.keyClick(dialog.table, Qt.Key.Key_F2)
    assert dialog.table.findChild(QLineEdit).text() == "Lab <b>TPU & co"
    field = dialog.table.findChild(QLineEdit)
    field.selectAll()
    qtbot.keyClick(field, Qt.Key.Key_Backspace)
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: cifar.top.target.text().strip() == "me@vm:2222, TPU")


def test_a_name_that_another_computer_has_is_refused_with_the_reason(dialog, qtbot):
    dialog.table.setCurrentItem(row_of(dialog, ME))
    qtbot.mouseClick(dialog.rename, Qt.MouseButton.LeftButton)
    type_name(dialog, qtbot, "YOU@vm:2222")
    qtbot.waitUntil(lambda: "Another saved computer" in dialog.words.text())
    assert shown(dialog)[0] == (ME.text(), ME.text())


def test_escape_leaves_the_name_and_the_dialog_as_they_are(dialog, qtbot):
    dialog.table.setCurrentItem(row_of(dialog, ME))
    qtbot.mouseClick(dialog.rename, Qt.MouseButton.LeftButton)
    type_name(dialog, qtbot, "another", Qt.Key.Key_Escape)
    assert dialog.isVisible()
    assert find_host(ME.text()).name == ""


def test_a_computer_is_forgotten_after_a_question_with_key_and_consent(dialog, cifar, qtbot):
    choice = choice_of(find_host(ME.text()))
    cifar.places.choose(choice)
    assert is_known(choice)
    dialog.table.setCurrentItem(row_of(dialog, ME))
    assert press_forget(dialog, qtbot, "Cancel") == ["Forget me@vm:2222?"]
    assert len(saved_hosts()) == 2

    press_forget(dialog, qtbot, "Forget")
    said = "me@vm:2222: Forgotten. Its host key is kept for you@vm:2222."
    qtbot.waitUntil(lambda: dialog.words.text() == said)
    assert shown(dialog) == [(YOU.text(), YOU.text())]
    assert accepted_keys(YOU) == [KEY]  # the same computer, still saved for another account
    assert not is_known(choice)
    qtbot.waitUntil(lambda: "Connect to me@vm:2222?" in cifar.top.target.toolTip())

    press_forget(dialog, qtbot, "Forget")
    qtbot.waitUntil(lambda: dialog.words.text() == "you@vm:2222: Forgotten.")
    assert saved_hosts() == []
    assert accepted_keys(YOU) == []
    assert dialog.empty.isVisible()
    assert "Saved computers…" not in entries(cifar)


def test_the_start_page_lists_what_was_connected_before(hosts, window, qtbot):
    window.show_view("train")
    welcome = window.show_view("welcome")
    assert welcome.saved.window() is window  # no window of its own before the page is filled
    qtbot.waitUntil(lambda: not welcome._targets.isEmpty())
    assert welcome.saved.isVisible()
    assert lines(welcome) == {f"me@vm:2222 · {WORDS}", f"you@vm:2222 · {WORDS}"}

    window.actions_by_key["computers"].trigger()
    dialog = window.places.dialogs["computers"]
    dialog.table.setCurrentItem(row_of(dialog, YOU))
    qtbot.mouseClick(dialog.rename, Qt.MouseButton.LeftButton)
    type_name(dialog, qtbot, "Lab TPU")
    qtbot.waitUntil(lambda: f"Lab TPU · {WORDS}" in lines(welcome))
    (named,) = [label for label in labels(welcome) if label.full_text.startswith("Lab")]
    assert "you@vm:2222" in named.toolTip()


def labels(welcome):
    return [label for label in welcome.saved.findChildren(ElidedLabel) if label.isVisible()]


def lines(welcome):
    return {label.full_text for label in labels(welcome)}
