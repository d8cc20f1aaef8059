"""Labels mended from the largest losses: the small sister of tests/proofs/relabel."""

from __future__ import annotations

import pytest

from tests.end2end.hands.test_own_pictures import CLASSES, generated
from tests.proofs.relabel import mended, with_wrong_labels

pytestmark = [pytest.mark.full, pytest.mark.worker]


def test_mended_labels_raise_the_accuracy(tmp_path):
    for label, name in enumerate(CLASSES):
        generated(tmp_path / "right" / name, label, 80)
    truth = with_wrong_labels(tmp_path / "right", tmp_path / "wrong", 1, share=0.2)
    assert len(truth) == 240
    wrong = [
        path for path in (tmp_path / "wrong").glob("*/*") if truth[path.name] != path.parent.name
    ]
    assert len(wrong) == 48
    found = mended(tmp_path / "wrong", truth, 1, relabels=30)
    assert 0 < found.relabels <= found.looked_at <= 24
    assert found.after > found.before
