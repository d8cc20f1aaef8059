"""The file of this computer's speeds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from workbench.core.checks.analysis import analyse
from workbench.core.checks.estimates import MeasuredRun
from workbench.core.checks.images import DatasetFacts
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import SaveError
from workbench.layers import all_layers
from workbench.runs.state import preparing as speeds
from workbench.runs.state.preparing import add_speed, measured_run, predict_run, read_speeds
from workbench.targets.this_computer import HIDE_BFLOAT16, computes_bfloat16
from workbench.templates import find_template


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


def test_a_run_that_goes_on_is_kept_once(tmp_path: Path) -> None:
    path = tmp_path / "speeds.json"
    for speed in (5.0, 7.0):
        add_speed(msgspec.structs.replace(_run(speed), run="one"), path)
        add_speed(msgspec.structs.replace(_run(2 * speed), run="two"), path)
    assert [(run.run, run.images_per_second) for run in read_speeds(path)] == [
        ("one", 7.0),
        ("two", 14.0),
    ]


def test_an_epoch_is_predicted_as_long_as_those_of_the_same_network_have_taken() -> None:
    project = find_template("fashion_convnet").project
    recipe = replace(project.recipe, validation="none", precision="float32")
    analysis = analyse(project.graph, all_layers(), recipe=recipe)
    facts = DatasetFacts((28, 28, 1), 10, "Fashion-MNIST", num_train=60_000, num_test=10_000)
    measured = measured_run(
        analysis, recipe, run="r", batch_size=recipe.batch_size, precision="float32",
        images_per_second=20_000.0, epoch_factor=3.0, memory_bytes=0,
    )  # fmt: skip

    def epoch_s(speeds: list[MeasuredRun]) -> float:
        found = predict_run(analysis, recipe, facts, speeds=speeds, limit_bytes=10**10)
        assert found.epoch_s is not None
        return found.epoch_s

    images = recipe.batch_size * (60_000 // recipe.batch_size)
    assert epoch_s([measured]) == pytest.approx(3.0 * images / 20_000.0)
    before = msgspec.structs.replace(measured, epoch_factor=1.0)
    assert epoch_s([before]) == pytest.approx(images / 20_000.0)
