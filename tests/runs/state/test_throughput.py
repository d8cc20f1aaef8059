"""The file of this computer's speeds."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.core.checks.run_estimate import MeasuredRun
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import SaveError
from workbench.runs.state import throughput as speeds
from workbench.runs.state.throughput import add_speed, read_speeds
from workbench.targets.this_computer import HIDE_BFLOAT16, computes_bfloat16


def _run(speed: float) -> MeasuredRun:
    return MeasuredRun(
        multiply_adds=10, numbers=10, batch_size=8, precision="float32", images_per_second=speed
    )


def test_speeds_are_kept_in_order_and_the_oldest_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "speeds.json"
    for speed in range(105):
        add_speed(_run(float(speed)), path)
    assert [run.images_per_second for run in read_speeds(path)] == [float(n) for n in range(5, 105)]


def test_a_prediction_is_for_the_precision_that_a_run_would_have(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    units = frozenset({"amx_bf16"})
    assert computes_bfloat16(units)
    assert not computes_bfloat16(frozenset({"avx2"}))
    assert speeds._precision(TrainingRecipe(precision="bfloat16")) == "bfloat16"
    monkeypatch.setenv(HIDE_BFLOAT16, "1")
    assert not computes_bfloat16(units)
    assert speeds._precision(TrainingRecipe()) == "float32"


def test_a_damaged_file_is_begun_again(tmp_path: Path) -> None:
    path = tmp_path / "speeds.json"
    path.write_bytes(b'[{"multiply_adds": "many"')
    assert read_speeds(path) == []
    add_speed(_run(3.0), path)
    assert [run.images_per_second for run in read_speeds(path)] == [3.0]


def test_a_folder_that_cannot_be_made_is_reported_as_every_failed_save(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(SaveError, match=r"“speeds.json” was not saved: part of the path"):
        add_speed(_run(3.0), tmp_path / "cache" / "speeds.json")
    with pytest.raises(SaveError, match=r"“speeds.json” was not saved"):
        add_speed(_run(3.0), tmp_path / "cache" / "deeper" / "speeds.json")
