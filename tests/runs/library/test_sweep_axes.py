"""The values of a sweep: lists, ranges with steps, and what of a project can be swept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.class_folders import stripes_project, write_stripes
from tests.worker.conftest import chain
from workbench.errors import UsageError
from workbench.runs.library.sweep import (
    MAX_STEPS,
    TRAINING,
    WIDTHS,
    Axis,
    SweepPlan,
    sweepable,
    with_trial,
    with_values,
)


@pytest.fixture
def project(tmp_path):
    graph = chain(
        ("input", {"shape": (8, 8, 1)}),
        ("conv2d", {"filters": 4}),
        ("flatten", {}),
        ("dropout", {"rate": 0.5}),
        ("dense", {"units": 3}),
        ("softmax", {}),
    )
    return replace(stripes_project(write_stripes(tmp_path / "data", 30)), graph=graph)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("conv2d_1.filters=16..64/4", ["16", "32", "48", "64"]),
        ("conv2d_1.filters=4..64/3log", ["4", "16", "64"]),
        ("conv2d_1.filters=1..3/5", ["1", "2", "3"]),
        ("learning_rate=1e-4..1e-1/4log", ["0.0001", "0.001", "0.01", "0.1"]),
        ("dropout_3.rate=0..0.5/3", ["0", "0.25", "0.5"]),
    ],
)
def test_a_range_has_steps(project, text, values):
    axis = Axis.parse(text)
    found = SweepPlan(project, (axis,)).combinations
    assert [each.values[axis.key] for each in found] == values
    assert Axis.parse(axis.text()) == axis


def test_at_random_steps_are_drawn_and_nothing_between(project):
    axes = (Axis.parse("conv2d_1.filters=16..64/4"), Axis.parse("learning_rate=1e-4..1e-1"))
    found = SweepPlan(project, axes, num_random=20).combinations
    assert {each.values["conv2d_1.filters"] for each in found} <= {"16", "32", "48", "64"}


@pytest.mark.parametrize(
    "text",
    ["epochs=1..5/1", f"epochs=1..5/{MAX_STEPS + 1}", "learning_rate=0..1/3log", "epochs=5..1/3"],
)
def test_a_range_with_wrong_steps_is_refused(text):
    with pytest.raises(UsageError):
        Axis.parse(text)


def test_what_can_be_swept_is_in_groups(project):
    found = {each.key: each for each in sweepable(project)}
    assert found["learning_rate"].group == TRAINING
    assert found["conv2d_1.filters"].group == WIDTHS
    assert found["conv2d_1.filters"].words == "conv2d_1 filters"
    assert found["dropout_3.rate"].words == "dropout_3 rate"
    assert "dense_4.units" not in found, "that is the number of classes"
    assert not {"seed", "split", "test_share", "momentum"} & found.keys()


def test_every_suggestion_can_be_trained_with(project):
    for each in sweepable(project):
        assert len(set(each.suggested())) == len(each.suggested())
        for text in each.suggested():
            with_values(project, {each.key: text})
    found = {each.key: each.suggested() for each in sweepable(project)}
    assert found["conv2d_1.filters"] == ("2", "4", "8")
    assert found["dropout_3.rate"] == ("0.4", "0.5", "0.6")
    assert found["learning_rate"] == ("0.0003", "0.001", "0.003")


def test_a_project_takes_the_values_of_a_run_but_keeps_its_split(project):
    axes = (Axis.parse("conv2d_1.filters=2,8"), Axis.parse("learning_rate=0.1,0.2"))
    run = SweepPlan(project, axes, seeds=2).runs()[-1]
    own = replace(project, recipe=project.recipe.with_values(seed=99))
    taken = with_trial(own, run.project, run.point.values)
    assert taken.recipe == own.recipe.with_values(learning_rate=0.2)
    assert taken.graph == run.project.graph
    without = replace(own, graph=chain(("input", {"shape": (8, 8, 1)}), ("flatten", {})))
    with pytest.raises(UsageError, match="conv2d_1"):
        with_trial(without, run.project, run.point.values)
