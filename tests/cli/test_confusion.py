"""A confusion matrix in a terminal."""

from __future__ import annotations

import numpy as np

from workbench.cli._confusion import MOST_COLUMNS, MOST_PAIRS, confusion_lines
from workbench.core.evaluation.confusion import Confusion


def test_a_small_matrix_is_printed_whole():
    lines = list(
        confusion_lines(
            ["cat", "a very long name of a class"],
            Confusion.of_dense(np.array([[1_200, 3], [0, 7]])),
        )
    )
    assert lines[2].split() == ["1", "cat", "1,200", "3"]
    assert lines[3].endswith("     0     7")
    assert len({len(line) for line in lines[1:]}) == 1


def test_of_many_classes_the_most_confused_are_printed():
    number = MOST_COLUMNS + 10
    confusion = np.full((number, number), 1)
    confusion[4, 2] = 50
    lines = list(
        confusion_lines([f"class {n}" for n in range(number)], Confusion.of_dense(confusion))
    )
    assert len(lines) == MOST_PAIRS + 1
    assert lines[1].split() == ["class", "4", "class", "2", "50"]
