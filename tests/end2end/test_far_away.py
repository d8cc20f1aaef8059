"""Another computer is connected, trains, is lost, found and lost for good: by mouse and keyboard."""

from __future__ import annotations

import pytest

from tests import sshd

pytestmark = [
    pytest.mark.end2end,
    pytest.mark.timeout(600),
    pytest.mark.skipif(bool(sshd.why_not()), reason=sshd.why_not()),
]


@pytest.fixture(scope="module")
def seen(at_screen):
    """What somebody without a strong computer saw."""
    return at_screen("far_away")


def test_the_fingerprint_shown_is_that_of_the_server(seen):
    assert seen["real"] in seen["fingerprint"]


def test_a_lost_line_is_reported_calmly_with_the_next_try(seen):
    assert "Connection to" in seen["lost"]["words"]
    assert "reconnecting in" in seen["lost"]["words"]
    assert "Training continues there" in seen["lost"]["words"]
    assert seen["lost"]["look"] == "notice"
    assert seen["lost"]["can_end"] is False


def test_a_window_opened_later_has_the_whole_curve(seen):
    assert seen["is_whole"] is True
    assert seen["numbers"] == list(range(1, len(seen["numbers"]) + 1))


def test_it_was_stopped_and_its_weights_classify_here(seen):
    assert seen["ended"] == "stopped"
    assert seen["label"] in seen["classes"]


def test_the_run_of_a_computer_that_is_gone_goes_on_here(seen):
    assert 0 < seen["here"]["from"] == seen["kept"]
    assert seen["here"]["on"] == ""
    assert seen["here"]["is_whole"] is True
    assert f"last checkpoint on this computer: step {seen['kept']}." in seen["here"]["words"]
