"""Views with real workers behind them."""

from __future__ import annotations

import pytest

from tests.window_parts import window_context
from workbench.runs.home import data_home


@pytest.fixture
def context(qapp):
    with window_context(data_home()) as context:
        yield context
