"""Programs and what they leave have the very images of a run: edits, split, labels, pixels."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tests.contexts import PlainContext
from tests.exported_data import content, deep_files, merged, moved
from tests.exported_runs import differences, misread, of_program, of_run
from tests.worker.requests.conftest import run_cells
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import project_text
from workbench.core.training.recipe import recipe_to_plain
from workbench.datasets import all_datasets
from workbench.errors import WeightsError
from workbench.protocol.events import DataReady
from workbench.protocol.export import ExportProject
from workbench.protocol.weights import LoadWeights
from workbench.runs.folder import RunFolder
from workbench.runs.log.event_log import first_of
from workbench.worker.saved_models.notebook_result import (
    ResultCard,
    as_trained,
    refuse_other_images,
)

pytestmark = [pytest.mark.worker, pytest.mark.timeout(600)]


@pytest.mark.full_but("python")
@pytest.mark.parametrize("kind", ["notebook", "python"])
def test_a_program_has_the_images_of_a_run(service, train_here, tmp_path, kind):
    case, name = {"notebook": (moved, "p.ipynb"), "python": (deep_files, "p.py")}[kind]
    known = case(tmp_path)
    run = train_here(known.project).run
    here = of_run(run, tmp_path / "cache")
    assert list(misread(known, here)) == []
    (tmp_path / "away").mkdir()
    program = tmp_path / "away" / name
    text = project_text(known.project)
    service.done(ExportProject, project=text, format=kind, path=str(program))
    images = [str(tmp_path / "away" / "p.images.npz")] if kind == "python" else []
    there = of_program("python" if images else "program", program, *images)
    assert list(differences(there, here)) == []
    if images:
        return
    result = str(tmp_path / "away" / "workbench_result.zip")
    done = service.done(LoadWeights, project=text, weights=result)
    assert "not checked" not in done.text
    imported = RunFolder(Path(done.path))
    assert list(differences(of_run(imported, tmp_path / "cache"), here)) == []
    ours, theirs = (first_of(each.events_path, DataReady) for each in (run, imported))
    assert (theirs.split, theirs.per_class) == (ours.split, ours.per_class)


@pytest.fixture(scope="module")
def returned(service, tmp_path_factory):
    """A project, and the result of its notebook."""
    place = tmp_path_factory.mktemp("returned")
    project = merged(place).project
    program = place / "p.py"
    service.done(
        ExportProject, project=project_text(project), format="tpu_script", path=str(program)
    )
    np.save(place / "pictures.npy", np.zeros((1, 12, 12, 3), np.uint8))
    run_cells(program, 1, "pictures.npy", "answers.npy")
    return project, place / "workbench_result.zip"


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ({"classes": {"tulip 9": "Tulip", "tulip 10": "Tulip", "rose": ""}}, "“Tulip”"),
        ({"classes": {"rose": ""}}, "3 classes, among them “tulip 9” and “tulip 10”"),
        ({"left_out": "first"}, "38 training, 9 validation and 12 test images"),
        ({"labels": "first"}, "another label or part"),
    ],
)
def test_a_result_of_other_images_is_refused(service, returned, edits, expected):
    project, result = returned
    first = Path(project.dataset.params["path"], "aster", "image 0.png")
    values = {"left_out": frozenset({content(first)}), "labels": {content(first): "tulip 9"}}
    changed = {key: values[key] if value == "first" else value for key, value in edits.items()}
    other = replace(project, edits=replace(project.edits, **changed))
    error = service.failed(LoadWeights, project=project_text(other), weights=str(result))
    assert "other images than those of this project" in error.what
    assert error.received == "2 classes, 39 training, 9 validation and 12 test images"
    assert expected in error.expected


def test_a_result_without_its_images_at_hand_says_that_it_was_not_checked(
    service, returned, tmp_path
):
    project, result = returned
    gone = replace(project, dataset=Choice("folder", {"path": str(tmp_path / "gone")}))
    done = service.done(LoadWeights, project=project_text(gone), weights=str(result))
    assert "not at hand" in done.text


def test_a_result_that_does_not_name_its_images_is_refused(service, returned, tmp_path):
    project, result = returned
    with zipfile.ZipFile(result) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    card = json.loads(members["card.json"])
    for change in ({"images": ""}, {"per_class": [[1, 2, 3]]}, {"per_class": [[1], [2]]}):
        members["card.json"] = json.dumps({**card, **change}).encode()
        with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
        text = project_text(project)
        error = service.failed(LoadWeights, project=text, weights=str(tmp_path / "x.zip"))
        assert error.kind == "WeightsError"


def published(**values) -> tuple[Project, SimpleNamespace]:
    """A project of Fashion-MNIST, and what its notebook leaves."""
    project = Project(dataset=Choice("fashion_mnist", {}))
    card = {
        "format": "", "version": 1, "device": "CPU", "replicas": 1, "precision": "float32",
        "batch_size": 1, "steps_per_epoch": 1, "seconds": 1.0,
        "class_names": list(all_datasets()["fashion_mnist"].class_names),
        "recipe": recipe_to_plain(project.recipe.with_values(seed=3)),
        "num_train": 54_000, "num_validation": 6_000, "num_test": 10_000,
    }  # fmt: skip
    return project, SimpleNamespace(card=ResultCard(**{**card, **values}))


def test_results_of_published_images_are_compared_by_classes_and_counts(tmp_path):
    def check(**values):
        project, result = published(**values)
        return refuse_other_images(PlainContext(tmp_path), project, (28, 28, 1), result)

    assert check() == ""
    plain = {"validation": "test"}
    assert check(recipe=plain, num_train=60_000, num_validation=10_000) == ""
    names = list(all_datasets()["fashion_mnist"].class_names)
    for other in (
        {"num_test": 9_999},
        {"num_train": 60_000},
        {"class_names": names[::-1]},
        {"images": "0" * 64},
    ):
        with pytest.raises(WeightsError, match="other images"):
            check(**other)


def test_published_images_with_edits_are_not_those_that_keras_downloads(tmp_path):
    project, result = published()
    edited = replace(project, edits=DataEdits(classes={"Bag": "Handbag"}))
    with pytest.raises(WeightsError, match="other images"):
        refuse_other_images(PlainContext(tmp_path), edited, (28, 28, 1), result)


def test_the_recipe_and_split_of_a_result_are_those_of_the_run():
    marks = {"made_for": "test 0.1", "bounds": {"Bag": ["0" * 16, "f" * 16]}}
    project, result = published(split=marks)
    trained = as_trained(project, result)
    assert trained.recipe.seed == 3
    assert trained.edits.split.bounds == {"Bag": ("0" * 16, "f" * 16)}
    project, result = published(recipe={"epochs": "many"})
    assert as_trained(project, result) is project
