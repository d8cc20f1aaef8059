"""Connecting another computer in the window, against a real ssh server on loopback."""

from __future__ import annotations

import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QScrollArea

from tests import sshd
from workbench.gui.kit.widgets import CollapsibleSection
from workbench.remote.ssh.command import RemoteHost
from workbench.remote.ssh.host_keys import accepted_keys
from workbench.remote.ssh.saved_hosts import saved_choices

pytestmark = pytest.mark.skipif(bool(sshd.why_not()), reason=sshd.why_not())


@pytest.fixture
def server(tmp_path):
    with sshd.Sshd(tmp_path / "sshd") as running:
        yield running


@pytest.fixture
def page(cifar, qtbot):
    cifar.places.ask("connect")
    dialog = cifar.places.dialogs["connect"]
    yield dialog
    cifar.places.close()
    qtbot.waitUntil(lambda: not cifar.places.dialogs)


@pytest.fixture
def rest(qtbot, page):
    def wait():
        qtbot.waitUntil(lambda: not page._background.is_busy, timeout=40_000)

    return wait


def type_address(page, server, python=""):
    page.address.address.setText(f"{server.user}@127.0.0.1:{server.port}")
    page.address.key_file.setText(str(server.key_file))
    page.address.python.setText(python)


def test_an_address_that_hides_an_option_is_refused_and_starts_nothing(page):
    assert not page.next.isEnabled()
    page.address.address.setText("-oProxyCommand=touch PWN")
    page.next.click()
    assert not page._background.is_busy
    assert page.pages.currentWidget() is page.address
    assert "letters, digits" in page.status.text()


@pytest.mark.parametrize("form", ["grpc://127.0.0.1:9", " 127.0.0.1:8470 ", "$COLAB_TPU_ADDR"])
def test_an_address_of_old_tutorials_is_answered_with_the_way_of_today(
    page, rest, form, monkeypatch
):
    monkeypatch.setenv("COLAB_TPU_ADDR", "127.0.0.1:9")
    page.address.address.setText(form)
    page.next.click()
    rest()
    words = page.status.text()
    assert "TensorFlow 1 and 2" in words
    assert "notebook" in words
    assert "over SSH" in words
    assert page.pages.currentWidget() is page.address


def test_a_variable_that_is_not_set_is_named(page, monkeypatch):
    monkeypatch.delenv("COLAB_TPU_ADDR", raising=False)
    page.address.address.setText("COLAB_TPU_ADDR")
    page.next.click()
    assert page.status.text().startswith("COLAB_TPU_ADDR is not set on this computer.")
    assert "notebook" in page.status.text()


def test_the_key_file_is_chosen_in_a_dialog_that_begins_among_the_keys(
    page, tmp_path, monkeypatch, qtbot
):
    keys, key = tmp_path / ".ssh", tmp_path / "elsewhere" / "id_vm"
    keys.mkdir()
    key.parent.mkdir()
    key.touch()
    begun = []

    def chosen(_parent, _title, start, _filters):
        begun.append(start)
        return str(key), ""

    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", chosen)
    page.address.address.setText("me@vm")
    page.address.more.head.setChecked(True)
    qtbot.mouseClick(page.address.browse, Qt.MouseButton.LeftButton)
    assert page.address.key_file.text() == str(key)
    assert page.address.place().key_file == str(key)
    page.address.key_file.clear()
    qtbot.mouseClick(page.address.browse, Qt.MouseButton.LeftButton)
    assert begun == [str(keys), str(key.parent)]


def test_nothing_is_accepted_before_the_fingerprint_was_seen(page, server, rest, qtbot):
    """Its page has no scroll bar where the one before needs one."""
    type_address(page, server)
    for fold in page.address.findChildren(CollapsibleSection):
        fold.head.setChecked(True)
    page.next.click()
    rest()
    assert page.pages.currentWidget() is page.identity
    assert server.fingerprint in page.identity.prints.text()
    area = page.findChild(QScrollArea)
    qtbot.waitUntil(lambda: not area.verticalScrollBar().isVisible())
    place = RemoteHost(host="127.0.0.1", user=server.user, port=server.port)
    assert accepted_keys(place) == []
    page.back.click()
    assert page.pages.currentWidget() is page.address
    assert accepted_keys(place) == []


def test_a_computer_with_an_interpreter_of_its_own_trains_at_once(page, server, rest, cifar):
    type_address(page, server, python=sys.executable)
    page.next.click()
    rest()
    page.next.click()
    rest()
    assert page.pages.currentWidget() is page.found, page.status.text()
    assert page.found.facts.facts()["System"] == "Linux"
    assert page.set_up.isHidden()
    page.next.click()
    target = cifar.context.document.project.target
    assert (target.key, target.params["port"]) == ("ssh", server.port)
    assert target.params["target"] == "this_computer"
    assert "127.0.0.1" in cifar.top.target.text()
    assert [choice for choice, _words in saved_choices()] == [target]
    cifar.context.document.undo_stack.undo()
    assert cifar.context.document.project.target.key == "this_computer"


def test_one_without_an_environment_offers_to_make_it(page, server, rest):
    type_address(page, server)
    page.next.click()
    rest()
    page.next.click()
    rest()
    assert page.pages.currentWidget() is page.found, page.status.text()
    assert not page.set_up.isHidden()
    assert page.next.isHidden()
    assert "Not set up" in page.found.state.text()


def test_a_changed_identity_is_refused_with_no_way_on(page, server, rest):
    type_address(page, server)
    page.next.click()
    rest()
    page.next.click()
    rest()
    server.stop()
    server.new_host_key()
    server.start()
    page.back.click()
    page.next.click()
    rest()
    assert page.pages.currentWidget() is page.address
    assert "host key has changed" in page.status.text()


def test_a_closed_port_is_reported(page, server, rest):
    type_address(page, server)
    server.stop()
    page.next.click()
    rest()
    assert page.pages.currentWidget() is page.address
    assert "No SSH server answered" in page.status.text()


def test_closing_while_it_works_ends_when_that_has_ended(page, server, qtbot, cifar):
    type_address(page, server)
    page.next.click()
    page.stop.click()
    qtbot.waitUntil(lambda: "connect" not in cifar.places.dialogs, timeout=40_000)
