"""Dialogs about places to train fit a small screen, with all that they can show."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLineEdit

from workbench.errors import RemoteError
from workbench.gui.kit.widgets import CollapsibleSection

SMALL_PX = (1_000, 640)
"""What a screen of 1024 x 700 leaves inside a window's frame."""


@pytest.mark.parametrize("key", ["connect", "preflight", "agreement"])
def test_a_dialog_fits(cifar, key, monkeypatch):
    monkeypatch.setattr(cifar.context.measurer, "send", lambda *_args: 0)
    cifar.places.ask(key)
    dialog = cifar.places.dialogs[key]
    for fold in dialog.findChildren(CollapsibleSection):
        fold.head.setChecked(True)
    dialog.resize(*SMALL_PX)
    assert dialog.layout().totalMinimumSize().height() <= SMALL_PX[1]
    assert dialog.height() <= SMALL_PX[1]
    assert dialog.layout().totalMinimumSize().width() <= SMALL_PX[0]
    cifar.places.close()


def test_a_long_refusal_squeezes_no_field(cifar, qtbot):
    cifar.places.ask("connect")
    dialog = cifar.places.dialogs["connect"]
    dialog.resize(640, 560)
    for fold in dialog.findChildren(CollapsibleSection):
        fold.head.setChecked(True)
    wanted = {line: line.sizeHint().height() for line in dialog.address.findChildren(QLineEdit)}
    dialog._on_failed(RemoteError("gcloud refused.", received="Please run:\n" * 80))
    qtbot.waitUntil(lambda: dialog.status.height() > 60)
    assert all(line.height() >= height for line, height in wanted.items())
    assert "\n" not in dialog.status.text()
    cifar.places.close()
