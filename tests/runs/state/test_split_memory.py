"""The next run of a project cuts its split by content where the last one did."""

from __future__ import annotations

from dataclasses import replace

import pytest

from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import Choice, Project
from workbench.core.specs.dataset import SplitMarks, marks_to_plain
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.split import SplitRule
from workbench.protocol.events import DataReady
from workbench.runs.folder import create_run
from workbench.runs.log.event_log import EventWriter
from workbench.runs.state.preparing import with_remembered_split

RECIPE = TrainingRecipe().with_values(split="content")
KEY = SplitRule.of(RECIPE, has_test=False, has_validation=False).key


def marks(*names: str, made_for: str = KEY) -> SplitMarks:
    return SplitMarks(made_for, dict.fromkeys(names, ("1" * 16, "2" * 16)))


@pytest.fixture
def project(tmp_path):
    dataset = Choice("folder", {"path": str(tmp_path / "flowers")})
    return Project(id="0123456789abcdef", recipe=RECIPE, dataset=dataset)


@pytest.fixture
def trained(tmp_path):
    """Makes a run that has logged its split."""

    def train(project, logged):
        run = create_run(project, home=tmp_path / "runs")
        if logged is not None:
            with EventWriter(run.events_path) as writer:
                writer.write(
                    DataReady(
                        class_names=["a"], num_train=1, num_validation=1, num_test=1,
                        steps_per_epoch=1, split=marks_to_plain(logged),
                    )
                )  # fmt: skip
        return run

    return train


def remembered(project, tmp_path) -> SplitMarks:
    return with_remembered_split(project, tmp_path / "runs").edits.split


def test_the_newest_run_counts(project, trained, tmp_path):
    assert remembered(project, tmp_path) == SplitMarks()
    trained(project, marks("a"))
    trained(project, marks("a", "b"))
    trained(project, None)  # stopped before its images were there
    assert remembered(project, tmp_path) == marks("a", "b")


def test_a_queued_run_hands_on_what_it_was_given(project, trained, tmp_path):
    trained(replace(project, edits=DataEdits(split=marks("a"))), None)
    assert remembered(project, tmp_path) == marks("a")


def test_runs_of_other_settings_data_or_projects_do_not_count(project, trained, tmp_path):
    trained(project, marks("a", made_for="test 0.5"))
    trained(replace(project, dataset=Choice("folder", {"path": "/x/other"})), marks("b"))
    trained(replace(project, id="f" * 16), marks("c"))
    assert remembered(project, tmp_path) == SplitMarks()
    moved = replace(project, dataset=Choice("folder", {"path": "/elsewhere/flowers"}))
    trained(moved, marks("d"))
    assert remembered(project, tmp_path) == marks("d"), "a folder may be moved"
    by_order = replace(project, recipe=RECIPE.with_values(split="order"))
    assert with_remembered_split(by_order, tmp_path / "runs") is by_order


def test_marks_of_the_project_go_first(project, trained, tmp_path):
    trained(project, marks("a", "b"))
    own = SplitMarks(KEY, {"a": ("0" * 16, "f" * 16)})
    found = remembered(replace(project, edits=DataEdits(split=own)), tmp_path)
    assert found.bounds == {"a": ("0" * 16, "f" * 16), "b": ("1" * 16, "2" * 16)}
