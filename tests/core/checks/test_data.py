"""A project whose data set is not chosen as a whole cannot be trained yet."""

from __future__ import annotations

from dataclasses import replace

from workbench.core.checks.analysis import analyse
from workbench.core.checks.data import check_data
from workbench.core.checks.missing_data import absent_data, unset_data
from workbench.core.params import TextParam
from workbench.core.training.recipe import TrainingRecipe
from workbench.datasets import all_datasets
from workbench.layers import all_layers
from workbench.templates import find_template


def analysis_of(project):
    spec = all_datasets()[project.dataset.key]
    missing = unset_data(spec, project.dataset.params)
    return analyse(project.graph, all_layers(), recipe=TrainingRecipe(), missing=missing)


def test_a_folder_that_is_not_chosen_stops_training_and_leads_to_the_choice():
    analysis = analysis_of(find_template("flowers_gap").project)
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
    graph = find_template("flowers_gap").project.graph
    (problem,) = analyse(graph, all_layers(), recipe=TrainingRecipe(), missing=missing).errors
    assert (problem.title, problem.severity) == ("Data not found", "error")
    assert gone in problem.message
    assert problem.fixes[0].data_param == "path"


def test_the_choice_is_made_in_a_dialog_and_leaves_the_network_alone():
    project = find_template("flowers_gap").project
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
    project = find_template("flowers_gap").project
    (first,), (second,) = (analysis_of(project).errors for _ in range(2))
    assert first is not second
    assert len({first, second, replace(second, message="Another one.")}) == 2
