"""CountSplit and DescribeData count the parts that the next run of a project will have."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.core.projects.project import Choice, Project
from workbench.core.specs.dataset import SplitMarks, marks_to_plain
from workbench.core.training.recipe import TrainingRecipe
from workbench.core.training.split import SplitRule
from workbench.pictures.png import write_png
from workbench.protocol.describe_data import CountSplit, DescribeData
from workbench.protocol.events import DataReady
from workbench.runs.folder import create_run
from workbench.runs.log.event_log import EventWriter

pytestmark = pytest.mark.worker

RECIPE = TrainingRecipe().with_values(split="content", test_share=0.2, validation_share=0.25)


@pytest.fixture
def source(tmp_path):
    for number in range(40):
        name = tmp_path / "data" / "ab"[number % 2] / f"{number}.png"
        write_png(name, np.full((6, 6, 3), number, np.uint8))
    return {"source": "folder", "params": {"path": str(tmp_path / "data")}}


def test_counts_of_a_description_and_of_another_recipe(service, source):
    described = service.done(DescribeData, **source, recipe=RECIPE.split_values())
    assert [each.split for each in described.classes] == [[12, 4, 4], [12, 4, 4]]
    more = RECIPE.with_values(test_share=0.5)
    counted = service.done(CountSplit, **source, recipe=more.split_values())
    assert counted.classes == [[7, 3, 10], [7, 3, 10]]
    without = service.done(
        CountSplit,
        **source,
        recipe=more.split_values(),
        bad_files=[f"{source['params']['path']}/a/0.png"],
    )
    assert [sum(each) for each in without.classes] == [19, 20]


def test_the_marks_of_earlier_runs_count(service, source, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(service.home))
    dataset = Choice(source["source"], source["params"])
    run = create_run(Project(id="c0ffee0123456789", recipe=RECIPE, dataset=dataset))
    key = SplitRule.of(RECIPE, has_test=False, has_validation=False).key
    all_test = SplitMarks(key, {"a": ("f" * 16, "f" * 16), "b": ("0" * 16, "f" * 16)})
    with EventWriter(run.events_path) as writer:
        writer.write(
            DataReady(
                class_names=["a", "b"], num_train=0, num_validation=20, num_test=20,
                steps_per_epoch=1, split=marks_to_plain(all_test),
            )
        )  # fmt: skip
    fields = {**source, "recipe": RECIPE.split_values()}
    counted = service.done(CountSplit, **fields, project_id="c0ffee0123456789")
    assert counted.classes == [[0, 0, 20], [0, 20, 0]]
    assert service.done(CountSplit, **fields).classes == [[12, 4, 4], [12, 4, 4]]
