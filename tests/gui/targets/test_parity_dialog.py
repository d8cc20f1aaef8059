"""Comparing two places to train in the window, by real trainings."""

from __future__ import annotations

import numpy as np
import pytest

from tests.small_projects import stripes_project
from workbench.core.projects.project import Choice
from workbench.gui.targets.controller import DIALOGS

pytestmark = pytest.mark.worker


@pytest.fixture
def page(window, qtbot, tmp_path):
    window.files.new(stripes_project(tmp_path))
    window.actions_by_key["agreement"].trigger()
    dialog = window.places.dialogs["agreement"]
    yield dialog
    window.places.close()
    qtbot.waitUntil(lambda: not window.places.dialogs, timeout=60_000)


def test_begins_with_the_projects_own_place_and_another(page):
    assert "agreement" in DIALOGS
    assert page.plot._empty.text() == "The loss curves of both targets appear here."
    assert page.left.currentData().key == "this_computer"
    assert page.right.currentData() == Choice("virtual", {"replicas": 2, "like_tpu": False})


def test_trains_on_both_and_says_whether_they_agree(page, qtbot):
    said, drawn = [], []
    page.progressed.connect(said.append)
    page.losses_grew.connect(
        lambda _losses: drawn.append([len(line.getData()[0]) for line in page.plot._lines])
    )
    page.steps.set_value(4)
    page.start.click()
    assert page.stop.text() == "Cancel"
    qtbot.waitUntil(lambda: bool(page.words.text()), timeout=180_000)
    assert page.words.text().startswith("The two targets train identically: over 4 steps")
    left, right = page.plot._losses
    assert len(left) == len(right) == 4
    assert np.allclose(left, right, atol=1e-3)
    assert said == [
        "Training 4 steps on This computer",
        "Training 4 steps on 2 simulated devices",
    ]
    assert [4, 0] in drawn  # the first curve is there before the second run has a step


def test_closing_calls_it_off(page, qtbot, window):
    page.start.click()
    page.stop.click()
    qtbot.waitUntil(lambda: "agreement" not in window.places.dialogs, timeout=60_000)


def test_a_network_with_problems_is_not_compared(window):
    window.files.new()
    said = []
    window.places.said.connect(said.append)
    window.actions_by_key["agreement"].trigger()
    assert window.places.dialogs == {}
    assert said
