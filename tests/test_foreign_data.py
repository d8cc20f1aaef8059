"""A sample of the foreign data sets: none is read wrong without a word. All: `prove.sh foreign_data`.

And the list of reports (`prove.sh reports`): what it names is there.
"""

from __future__ import annotations

import fnmatch
import re
from pathlib import Path

import pytest

from tests.foreign import all_cases
from tests.foreign.judged import judge
from tests.proofs.reports import ROOT, ROWS

STEP = 9
"""Of the cases one in so many: of every kind, and each time the same ones."""

CASES = list(all_cases())


@pytest.mark.parametrize("case", CASES[::STEP], ids=lambda case: f"{case.kind}: {case.name}")
def test_it_is_read_right_or_said(case, tmp_path):
    verdict = judge(case, tmp_path)
    assert verdict.outcome != "silently wrong", verdict.words


def test_there_are_many_of_each_kind():
    kinds = [case.kind for case in CASES]
    assert len(kinds) >= 400
    assert all(kinds.count(kind) >= 60 for kind in {*kinds})


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_what_the_list_of_reports_names_is_there(row):
    assert row.tests or row.cases
    for test in row.tests:
        file, _, name = test.partition("::")
        text = Path(ROOT / "tests" / file).read_text(encoding="utf-8")
        assert re.search(rf"^def {name}\(" if name else "^def test_", text, re.MULTILINE), test
    names = [f"{case.kind}: {case.name}" for case in CASES]
    for pattern in row.cases:
        assert fnmatch.filter(names, pattern.replace("[", "[[]")), pattern
