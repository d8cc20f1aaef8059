"""Runs on edited data: trained on what is left, tested on the very images that were held out."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import replace

import numpy as np
import pytest

from tests.contexts import PlainContext
from tests.worker.conftest import stripes
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import Choice
from workbench.datasets import all_datasets
from workbench.errors import DatasetError
from workbench.pictures.dataset_bundle import pack
from workbench.pictures.png import write_png
from workbench.pictures.prepare import prepare
from workbench.protocol.events import DataReady, LogLine
from workbench.protocol.messages import Evaluate
from workbench.protocol.service_call import ServiceCall
from workbench.worker.input.sources import edits_of, load_data, load_source, run_test_part

pytestmark = pytest.mark.worker

NAMES = ("high", "low", "middle")


@pytest.fixture
def folder(tmp_path):
    pictures, labels = stripes(120, 4)
    for number, (picture, label) in enumerate(zip(pictures, labels, strict=True)):
        write_png(tmp_path / "data" / NAMES[label] / f"{number:03}.png", picture)
    return tmp_path / "data"


def content(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()[:32]


def edits_for(folder):
    high, low, middle = (sorted((folder / name).iterdir()) for name in NAMES)
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


def test_a_run_trains_on_edited_data_and_is_evaluated_on_its_own(train_here, project, folder):
    trained = train_here(project)
    (ready,) = trained.all(DataReady)
    assert ready.class_names == ["high", "below"]
    assert ready.num_train + ready.num_validation + ready.num_test == 118
    lines = [event.text for event in trained.all(LogLine)]
    assert any("2 images left out, 1 image relabeled and 2 images moved" in one for one in lines)

    card = trained.run.model_card()
    assert edits_of(card.dataset["edits"]) == project.edits
    with ServiceCall() as service:
        answer = list(service.answers(Evaluate(id=1, model=str(trained.run.path))))[-1]
    assert np.sum(answer.confusion) == ready.num_test
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
    spec = all_datasets()["folder"]
    there = prepare(load_data(ctx, spec, {}, project.edits, sha), **shape)
    for name in ("train", "validation", "test"):
        left, right = getattr(here, name), getattr(there, name)
        np.testing.assert_array_equal(left.x, right.x)
        np.testing.assert_array_equal(left.y, right.y)


def test_damaged_edits_of_a_card_are_named():
    with pytest.raises(DatasetError, match="edits of the data are damaged"):
        edits_of({"left_out": ["no content"]})
