"""Memory does not grow with the number of pictures: the small sister of tests/proofs/memory."""

from __future__ import annotations

import sys

import pytest

from tests.proofs.memory import make_folder, project_for, train_limited

pytestmark = [
    pytest.mark.worker,
    pytest.mark.skipif(sys.platform != "linux", reason="limits memory as Linux does"),
]

SIDE, LIMIT = 256, 1200 * 2**20


@pytest.mark.full_but("streamed")
@pytest.mark.parametrize("place", ["cached", "streamed"])
def test_ten_times_the_pictures_take_the_same_memory(tmp_path, place):
    peaks = []
    for name, count in [("small", 220), ("large", 2_200)]:
        folder = make_folder(tmp_path / name, count, SIDE)
        project = project_for(folder, SIDE, place=place, batch_size=4)
        peaks.append(train_limited(project, LIMIT, SIDE))
        assert peaks[-1].outcome == "completed", peaks[-1].words
    small, large = peaks
    # A process's own memory varies by a hundred MiB, with the plans that it tries and what it
    # compares at its end; images that are kept would be far more.
    assert large.own - small.own < 0.5 * (large.decoded - small.decoded)
