"""Right, wrong, or neither."""

from __future__ import annotations

import pytest

from workbench.core.calibration import TrueClasses


@pytest.mark.parametrize(
    ("answer", "label", "unknown", "is_right"),
    [
        ("cat", "cat", "", True),
        ("cat", " CAT ", "", True),
        ("cat", "dog", "", False),
        ("cat", "horse", "", None),
        ("cat", "c\u200bat", "", True),
        ("cat", "", "", None),
        ("cat", "cat", "unlike the training images", None),
        ("cat", "dog", "unlike the training images", None),
        ("Dog", "Dog", "", True),
        ("dog", "DOG", "", None),
        ("Dog", "DOG", "", None),
    ],
)
def test_an_answer_is_right_wrong_or_neither(answer, label, unknown, is_right):
    found = TrueClasses(["cat", "dog", "Dog"]).is_right(answer, label, unknown=unknown)
    assert found is is_right
