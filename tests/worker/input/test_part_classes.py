"""A part with images of one class of several is said, whatever the source."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.specs import ArrayPart, LoadedData
from workbench.worker.input.sources import with_part_doubts


def part(*labels: int) -> ArrayPart:
    return ArrayPart(np.zeros((len(labels), 2, 2, 3), np.uint8), np.array(labels, np.int64))


@pytest.mark.parametrize(
    ("train", "test", "said"),
    [
        (part(0, 1, 2), part(0, 0, 0), ["The classes of the test part"]),
        (part(0, 0, 0), part(0, 1, 2), ["The classes of the train part"]),
        (part(0, 1, 2), part(0, 0), []),
        (part(0, 1, 2), part(0, 1, 0), []),
        (part(0, 1, 2), None, []),
        (part(0, 0, 0), part(0, 0, 0), []),
    ],
)
def test_a_part_of_one_class_is_doubtful(train, test, said):
    loaded = with_part_doubts(LoadedData(("a", "b", "c"), train, test))
    assert [each.what for each in loaded.inferences] == said
    assert all(each.is_doubtful for each in loaded.inferences)
