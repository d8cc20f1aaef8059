"""The dialog that installs a part, and the link that opens it."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLabel, QMessageBox

from workbench.errors import RunError
from workbench.gui.kit import dialogs as place
from workbench.gui.kit.dialogs import InstallDialog, InstallLink, show_error
from workbench.parts import HEIC, LITERT


@pytest.fixture
def dialog(qtbot):
    """The dialog, not deleted by its end."""
    found = InstallDialog(HEIC)
    qtbot.addWidget(found)
    found.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    found.show()
    return found


def test_it_shows_the_line_and_installs(dialog, qtbot, monkeypatch):
    def install(part, *, on_progress, check):
        assert part is HEIC
        on_progress("Collecting pillow-heif")
        check()

    monkeypatch.setattr(place, "install", install)
    assert dialog.line.text() == HEIC.install_command
    assert "HEIC photos" in " ".join(each.text() for each in dialog.findChildren(QLabel))
    with qtbot.waitSignal(dialog.installed):
        dialog.begin.click()
    assert dialog.status.text() == "Installed."
    assert not dialog.begin.isVisible()
    assert dialog.stop.text() == "Close"


def test_cancel_ends_the_installation(dialog, qtbot, monkeypatch):
    started = threading.Event()

    def install(part, *, on_progress, check):
        started.set()
        while True:
            check()

    monkeypatch.setattr(place, "install", install)
    dialog.begin.click()
    started.wait(10)
    assert dialog.stop.text() == "Cancel"
    with qtbot.waitSignal(dialog.finished) as closed:
        dialog.stop.click()
    assert closed.args == [QDialog.DialogCode.Rejected.value]


def test_why_it_failed_is_said_and_it_can_be_tried_again(dialog, qtbot, monkeypatch):
    def install(part, *, on_progress, check):
        raise RunError(
            "No connection to the package index.", received="pip said", fix="Connect it."
        )

    monkeypatch.setattr(place, "install", install)
    dialog.begin.click()
    qtbot.waitUntil(lambda: dialog.begin.isEnabled() and dialog.status.text().startswith("No"))
    assert dialog.status.text() == "No connection to the package index. Connect it."
    assert dialog.status.toolTip() == "pip said"


def test_the_link_appears_with_the_words_of_a_missing_part_alone(qtbot):
    link = InstallLink()
    qtbot.addWidget(link)
    link.offer("Save it as JPEG.")
    assert link.isHidden()
    link.offer(f"{HEIC.install_words}, or save it as JPEG.")
    assert not link.isHidden()
    assert link.text() == "Install pillow-heif…"


def test_an_error_about_a_missing_part_offers_to_install_it(qtbot, monkeypatch):
    opened = []

    class Dialog:
        def __init__(self, part, _parent):
            opened.append(part)

        def exec(self):
            opened.append("shown")

    def choose(box):
        (install,) = [each for each in box.buttons() if each.text() == "Install LiteRT…"]
        monkeypatch.setattr(box, "clickedButton", lambda: install)

    monkeypatch.setattr("workbench.gui.kit.dialogs.InstallDialog", Dialog)
    monkeypatch.setattr(QMessageBox, "exec", choose)
    show_error(None, LITERT.error())
    assert opened == [LITERT, "shown"]
