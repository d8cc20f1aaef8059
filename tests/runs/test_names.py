"""Numbers and short names of runs, and whose they are."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from workbench.core.network.graph import Edge, Graph
from workbench.core.projects.project import Project, new_project_id
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import RunFolderError
from workbench.runs.folder import create_run
from workbench.runs.home import runs_home
from workbench.runs.library.index import find_model, list_runs, open_run, summarise
from workbench.runs.library.projects import OpenProject, group_runs
from workbench.runs.naming import NUMBERS_NAME, network_words
from workbench.runs.store.notes import change_notes
from workbench.templates import find_template

OLD_RUN = Path(__file__).parents[1] / "data" / "runs" / "before_project_ids"


@pytest.fixture
def flowers():
    return Project(id=new_project_id(), title="flowers", recipe=TrainingRecipe())


@pytest.fixture
def old_run():
    """A run that the version before project ids has trained."""
    folder = runs_home() / "2026-11-22_20-16-06_stripes"
    shutil.copytree(OLD_RUN, folder)
    return folder


def changed(project, **values):
    return replace(project, recipe=project.recipe.with_values(**values))


def label(run):
    return summarise(run).label


def test_runs_are_numbered_by_project_and_named_by_what_differs(flowers):
    first = create_run(flowers)
    quick = create_run(changed(flowers, learning_rate=0.0003, epochs=32))
    seeded = create_run(changed(flowers, learning_rate=0.0003, epochs=32, seed=8))
    other = create_run(replace(flowers, id=new_project_id(), title="other"))
    assert [label(run) for run in (first, quick, seeded, other)] == [
        "1 · lr 0.001 · 10 epochs",
        "2 · lr 0.0003 · 32 epochs",
        "3 · seed 8 · lr 0.0003 · 32 epochs",
        "1 · lr 0.001 · 10 epochs",
    ]


def test_another_network_optimizer_or_batch_is_named(flowers):
    create_run(flowers)
    lenet = find_template("lenet5").project
    other = changed(replace(flowers, graph=lenet.graph), batch_size=500, epochs=1)
    assert label(create_run(other)) == "2 · 10 network changes · batch 500 · 1 epoch"
    again = create_run(changed(other, optimizer="sgd", nesterov=True))
    assert label(again) == "3 · SGD · nesterov momentum · batch 500"


@pytest.fixture
def transfer(flowers):
    return replace(flowers, graph=find_template("flowers_transfer").project.graph)


def test_what_is_new_in_the_network_is_named(transfer):
    create_run(transfer)
    node = next(each for each in transfer.graph.nodes.values() if each.kind == "dropout")
    other = transfer.graph.with_node(replace(node, params={**node.params, "rate": 0.5}))
    words = "dropout rate 0.2 → 0.5"
    second = create_run(replace(transfer, graph=other))
    assert label(second) == f"2 · {words} · lr 0.001 · 10 epochs"
    third = create_run(replace(transfer, graph=other))  # as the second, not as the first
    assert label(third) == f"3 · {words} · lr 0.001 · 10 epochs"
    assert label(create_run(transfer)).startswith("4 · dropout rate 0.5 → 0.2 · ")


def test_a_layer_more_or_less_is_named_with_its_connections_left_out(transfer):
    graph = transfer.graph
    node = next(each for each in graph.nodes.values() if each.kind == "dropout")
    (source,), (behind,) = graph.sources(node.id), graph.edges_from(node.id)
    nodes = [each for each in graph.nodes.values() if each.id != node.id]
    edges = [edge for edge in graph.edges if node.id not in (edge.source, edge.target)]
    less = Graph.of(nodes, [*edges, Edge(source, behind.target, behind.port)])
    assert network_words(graph, less) == f"without {node.name}"
    assert network_words(less, graph) == f"with {node.name}"
    assert network_words(graph, graph) == ""


def test_a_title_of_a_person_wins_and_keeps_the_number(flowers):
    run = create_run(flowers)
    change_notes(run, title="Tour")
    assert label(run) == "1 · Tour"
    change_notes(run, title="")
    assert label(run) == "1 · lr 0.001 · 10 epochs"


def test_no_number_is_given_twice(flowers):
    create_run(flowers)
    last = create_run(flowers)
    shutil.rmtree(last.path)
    assert create_run(flowers).request().number == 3
    (runs_home() / NUMBERS_NAME).write_text("{damaged")
    assert create_run(flowers).request().number == 4
    with ThreadPoolExecutor(8) as threads:
        runs = list(threads.map(lambda _: create_run(flowers), range(8)))
    assert sorted(run.request().number for run in runs) == list(range(5, 13))


def test_a_run_in_a_folder_of_its_own_has_no_number(flowers, tmp_path):
    run = create_run(flowers, path=tmp_path / "run")
    assert run.request().number == 0
    assert label(run) == "flowers · lr 0.001 · 10 epochs"
    loaded = create_run(flowers, path=tmp_path / "weights", label="w.h5")
    assert label(loaded) == "w.h5"


# RUN on the command line ---------------------------------------------------------------------


def test_a_run_is_found_by_number_title_name_and_their_starts(flowers):
    first, second = create_run(flowers), create_run(changed(flowers, epochs=3))
    assert open_run("1") == open_run(" 1 ") == first
    assert open_run("2") == open_run("2 · lr 0.001 · 3 epochs") == open_run("2 ·") == second
    change_notes(second, title="Tour de France")
    assert open_run("tour de france") == open_run("Tour") == open_run("flowers 2") == second
    assert open_run(first.name) == open_run(first.path) == first
    with pytest.raises(RunFolderError, match="Unknown run"):
        open_run("3")


def test_a_number_of_several_projects_names_them_all(flowers):
    create_run(flowers)
    other = create_run(replace(flowers, id=new_project_id(), title="digits"))
    with pytest.raises(RunFolderError, match="Several runs match") as caught:
        find_model("1")
    assert "flowers: 1 · lr" in caught.value.expected
    assert f"digits: 1 · lr 0.001 · 10 epochs ({other.name})" in caught.value.expected
    assert caught.value.fix == 'Name the project too, for example "digits 1".'
    assert open_run("digits 1") == other


# whose runs ----------------------------------------------------------------------------------


def test_the_runs_of_the_open_project_come_first(flowers):
    digits = replace(flowers, id=new_project_id(), title="digits")
    mine, also = create_run(flowers), create_run(flowers)
    create_run(digits)
    groups = group_runs(list_runs(), OpenProject.of(flowers))
    assert [(group.title, group.is_open, len(group.runs)) for group in groups] == [
        ("flowers", True, 2),
        ("digits", False, 1),
    ]
    assert {run.path for run in groups[0].runs} == {mine.path, also.path}
    assert [group.title for group in group_runs(list_runs(), None)] == ["digits", "flowers"]


def test_a_run_of_an_earlier_version_is_listed_and_opens(old_run):
    (run,) = list_runs()
    assert run.path == old_run
    assert run.label == "Stripes · lr 0.05 · 2 epochs"
    assert (run.number, run.project_id, run.project) == (0, "", "stripes")
    assert (run.outcome, run.test_accuracy, run.has_model) == ("completed", 1.0, True)
    assert open_run("stripes · lr").path == old_run
    project = open_run("Stripes").request().to_project()
    assert (len(project.graph.nodes), project.recipe.learning_rate) == (4, 0.05)


def test_a_run_of_an_earlier_version_is_of_the_project_of_its_file(old_run):
    (run,) = list_runs()
    project = open_run(old_run).request().to_project()
    at_its_file = OpenProject.of(replace(project, id="any"), run.project_path)
    assert at_its_file.owns(run)
    assert not OpenProject.of(replace(project, id="any"), "/home/ada/other.workbench").owns(run)


def test_a_run_of_an_earlier_unsaved_project_is_found_by_title_and_network(flowers):
    run = summarise(create_run(replace(flowers, id="")))
    assert OpenProject.of(flowers).owns(run)
    assert not OpenProject.of(replace(flowers, title="digits")).owns(run)
    lenet = find_template("lenet5").project
    assert not OpenProject.of(replace(flowers, graph=lenet.graph)).owns(run)
