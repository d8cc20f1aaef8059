"""Tables of scores: what is in them is what the evaluation says."""

from __future__ import annotations

import csv

import msgspec
import numpy as np
import pytest

from tests.runs.store.test_evaluation import RESULT
from workbench.core.evaluation.confusion import balanced_accuracy
from workbench.core.evaluation.significance import Slice
from workbench.runs.export.tables import (
    MEAN_OF_CLASSES,
    class_scores_csv,
    confused_pairs_csv,
    slices_csv,
)


def rows_of(text):
    return list(csv.DictReader(text.splitlines()))


def test_each_class_has_its_scores_and_the_last_row_their_means():
    """The fixture's recalls are those of its confusion matrix."""
    cat, dog, mean = rows_of(class_scores_csv(RESULT))
    assert cat == {
        "class": "cat",
        "precision": "0.900000",
        "recall": "0.600000",
        "F1": "0.720000",
        "images": "5",
    }
    assert (dog["class"], dog["images"]) == ("dog", "15")
    assert (mean["class"], mean["images"]) == (MEAN_OF_CLASSES, "20")
    assert float(mean["recall"]) == balanced_accuracy(RESULT.matrix)
    assert float(mean["precision"]) == pytest.approx(0.65)


def test_classes_without_images_are_not_in_the_means():
    dog = msgspec.structs.replace(RESULT.per_class[1], count=0, recall=0.0)
    result = msgspec.structs.replace(RESULT, per_class=[RESULT.per_class[0], dog])
    assert rows_of(class_scores_csv(result))[-1]["recall"] == "0.600000"
    none = msgspec.structs.replace(RESULT, per_class=[dog])
    assert [row["class"] for row in rows_of(class_scores_csv(none))] == ["dog"]


def test_confused_pairs_have_most_images_first():
    result = msgspec.structs.replace(RESULT, confusion=[[3, 2], [3, 12]])
    assert rows_of(confused_pairs_csv(result)) == [
        {"actual": "dog", "predicted": "cat", "images": "3", "of actual": "0.200000"},
        {"actual": "cat", "predicted": "dog", "images": "2", "of actual": "0.400000"},
    ]


def test_slices_have_their_intervals():
    found = [Slice("a, b", np.arange(4), 2), Slice("=1+1", np.arange(40), 40)]
    first, second = rows_of(slices_csv("Folder", found))
    assert (first["Folder"], first["images"], first["few images"]) == ("a, b", "4", "yes")
    assert float(first["low 95%"]) == pytest.approx(0.1500, abs=1e-3)
    assert float(first["high 95%"]) == pytest.approx(0.8500, abs=1e-3)
    assert (second["accuracy"], second["few images"]) == ("1.000000", "")
    assert not second["Folder"].startswith("=")
