"""Tables, arrays and records of other people: read right, said, or refused; never wrong in silence."""

from __future__ import annotations

import pytest

from tests.datasets.foreign_tables import ARRAYS, RECORDS, TABLES, Case, outcome


@pytest.mark.parametrize("case", TABLES, ids=lambda case: case.name)
def test_a_foreign_table_is_read_right_or_said_or_refused(case: Case, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    found, words = outcome(case, folder)
    assert found == case.expected, words


@pytest.mark.parametrize("case", ARRAYS, ids=lambda case: case.name)
def test_foreign_arrays_are_read_right_or_said_or_refused(case: Case, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    found, words = outcome(case, folder)
    assert found == case.expected, words


@pytest.mark.parametrize("case", RECORDS, ids=lambda case: case.name)
def test_foreign_records_are_read_right_or_said_or_refused(case: Case, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    found, words = outcome(case, folder)
    assert found == case.expected, words
