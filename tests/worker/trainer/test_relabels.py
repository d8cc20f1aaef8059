"""Labels mended from the largest losses: the small sister of tests/proofs/relabel."""

from __future__ import annotations

import pytest

from tests.end2end.hands.test_own_pictures import CLASSES, generated
from tests.proofs.relabel import mended, with_wrong_labels

pytestmark = pytest.mark.worker


def test_mended_labels_raise_the_accuracy(tmp_path):
    for label, name in enumerate(CLASSES):
        generated(tmp_path / "right" / name, label, 40)
    truth = with_wrong_labels(tmp_path / "right", tmp_path / "wrong", 1, share=0.2)
    assert len(truth) == 120
    wrong = [
        path for path in (tmp_path / "wrong").glob("*/*") if truth[path.name] != path.parent.name
    ]
    assert len(wrong) == 24
    found = mended(tmp_path / "wrong", truth, 1, relabels=30)
    assert 0 < found.relabels <= found.looked_at <= 18
    assert found.after > found.before
    assert found.true_after >= found.true_before
