"""Views with the real parts behind them."""

from __future__ import annotations

import pytest

from tests.window_parts import window_context
from workbench.runs.home import data_home


@pytest.fixture
def context(qapp):
    with window_context(data_home()) as context:
        yield context


@pytest.fixture
def open_library(qtbot, context):
    """Reads the list of runs, as the window does after its first paint."""

    def open_now():
        with qtbot.waitSignal(context.library.runs_changed):
            context.library.open()

    return open_now
