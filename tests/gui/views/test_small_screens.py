"""Dialogs about places to train fit a small screen, with all that they can show."""

import pytest

from workbench.gui.widgets.fold import Fold

SMALL_PX = (1_000, 640)
"""What a screen of 1024 x 700 leaves inside a window's frame."""


@pytest.mark.parametrize("key", ["connect", "preflight", "agreement"])
def test_a_dialog_fits(cifar, key, monkeypatch):
    monkeypatch.setattr(cifar.context.measurer, "send", lambda *_args: 0)
    cifar.places.ask(key)
    dialog = cifar.places.dialogs[key]
    for fold in dialog.findChildren(Fold):
        fold.head.setChecked(True)
    dialog.resize(*SMALL_PX)
    assert dialog.layout().totalMinimumSize().height() <= SMALL_PX[1]
    assert dialog.height() <= SMALL_PX[1]
    assert dialog.layout().totalMinimumSize().width() <= SMALL_PX[0]
    cifar.places.close()
