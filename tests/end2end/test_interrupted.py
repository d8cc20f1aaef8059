"""What interrupts a training, by mouse: it is killed near its end, or its disk is full at the end."""

from __future__ import annotations

import os

import pytest

from tests.end2end.interrupted import EPOCHS, FEW

pytestmark = [
    pytest.mark.full,
    pytest.mark.end2end,
    pytest.mark.timeout(600),
    pytest.mark.skipif(os.geteuid() != 0, reason="a small disk is mounted by root alone"),
]


@pytest.fixture(scope="module")
def seen(at_screen, tmp_path_factory):
    """What somebody saw whose trainings were interrupted."""
    return at_screen("interrupted", str(tmp_path_factory.mktemp("images")))


def test_a_run_killed_near_its_end_is_resumed_there(seen):
    killed = seen["killed"]
    continues = killed["words"].split("Resume continues at epoch ")[1]
    epoch, rest = continues.split(" of ", 1)
    assert rest.startswith(f"{EPOCHS} (checkpoint ")
    assert int(epoch) > 0.97 * EPOCHS - 0.05 * EPOCHS
    assert killed["outcome"] == "completed"
    assert killed["epochs"] == list(range(1, EPOCHS + 1))


def test_a_trained_head_is_saved_on_a_full_disk(seen):
    assert seen["full"]["outcome"] == "completed"
    assert seen["full"]["epochs"] == FEW


def test_weights_without_room_are_saved_elsewhere_by_a_click(seen):
    elsewhere = seen["elsewhere"]
    assert "the disk is full" in elsewhere["words"]
    assert not elsewhere["had_model"]
    assert elsewhere["place"] in elsewhere["after"]
    assert elsewhere["epochs"] == 3
    assert elsewhere["arrays"] == 10
