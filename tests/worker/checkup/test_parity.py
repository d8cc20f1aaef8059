"""Real first steps on one device and on several replicas, with and without a fault."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest

from tests.worker.conftest import chain
from workbench.checkup.parity import (
    agreement_of,
    comparable,
    train_pair,
    train_to_end,
    without_chance,
)
from workbench.cli import main
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import save_project
from workbench.core.training.recipe import TrainingRecipe
from workbench.runs.folder import RunFolder, create_run

pytestmark = [pytest.mark.worker, pytest.mark.timeout(900)]

TARGETS = (Choice("this_computer"), Choice("virtual", {"replicas": 2}))
STEPS = 30


def wait():
    time.sleep(0.02)


@pytest.fixture
def project(stripes_npz):
    """A net with a layer that draws."""
    graph = chain(
        ("input", {"shape": (8, 8, 1)}),
        ("rescaling", {}),
        ("conv2d", {"filters": 4}),
        ("dropout", {"rate": 0.4}),
        ("flatten", {}),
        ("dense", {"units": 12, "activation": "relu"}),
        ("dense", {"units": 3, "activation": "softmax"}),
    )
    recipe = TrainingRecipe().with_values(batch_size=51, learning_rate=0.01)
    return Project(graph=graph, recipe=recipe, dataset=Choice("npz", {"path": str(stripes_npz)}))


def test_one_device_and_two_replicas_agree_and_another_start_does_not(project, tmp_path):
    plain = without_chance(project)
    pair = train_pair(plain, TARGETS, STEPS, wait=wait)
    found = agreement_of(pair)
    assert (found.verdict, found.steps, found.precision) == ("agree", STEPS, "float32")
    assert found.targets == ("this_computer", "virtual:2")
    assert found.max_loss_difference < 1e-4
    assert found.first_step is None

    reseeded = replace(plain, recipe=plain.recipe.with_values(seed=8))
    run = create_run(comparable(reseeded, TARGETS, STEPS), path=tmp_path / "other")
    train_to_end(run, wait)
    found = agreement_of((run, pair[1]))
    assert (found.verdict, found.first_step) == ("differ", 1)
    assert "settings differ: seed" in found.words


def test_masks_of_each_replica_are_found_and_explained(project, tmp_path, capsys):
    path = tmp_path / "p.workbench"
    save_project(project, path)
    words = ["agree", str(path), "this_computer", "virtual:2", "--steps", str(STEPS), "--json"]
    assert main(words) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["verdict"], report["explained_by"]) == ("explained", ["dropout_3"])
    assert report["first_step"] == 1
    assert all(RunFolder(path).has_model() for path in map(type(path), report["runs"]))
