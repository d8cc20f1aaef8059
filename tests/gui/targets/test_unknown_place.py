"""A project or a run that names a stranger's address: contacted when a person agrees, not before."""

from __future__ import annotations

import shutil

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox

from tests.hostile import Listener, away_run
from workbench.core.projects.project import Choice
from workbench.core.projects.texts import parse_target
from workbench.runs.folder import RunFolder
from workbench.runs.home import data_home
from workbench.runs.state.outcome import outcome_of
from workbench.runs.trust import UnknownPlaceError, addresses_of, is_known, remember
from workbench.targets import all_targets


@pytest.fixture
def listener():
    with Listener() as listener:
        yield listener


def far(listener):
    return parse_target(f"ssh:127.0.0.1:{listener.port}", all_targets())


def press(start, text):
    """Calls `start`, and clicks a button of the message box that it opens; its words."""
    said = []

    def click():
        box = QApplication.activeModalWidget()
        if not isinstance(box, QMessageBox):
            QTimer.singleShot(20, click)
            return
        said.extend([box.text(), *(button.text() for button in box.buttons())])
        (chosen,) = [one for one in box.buttons() if one.text().startswith(text)]
        QTest.mouseClick(chosen, Qt.MouseButton.LeftButton)

    QTimer.singleShot(0, click)
    start()
    return said


@pytest.mark.skipif(shutil.which("ssh") is None, reason="ssh is not installed")
def test_training_there_asks_first_and_remembers_the_answer(cifar, qtbot, listener):
    target, place = far(listener), f"127.0.0.1:{listener.port}"
    cifar.context.document.set_target(target)  # as opening a project with it does
    qtbot.waitUntil(lambda: isinstance(cifar.check.problem, UnknownPlaceError))
    assert f"Connect to {place}?" in cifar.top.train.toolTip()

    said = []
    cifar.runs.said.connect(said.append)

    def start():
        cifar.runs.start()
        qtbot.waitUntil(lambda: not cifar.runs.is_running)

    words = press(start, "Cancel")
    assert words[0] == f"Connect to {place}?"
    assert f"Connect to {place}" in words
    assert (listener.greetings, is_known(target), said[-1]) == (
        [], False, "Training was not started.",
    )  # fmt: skip

    def connect():
        cifar.runs.start()
        qtbot.waitUntil(lambda: is_known(target))

    press(connect, "Connect to")
    qtbot.waitUntil(lambda: bool(listener.greetings), timeout=60_000)
    assert listener.greetings[0].startswith(b"SSH-2.0")
    run = cifar.context.library.current.run
    run.control_path.write_bytes(b"leave\n")
    qtbot.waitUntil(lambda: not run.is_alive(), timeout=60_000)
    cifar.context.library.refresh()
    qtbot.waitUntil(lambda: not cifar.runs.is_running, timeout=60_000)


def test_choosing_a_target_is_agreeing_to_its_address(cifar, listener):
    target = far(listener)
    cifar.top.targets.chosen.emit(target)
    assert is_known(target)


@pytest.mark.skipif(shutil.which("ssh") is None, reason="ssh is not installed")
def test_a_run_from_elsewhere_is_connected_to_by_the_button_that_names_it(window, qtbot, listener):
    place = f"127.0.0.1:{listener.port}"
    target = Choice("ssh", {"host": "127.0.0.1", "port": listener.port})
    run = away_run(window.context.library.home.parent, "far", target)
    run.move_to(target)
    window.context.library.open()
    window.show_view("train")
    view = window.views.view("train")
    qtbot.waitUntil(view.trouble.isVisible)
    assert view.trouble.attach.text() == f"Reconnect to {place}"
    assert (listener.greetings, is_known(target)) == ([], False)
    QTest.mouseClick(view.trouble.attach, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(listener.greetings), timeout=60_000)
    assert listener.greetings[0].startswith(b"SSH-2.0")
    assert is_known(target)
    (RunFolder(run.path).control_path).write_bytes(b"leave\n")
    qtbot.waitUntil(lambda: not run.is_alive(), timeout=60_000)
    window.context.library.refresh()
    qtbot.waitUntil(lambda: not window.runs.is_running, timeout=60_000)


def test_addresses_are_those_that_are_connected_to():
    texts = {
        "ssh:me@box:2222": ("me@box:2222",),
        "ssh:a,b": ("a", "b"),
        "tpu:grpc://h:1": (),
        "several:g,h:1": ("g", "h:1"),
        "several:localhost,localhost": (),
        "tpu:local": (),
        "this_computer": (),
        "virtual:2": (),
    }
    found = {text: addresses_of(parse_target(text, all_targets())) for text in texts}
    assert found == texts


def test_an_agreement_holds_for_all_addresses_of_a_target():
    remember(parse_target("ssh:a", all_targets()))
    assert is_known(parse_target("ssh:a/tpu:local", all_targets()))
    assert not is_known(parse_target("ssh:a,b", all_targets()))
    assert (data_home() / "known-places.json").is_file()


def test_an_away_run_names_the_address_and_not_what_its_folder_says():
    target = Choice("ssh", {"host": "evil.example", "user": "me"})
    run = away_run(data_home(), "far", target)
    outcome = outcome_of(run)
    assert (outcome.kind, outcome.place) == ("away", "me@evil.example")
    assert "friend" not in outcome.sentence()
