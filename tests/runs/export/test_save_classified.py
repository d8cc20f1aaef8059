"""A table of classified images that is saved later: the same rows, as CSV or Parquet."""

from __future__ import annotations

import pytest

from tests.runs.export.test_classified_table import answer, write
from workbench.errors import SaveError, UsageError
from workbench.runs.export.classified_table import save_classified
from workbench.runs.export.tables import ClassifiedColumns


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "rows.csv"
    write(path, [answer("a.png"), answer("b.png", 0.25), answer("=c.png", 0.5, "tulip")])
    return path


def test_the_same_rows_are_saved_as_csv_and_as_parquet(rows, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    for name in ("saved.csv", "saved.parquet", "direct.parquet"):
        if name.startswith("direct"):
            write(
                tmp_path / name,
                [answer("a.png"), answer("b.png", 0.25), answer("=c.png", 0.5, "tulip")],
            )
        else:
            save_classified(rows, tmp_path / name)
    assert (tmp_path / "saved.csv").read_bytes() == rows.read_bytes()
    saved, direct = (parquet.read_table(tmp_path / f"{n}.parquet") for n in ("saved", "direct"))
    assert saved.equals(direct)


@pytest.mark.parametrize("has_truth", [True, False])
def test_columns_are_known_by_their_header(has_truth):
    columns = ClassifiedColumns.of(["=b", "a", "unknown"], has_truth=has_truth)
    assert columns.header()[-1] == "unknown (class)"
    again = ClassifiedColumns.of_header(columns.header())
    assert again.header() == columns.header()
    columns = ClassifiedColumns.of(["=b", "a", "class"], has_truth=has_truth)
    assert ClassifiedColumns.of_header(columns.header()) == columns
    for other in ([], ["file"], ["a", "b", "c", "d", "e", "f"]):
        with pytest.raises(ValueError, match="other columns"):
            ClassifiedColumns.of_header(other)


def test_another_suffix_and_missing_rows_are_reported(rows, tmp_path):
    with pytest.raises(UsageError):
        save_classified(rows, tmp_path / "a.txt")
    with pytest.raises(SaveError, match="cannot be read"):
        save_classified(tmp_path / "gone.csv", tmp_path / "a.csv")
    assert not (tmp_path / "a.csv").exists()
