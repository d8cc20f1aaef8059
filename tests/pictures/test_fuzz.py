"""A small helping of tests/proofs/picture_fuzz.py, in every run of the tests."""

from __future__ import annotations

import pytest

from tests.proofs.picture_fuzz import run


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_500_damaged_pictures_end_in_pixels_or_words():
    num_read, num_refused = run(500, seed=2)
    assert num_read + num_refused == 500
    assert num_read > 50
    assert num_refused > 50
