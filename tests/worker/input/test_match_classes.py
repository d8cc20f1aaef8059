"""Labels of another source as labels of a model: by the names of the classes."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest

from workbench.errors import DatasetError
from workbench.worker.input.sources import match_classes, match_notes

NAMES = ["Löwe é", "Rose", "rose", "tulip"]


def matched(names: list[str], known: list[str]) -> list[int]:
    labels = np.arange(len(names), dtype=np.int64)
    return match_classes(labels, names, known).tolist()


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        (NAMES[::-1], [3, 2, 1, 0]),
        ([unicodedata.normalize("NFD", name) for name in NAMES], [0, 1, 2, 3]),
        (["tulip ", "Löwe\u00a0é"], [3, 0]),
        (["TULIP", "löwe é"], [3, 0]),
    ],
)
def test_names_match_in_any_form(names, numbers):
    assert matched(names, NAMES) == numbers


@pytest.mark.parametrize("name", ["ROSE", "lily", "tulips"])
def test_what_is_no_class_or_may_be_two_is_refused(name):
    with pytest.raises(DatasetError, match="classes that the model does not have") as caught:
        matched(["tulip", name], NAMES)
    assert caught.value.received == f"“{name}”"


def test_numbers_match_by_position_where_there_are_as_many():
    assert matched(["0", "1", "2", "3"], NAMES) == [0, 1, 2, 3]
    (note,) = match_notes(["0", "1", "2", "3"], NAMES)
    assert note.startswith("Classes are matched by their position: “0” as “Löwe é”, “1” as “Rose”")
    many = [f"c{number}" for number in range(9)]
    (note,) = match_notes([str(number) for number in range(9)], many)
    assert note.endswith("“3” as “c3”, ….")
    with pytest.raises(DatasetError):
        matched(["0", "1", "2"], NAMES)


def test_another_case_is_noted():
    assert match_notes(["TULIP", "Rose"], NAMES) == ["“TULIP” is taken as “tulip” (other case)."]
    assert match_notes(NAMES, NAMES) == []
