"""Views with the real parts behind them."""

from __future__ import annotations

import pytest

from workbench.app import close_context, make_context
from workbench.runs.home import data_home


@pytest.fixture
def context(qapp):
    context = make_context(data_home())
    yield context
    close_context(context)


@pytest.fixture
def open_library(qtbot, context):
    """Reads the list of runs, as the window does after its first paint."""

    def open_now():
        with qtbot.waitSignal(context.library.runs_changed):
            context.library.open()

    return open_now
