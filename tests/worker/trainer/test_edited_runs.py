"""Runs on edited data: trained on what is left, tested on the very images that were held out."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
from dataclasses import replace

import numpy as np
import pytest

from tests.class_folders import STRIPES, write_stripes
from tests.contexts import PlainContext
from tests.worker.conftest import stripes
from workbench.core.projects.data_edits import DataEdits, with_version
from workbench.core.projects.project import Choice
from workbench.errors import DatasetError
from workbench.pictures.dataset_bundle import pack
from workbench.pictures.prepare import prepare
from workbench.protocol.events import CheckpointKept, DataReady, LogLine, RunFinished, RunStarted
from workbench.protocol.trained.evaluate import Evaluate
from workbench.runs.start import start_trainer
from workbench.runs.store.weights_file import read_arrays
from workbench.worker.input.sources import edits_of, load_data, load_source, run_test_part

pytestmark = pytest.mark.worker


@pytest.fixture
def folder(tmp_path):
    return write_stripes(tmp_path / "data", 120)


def content(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:32]


def edits_for(folder):
    high, low, middle = (sorted((folder / name).iterdir()) for name in STRIPES)
    return DataEdits(
        left_out=frozenset({content(high[0]), content(high[1])}),
        labels={content(low[0]): "high"},
        parts={content(middle[0]): "test", content(middle[1]): "train"},
        classes={"low": "below", "middle": "below"},
    )


@pytest.fixture
def project(small_project, folder):
    made = small_project(classes=2, epochs=2, batch_size=16, test_share=0.2)
    return replace(made, dataset=Choice("folder", {"path": str(folder)}), edits=edits_for(folder))


def test_a_run_trains_on_edited_data_and_is_evaluated_on_its_own(train_here, service, project):
    versions = with_version((), "below", project.edits)
    trained = train_here(replace(project, data_versions=versions))
    (ready,) = trained.all(DataReady)
    assert ready.class_names == ["high", "below"]
    assert ready.num_train + ready.num_validation + ready.num_test == 118
    lines = [event.text for event in trained.all(LogLine)]
    assert "Version of the data: below" in lines
    assert any("2 images left out, 1 image relabeled and 2 images moved" in one for one in lines)

    card = trained.run.model_card()
    assert edits_of(card.dataset["edits"]) == project.edits
    answer = service.done(Evaluate, model=str(trained.run.path))
    assert answer.count == ready.num_test
    assert answer.accuracy == pytest.approx(trained.training.test.accuracy)


def test_the_images_are_the_same_here_for_evaluation_and_on_another_computer(
    train_here, project, folder, tmp_path, monkeypatch
):
    ctx = PlainContext(tmp_path / "cache")
    trained = train_here(project)
    loaded = load_source(ctx, "folder", project.dataset.params, project.edits)
    shape = {"shape": (8, 8, 1), "fit": "crop", "recipe": project.recipe, "ctx": ctx}
    here = prepare(loaded, **shape)

    part, names = run_test_part(ctx, trained.run.model_card())
    assert names == ("high", "below")
    np.testing.assert_array_equal(part.x, here.test.x)
    np.testing.assert_array_equal(part.y, here.test.y)

    sha = pack(loaded, tmp_path / "parcel.zip", ctx)
    home = tmp_path / "parcels"
    shutil.unpack_archive(tmp_path / "parcel.zip", home / sha)
    monkeypatch.setattr("workbench.worker.input.sources.parcels_home", lambda: home)
    there = prepare(load_data(ctx, project, sha), **shape)
    for name in ("train", "validation", "test"):
        left, right = getattr(here, name), getattr(there, name)
        np.testing.assert_array_equal(left.x, right.x)
        np.testing.assert_array_equal(left.y, right.y)


def test_damaged_edits_of_a_card_are_named():
    with pytest.raises(DatasetError, match="edits of the data are damaged"):
        edits_of({"left_out": ["no content"]})


@pytest.mark.full
def test_a_run_with_edits_and_a_split_by_content_resumes_exactly(
    trainer, train_here, small_project, folder
):
    recipe = {"epochs": 40, "batch_size": 16, "test_share": 0.2, "split": "content"}
    made = small_project(classes=2, **recipe, precision="float32", xla="off")
    project = replace(
        made, dataset=Choice("folder", {"path": str(folder)}), edits=edits_for(folder)
    )
    killed = trainer(project)
    killed.wait_for(CheckpointKept)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait_for_end()
    killed.pid = start_trainer(killed.run, resume=True)
    killed.wait_for(RunFinished)
    killed.wait_for_end()
    assert killed.all(RunStarted)[-1].bit_exact is True
    whole = train_here(project)
    left = read_arrays(whole.run.weights_path)
    for name, array in read_arrays(killed.run.weights_path).items():
        np.testing.assert_array_equal(array, left[name])
    assert killed.all(DataReady)[0].split == whole.all(DataReady)[0].split != {}


def test_images_that_are_added_do_not_get_into_the_test_part_of_a_run(
    train_here, project, folder, tmp_path
):
    """They join by their hash: those that have trained are never tested on."""
    project = replace(project, recipe=project.recipe.with_values(split="content"))
    trained = train_here(project)
    (ready,) = trained.all(DataReady)
    assert [sum(each) for each in zip(*ready.per_class, strict=True)] == [
        ready.num_train,
        ready.num_validation,
        ready.num_test,
    ]
    ctx = PlainContext(tmp_path / "cache")
    card = trained.run.model_card()
    before, _ = run_test_part(ctx, card)
    write_stripes(folder, 300, seed=9, stem="new ")
    after, _ = run_test_part(ctx, card)
    tested = {one.tobytes() for one in np.asarray(before.x)}
    tested_now = {one.tobytes() for one in np.asarray(after.x)}
    assert tested < tested_now
    added = {picture.tobytes() for picture in stripes(300, 9)[0]}
    assert tested_now - tested <= added
