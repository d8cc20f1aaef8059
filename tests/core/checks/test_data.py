"""A project whose data set is not chosen as a whole cannot be trained yet."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.small_projects import project_without_folder
from workbench.core.checks.analysis import analyse
from workbench.core.checks.data import (
    MissingDownload,
    absent_data,
    check_data,
    has_to_be_there,
    unset_data,
)
from workbench.core.checks.images import DatasetFacts
from workbench.core.checks.problems import ANOTHER_SOURCE
from workbench.core.params import TextParam
from workbench.core.training.recipe import TrainingRecipe
from workbench.datasets import all_datasets
from workbench.downloads.download import keras_folder
from workbench.layers import all_layers
from workbench.templates import find_template, list_templates


def analysis_of(project):
    spec = all_datasets()[project.dataset.key]
    missing = unset_data(spec, project.dataset.params)
    return analyse(project.graph, all_layers(), recipe=TrainingRecipe(), missing=missing)


def test_a_folder_that_is_not_chosen_stops_training_and_leads_to_the_choice():
    analysis = analysis_of(project_without_folder())
    (problem,) = analysis.errors
    assert problem.title == "No data"
    assert not analysis.is_trainable
    assert analysis.is_unfinished
    assert analysis.network_errors == ()
    (fix,) = problem.fixes
    assert (fix.title, fix.data_param) == ("Choose a folder…", "path")


def test_a_file_is_called_a_file_and_data_that_needs_no_choice_is_no_problem():
    spec = all_datasets()["npz"]
    graph = find_template("lenet5").project.graph
    missing = unset_data(spec, {})
    found = analyse(graph, all_layers(), recipe=TrainingRecipe(), missing=missing)
    assert found.errors[0].fixes[0].title == "Choose a file…"
    assert spec.unset({"path": "a.npz"}) == ()
    assert analysis_of(find_template("lenet5").project).is_trainable


def test_a_folder_that_is_not_there_is_an_error_with_its_path(tmp_path):
    spec = all_datasets()["folder"]
    assert absent_data(spec, {"path": str(tmp_path)}) == ()
    assert absent_data(spec, {"path": ""}) == ()
    assert absent_data(spec, {"path": "gs://bucket/folder"}) == ()
    assert absent_data(None, {"path": "x"}) == ()
    gone = str(tmp_path / "gone")
    missing = absent_data(spec, {"path": gone})
    graph = project_without_folder().graph
    (problem,) = analyse(graph, all_layers(), recipe=TrainingRecipe(), missing=missing).errors
    assert (problem.title, problem.severity) == ("Data not found", "error")
    assert gone in problem.message
    assert problem.fixes[0].data_param == "path"


def test_the_choice_is_made_in_a_dialog_and_leaves_the_network_alone():
    project = project_without_folder()
    (fix,) = analysis_of(project).errors[0].fixes
    assert fix.apply(project.graph) == project.graph


def test_images_that_are_found_by_a_name_are_missing_without_it():
    """A data set of a plug-in file may need another value than a path."""
    name = TextParam("name", "", "The data set's name in a catalog.")
    spec = replace(all_datasets()["npz"], params=(name,), source_param="name")
    (problem,) = check_data(unset_data(spec, {"name": ""}))
    assert problem.fixes[0].title == "Choose a value for name…"
    assert problem.fixes[0].data_param == "name"
    assert absent_data(spec, {"name": "birds"}) == ()  # nothing to look for on the disk


def test_a_text_that_can_be_no_path_is_missing_too():
    spec = all_datasets()["folder"]
    for text in ("~\ud800", "~\0", "a\0b"):  # from a project file that was made elsewhere
        assert [each.path for each in absent_data(spec, {"path": text})] == [text]


def test_problems_that_read_the_same_count_once():
    """Also when each was found by a check of its own, with fixes of its own."""
    project = project_without_folder()
    (first,), (second,) = (analysis_of(project).errors for _ in range(2))
    assert first is not second
    assert len({first, second, replace(second, message="Another one.")}) == 2


DOWNLOADED = [spec for spec in all_datasets().values() if spec.needs_download]


@pytest.mark.parametrize("spec", DOWNLOADED, ids=lambda spec: spec.key)
def test_what_cannot_be_downloaded_now_is_an_error_before_training(spec, monkeypatch):
    assert has_to_be_there(spec, {})
    assert absent_data(spec, {}) == ()  # it may come
    monkeypatch.setattr("workbench.downloads.download.has_route", lambda address: False)
    (missing,) = absent_data(spec, {})
    assert missing == MissingDownload(spec.title, sum(file.num_bytes for file in spec.downloads))
    graph = find_template("lenet5").project.graph
    analysis = analyse(graph, all_layers(), recipe=TrainingRecipe(), missing=(missing,))
    (problem,) = analysis.errors
    assert problem.title == "No connection"
    assert spec.title in problem.message
    assert "MB)" in problem.message
    assert [fix.data_param for fix in problem.fixes] == [ANOTHER_SOURCE]
    assert analysis.network_errors == ()  # it can be exported and compiled all the same


@pytest.mark.parametrize("spec", DOWNLOADED, ids=lambda spec: spec.key)
def test_what_was_downloaded_before_is_no_problem_offline(spec, monkeypatch):
    monkeypatch.setattr("workbench.downloads.download.has_route", lambda address: False)
    keras_folder().mkdir(parents=True)
    for number, file in enumerate(spec.downloads):
        name = file.kept_name if number % 2 else file.file_name
        (keras_folder() / name).write_bytes(b"x")
    assert absent_data(spec, {}) == ()
    assert spec.availability({}) == "downloaded"


def test_each_source_says_what_it_needs():
    said = {key: spec.availability({}) for key, spec in all_datasets().items()}
    assert said["fashion_mnist"] == said["flowers1000"] == "images included"
    assert said["folder"] == said["npz"] == "needs your images"
    assert said["cifar10"] == "downloads 170 MB"
    assert said["mnist"] == "downloads 11.5 MB"
    assert all_datasets()["folder"].availability({"path": "x"}) == "your images"
    for spec in DOWNLOADED:
        assert f"Downloaded once ({said[spec.key].removeprefix('downloads ')})" in spec.summary


def test_no_template_lacks_anything_but_a_download():
    for template in list_templates():
        spec = all_datasets()[template.project.dataset.key]
        assert unset_data(spec, template.project.dataset.params) == ()
        assert absent_data(spec, template.project.dataset.params) == ()


def test_the_classes_of_a_bundled_set_are_known_before_it_is_read():
    facts = DatasetFacts.of(all_datasets()["flowers1000"], {})
    assert (facts.shape, facts.num_classes, facts.num_train) == (None, 5, 800)
    assert DatasetFacts.of(all_datasets()["folder"], {}) is None
