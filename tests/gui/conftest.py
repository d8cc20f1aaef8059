"""The real window with all its parts; no worker is started unless a test needs one, and none
imports TensorFlow before a request needs it.
"""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent

from tests.window_parts import window_context
from workbench.app import make_window
from workbench.templates import find_template


@pytest.fixture(autouse=True)
def _delete_now(qapp):
    """Deletes what a test has closed: windows left behind are styled again by each theme."""
    yield
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.fixture
def context(qapp, tmp_path):
    with window_context(tmp_path) as context:
        context.theme.set_mode("light")
        context.theme.apply(qapp)
        yield context


@pytest.fixture
def window(qtbot, context, tmp_path):
    window = make_window(context, tmp_path)
    qtbot.addWidget(window, before_close_func=_forget_changes)
    window.resize(900, 736)  # the platform's screen is 800 x 800, less than any view is meant for
    window.show()
    qtbot.waitExposed(window)
    yield window
    _forget_changes(window)
    window.close()


def _forget_changes(window):
    """Closing must not ask, not about a run either: nobody answers in a test."""
    window.runs.may_close = lambda: True
    window.context.document.new()


@pytest.fixture
def cifar(window):
    """The window with a known network: two blocks of convolutions."""
    window.files.new(find_template("cifar10_convnet").project)
    return window
