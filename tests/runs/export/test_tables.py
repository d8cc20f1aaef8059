"""Curves as tables: every batch and epoch, and nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import sys

import numpy as np
import pytest

from workbench.core.outside_text import cell_text, csv_cells
from workbench.core.projects.project import Project
from workbench.errors import RunFolderError, SaveError, UsageError
from workbench.parts import PARQUET
from workbench.runs.export.tables import csv_bytes, export_curves
from workbench.runs.folder import create_run
from workbench.runs.log.event_log import EventWriter
from workbench.runs.store.notes import change_notes


@pytest.fixture
def finished(run, events):
    with EventWriter(run.events_path) as writer:
        for event in events(run):
            writer.write(event)
    return run


def rows(path):
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(), newline="")))


def test_every_batch_and_every_epoch(finished, tmp_path):
    steps, epochs = export_curves(finished, tmp_path / "out.csv")
    assert (steps.name, epochs.name) == ("out.csv", "out-epochs.csv")
    table = rows(steps)
    assert [row["step"] for row in table] == ["1", "2", "3", "4", "5", "6"]
    assert [row["epoch"] for row in table] == ["1"] * 3 + ["2"] * 3
    assert [row["loss"] for row in table] == ["2", "", "0.5"] * 2, "not finite is empty"
    assert [row["accuracy"] for row in table] == ["0.1", "0.2", "0.5"] * 2
    assert [row["images"] for row in table] == ["10", "20", "30", "40", "50", "60"]
    assert {row["run"] for row in table} == {"Small net"}
    assert {row["learning_rate"] for row in table} == {""}
    assert all(float(row["seconds"]) >= 0 for row in table)
    first, second = rows(epochs)
    assert (first["epoch"], first["step"], first["val_accuracy"]) == ("1", "3", "0.8")
    assert (second["val_loss"], second["images_per_second"]) == ("0.5", "100")
    assert first["top_k_accuracy"] == ""


@pytest.mark.parametrize("title", ["=1+1", "+x", "-x", "@x"])
def test_a_title_is_never_a_formula(title):
    assert csv_cells([title]) == f"'{title}"


@pytest.mark.parametrize("title", ['a "b", c', "two\nlines", "ö → ü", "x=1"])
def test_any_title_survives_the_quoting(title):
    data = csv_bytes(title, {"step": np.arange(3)})
    assert [row[0] for row in csv.reader(data.decode().splitlines())][1:] == [cell_text(title)] * 3


def test_the_title_is_the_one_people_gave(finished, tmp_path):
    change_notes(finished, title='=HYPERLINK("x")')
    steps, _ = export_curves(finished, tmp_path / "out.csv")
    assert rows(steps)[0]["run"] == '\'=HYPERLINK("x")'


def test_many_rows_are_all_written():
    count = 120_001
    data = csv_bytes("x", {"step": np.arange(count), "loss": np.ones(count, np.float32) / 3})
    lines = data.decode().split("\r\n")
    assert len(lines) == count + 2
    assert lines[-2] == "x,120000,0.3333333"


def test_wrong_names_empty_runs_and_folders_that_are_not_there_are_reported(finished, tmp_path):
    with pytest.raises(UsageError, match="CSV or Parquet"):
        export_curves(finished, tmp_path / "out.xlsx")
    with pytest.raises(RunFolderError, match="no curves"):
        export_curves(create_run(Project()), tmp_path / "out.csv")
    with pytest.raises(SaveError):
        export_curves(finished, tmp_path / "gone" / "out.csv")
    assert list(tmp_path.glob("*.csv")) == []


def test_parquet_without_pyarrow_says_how_to_get_it(finished, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match="pyarrow") as refused:
        export_curves(finished, tmp_path / "out.parquet")
    assert PARQUET.install_command in refused.value.fix
    assert not (tmp_path / "out.parquet").exists()


def test_parquet_holds_the_same(finished, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is an optional extra")
    steps, epochs = export_curves(finished, tmp_path / "out.parquet")
    table = parquet.read_table(steps)
    assert table.column_names == [
        "run", "step", "epoch", "loss", "accuracy", "learning_rate", "seconds", "images",
    ]  # fmt: skip
    assert table["loss"].to_pylist() == [2.0, None, 0.5] * 2
    assert table["run"].to_pylist() == ["Small net"] * 6
    assert parquet.read_table(epochs)["epoch"].to_pylist() == [1, 2]
