"""From where a run would go on, and whether one has room on its disk."""

from __future__ import annotations

import os
import shutil
import time
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from workbench.core.checks.analysis import analyse
from workbench.core.format import local_time
from workbench.core.projects.project import Project
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import NoRoomError
from workbench.layers import all_layers
from workbench.protocol.events import Plan
from workbench.runs.folder import create_run
from workbench.runs.state import outcome as resume_point
from workbench.runs.state.outcome import outcome_of, resume_words
from workbench.runs.state.preparing import needed_bytes, refuse_no_room
from workbench.runs.store.checkpoint import (
    DataMark,
    TrainerState,
    checkpoint_path,
    this_machine,
    write_checkpoint,
)
from workbench.templates import find_template

STATE = TrainerState(
    number=7,
    step=780,
    epochs_done=390,
    seconds=1.0,
    plan=Plan(precision="float32"),
    machine=this_machine({}),
    data=DataMark(num_train=1, num_validation=0, num_test=0, digest=""),
)


@pytest.fixture
def run():
    return create_run(Project(recipe=TrainingRecipe(epochs=400)))


def kept(run, **values):
    state = msgspec.structs.replace(STATE, **values)
    write_checkpoint(run, state, {"w": np.zeros(1, np.float32)})
    path = checkpoint_path(run, 2 if state.number % 2 else 1)
    moment = time.mktime((2026, 3, 4, 14, 41, 0, 0, 0, -1))
    os.utime(path, (moment, moment))
    return resume_words(run)


def test_it_names_the_next_epoch_and_the_time_of_the_checkpoint(run):
    assert resume_words(run) == "There is no checkpoint: Resume starts at epoch 1."
    kept(run, number=6, epochs_done=380)
    assert kept(run) == "Resume continues at epoch 391 of 400 (checkpoint 04 Mar 2026 14:41)."
    within = kept(run, number=9, epoch_training_s=0.5)
    assert (
        within == "Resume continues at epoch 391 of 400, step 781 (checkpoint 04 Mar 2026 14:41)."
    )
    done = kept(run, number=11, epochs_done=400)
    assert done.startswith("All 400 epochs are trained: Resume calibrates and tests the weights")


def test_an_outcome_says_it_where_the_run_can_be_resumed(run):
    kept(run)
    run.events_path.write_bytes(b"")
    outcome = outcome_of(run)
    assert (outcome.kind, outcome.can_resume) == ("died", True)
    assert outcome.resumes.startswith("Resume continues at epoch 391 of 400")


def test_a_run_that_needs_more_than_is_free_is_refused_in_figures(tmp_path):
    project = find_template("flowers_dense").project
    analysis = analyse(project.graph, all_layers(), recipe=project.recipe)
    needed = needed_bytes(project, analysis)
    weights = 4 * analysis.costs.parameters.total
    assert 4 * weights < needed < 20 * weights
    wide = replace(project, recipe=project.recipe.with_values(optimizer="sgd"))
    assert needed_bytes(wide, analysis) < needed
    refuse_no_room(project, tmp_path / "not" / "yet")  # there is room here
    free = shutil.disk_usage(tmp_path).free

    def huge(units):
        graph = project.graph
        dense = next(key for key in graph.order if graph.nodes[key].kind == "dense")
        return replace(project, graph=graph.with_params(dense, units=units))

    units = 100
    while (
        needed_bytes(huge(units), analyse(huge(units).graph, all_layers(), recipe=project.recipe))
        <= free
    ):
        units *= 10
    with pytest.raises(NoRoomError, match=r"This run needs about .* of disk space, .* are free"):
        refuse_no_room(huge(units), tmp_path)


@pytest.mark.parametrize("moment", [1e300, -1e300, 2.0**63, float("nan")])
def test_a_number_that_is_no_moment_is_no_time(moment):
    assert local_time(moment) is None
    assert resume_point._clock(moment) == "of an unknown time"
