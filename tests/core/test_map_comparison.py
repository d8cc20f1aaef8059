"""The words for the rank correlation of two heat maps."""

from __future__ import annotations

import pytest

from workbench.core.evaluation.significance import comparison_words


@pytest.mark.parametrize(
    ("correlation", "words"),
    [(0.05, "maps differ"), (-0.9, "maps differ"), (0.5, "partly alike"), (0.9, "maps are alike"),
     (None, "cannot be compared")],
)  # fmt: skip
def test_the_comparison_is_worded_by_its_correlation(correlation, words):
    assert words in comparison_words(correlation)
