"""Two real windows in random turns; the proof of that name does many more."""

from __future__ import annotations

import pytest

from tests.proofs.two_windows import prove

pytestmark = pytest.mark.full


def test_no_change_is_lost_without_a_question(tmp_path):
    tally = prove(tmp_path, interleavings=10, seed=1)
    assert tally.problems == []
    assert tally.interleavings == 10
    assert tally.at_once > 5
    assert tally.questions > 10
    assert tally.notices > 0
