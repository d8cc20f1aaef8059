"""Two runs side by side: each thing that differs is named, and nothing else."""

from __future__ import annotations

import json
from dataclasses import replace

import msgspec
import pytest

from tests.written_runs import WrittenRun
from workbench.cli import main
from workbench.core.network.graph import Edge, Node
from workbench.core.projects.project import Choice, View
from workbench.errors import RunFolderError
from workbench.protocol.events import (
    Batch,
    BestEpoch,
    DataReady,
    EpochFinished,
    LogLine,
    PhaseChanged,
    Plan,
    RunFinished,
    RunStarted,
    TestResult,
)
from workbench.runs.folder import Extension, create_run
from workbench.runs.library import compare
from workbench.runs.library.compare import compare_many, compare_runs
from workbench.runs.log.event_log import EventWriter
from workbench.runs.naming import graph_rows
from workbench.runs.store.checkpoint import DataMark, Machine, write_origin
from workbench.runs.store.notes import RunNotes, write_notes
from workbench.templates import find_template

PROJECT = find_template("cifar10_convnet").project
MACHINE = Machine(versions={}, cores=2, cpu="Chip A", flags=["amx", "avx2"])
MARK = DataMark(num_train=10, num_validation=0, num_test=5, digest="a" * 64)


def trained(project=PROJECT, *, title="run", versions=None, accuracy=0.5, plan=None, names=None):
    run = create_run(project, title=title)
    with EventWriter(run.events_path) as writer:
        writer.write(
            RunStarted(
                run=run.name, target="this_computer", precision="float32", seed=7, epochs=2,
                versions=versions or {"keras": "3.15.1"}, batch_size=64, pid=1,
                plan=plan or Plan(precision="float32"),
            )
        )  # fmt: skip
        writer.write(
            DataReady(
                class_names=names or ["cat", "dog"], num_train=10, num_validation=0, num_test=5,
                steps_per_epoch=3,
            )
        )  # fmt: skip
        writer.write(
            EpochFinished(
                epoch=1, step=3, loss=1.0, accuracy=0.4, val_loss=0.9, val_accuracy=accuracy,
                seconds=2.0, images_per_second=1000.0 * accuracy,
            )
        )  # fmt: skip
        writer.write(
            RunFinished(
                outcome="completed", run=run.name, seconds=100 * accuracy, epochs_done=1,
                test=TestResult(loss=0.5, accuracy=accuracy, count=5),
                best=BestEpoch(epoch=1, val_accuracy=accuracy, val_loss=0.9),
            )
        )  # fmt: skip
    return run


def differing(left, right):
    """{(section, row title): (left, right)} without the results."""
    comparison = compare_runs(left, right)
    return {
        (section.key, row.title): (row.left, row.right)
        for section in comparison.sections
        if section.key != "results"
        for row in section.rows
    }


def test_equal_runs_differ_in_nothing():
    a, b = trained(), trained()
    comparison = compare_runs(a, b)
    assert comparison.is_equal
    assert differing(a, b) == {}
    assert [section.key for section in comparison.sections] == [
        "results", "graph", "recipe", "data", "seed", "plan", "machine", "versions",
    ]  # fmt: skip


def test_where_layers_stand_does_not_matter():
    moved = replace(PROJECT, view=View(zoom=3.0))
    assert differing(trained(), trained(moved)) == {}


def test_the_network_in_words():
    graph = PROJECT.graph
    conv = next(node for node in graph.nodes.values() if node.kind == "conv2d")
    last = list(graph.nodes)[-1]
    changed = graph.with_params(conv.id, **{**conv.params, "filters": 7})
    changed = changed.with_node(Node("extra", "dropout", "more_dropout", {"rate": 0.25}))
    changed = changed.with_edge(Edge(last, "extra"))
    found = differing(trained(), trained(replace(PROJECT, graph=changed)))
    assert found == {
        ("graph", "Dropout “more_dropout”"): ("absent", "present"),
        ("graph", f"Conv2D “{conv.name}”: Filters"): (str(conv.params["filters"]), "7"),
    }


def test_when_layers_learn_and_what_they_start_with_is_compared():
    graph = find_template("flowers_transfer").project.graph
    node = next(node for node in graph.nodes.values() if node.pretrained)
    other = graph.with_node(replace(node, training="fine_tuning", pretrained=""))
    rows = [
        (row.title.rpartition(": ")[2], row.left, row.right) for row in graph_rows(graph, other)
    ]
    assert rows == [
        ("training", "never (frozen)", "fine-tuning only"),
        ("initial weights", node.pretrained, "random"),
    ]


def test_layers_of_two_networks_are_paired_by_name_not_by_order():
    flowers, lenet = (find_template(key).project.graph for key in ("flowers_gap", "lenet5"))
    rows = list(graph_rows(lenet, flowers))
    assert not [row for row in rows if row.title.endswith(": type")]
    names = {node.name: node.kind for node in lenet.nodes.values()}
    both = [node.name for node in flowers.nodes.values() if names.get(node.name) == node.kind]
    assert both
    gone = [row.title for row in rows if (row.left, row.right) == ("present", "absent")]
    assert not [title for title in gone if any(f"“{name}”" in title for name in both)]


def test_a_layer_keeps_its_identity_when_it_is_renamed_or_changed():
    graph = PROJECT.graph
    conv = next(node for node in graph.nodes.values() if node.kind == "conv2d")
    renamed = graph.with_node(replace(conv, name="first"))
    assert [row.title for row in graph_rows(graph, renamed)] == ["Conv2D “first”: name"]


def test_several_runs_stand_side_by_side():
    runs = [trained(accuracy=accuracy) for accuracy in (0.5, 0.7)]
    runs.append(trained(replace(PROJECT, recipe=PROJECT.recipe.with_values(epochs=7))))
    summaries, sections = compare_many(runs)
    assert [summary.path for summary in summaries] == [run.path for run in runs]
    assert sections[0].key == "results"
    recipe = next(section for section in sections if section.key == "recipe")
    epochs = str(PROJECT.recipe.epochs)
    assert [(row.title, row.values) for row in recipe.rows] == [("Epochs", (epochs, epochs, "7"))]
    accuracy = next(row for row in sections[0].rows if row.title == "Test accuracy")
    assert accuracy.values[:2] == ("50.0%", "70.0%")
    assert not accuracy.is_equal


def test_recipe_and_seed_in_words():
    recipe = PROJECT.recipe.with_values(learning_rate=0.05, optimizer="sgd", seed=99)
    found = differing(trained(), trained(replace(PROJECT, recipe=recipe)))
    assert found[("recipe", "Optimizer")][1] == "SGD"
    assert found[("recipe", "Learning rate")][1].startswith("0.05")
    assert found[("seed", "Seed")] == (str(PROJECT.recipe.seed), "99")
    assert len(found) == 3


def test_data_source_classes_and_fingerprint():
    a, b = trained(), trained(replace(PROJECT, dataset=Choice("mnist")), names=["cat", "cow"])
    write_origin(a, MACHINE, MARK)
    write_origin(b, MACHINE, msgspec.structs.replace(MARK, digest="b" * 64))
    assert differing(a, b) == {
        ("data", "Source"): ("CIFAR-10", "MNIST"),
        ("data", "Class 2"): ("dog", "cow"),
        ("data", "Checksum of the images"): ("a" * 12, "b" * 12),
    }


def test_names_of_ten_thousand_classes_are_logged_before_and_compared():
    names = [f"a kind of bird that has a rather long name {number}" for number in range(10_000)]
    a, b = trained(names=names), trained(names=[*names[:-1], "a fish"])
    assert differing(a, b) == {("data", "Class 10000"): (names[-1], "a fish")}


def test_a_path_of_the_same_source():
    a, b = (
        trained(replace(PROJECT, dataset=Choice("folder", {"path": path}))) for path in ("/a", "/b")
    )
    ((key, values),) = differing(a, b).items()
    assert key[0] == "data"
    assert values == ("/a", "/b")


def test_plan_machine_and_versions():
    plan = Plan(precision="float32", xla=True, steps_per_call=8, threads=2)
    a, b = trained(), trained(plan=plan, versions={"keras": "3.16.0", "numpy": "2.4"})
    write_origin(a, MACHINE, MARK)
    other = msgspec.structs.replace(MACHINE, cpu="Chip B", cores=8, flags=["avx2", "vnni"],
                                    settings={"OMP_NUM_THREADS": "2"})  # fmt: skip
    write_origin(b, other, MARK)
    assert differing(a, b) == {
        ("plan", "XLA compilation"): ("no", "yes"),
        ("plan", "Steps per execution"): ("–", "8"),
        ("plan", "CPU threads"): ("all cores", "2"),
        ("machine", "CPU"): ("Chip A", "Chip B"),
        ("machine", "Cores"): ("2", "8"),
        ("machine", "CPU instructions only there"): ("amx", "vnni"),
        ("machine", "OMP_NUM_THREADS"): ("–", "2"),
        ("versions", "keras"): ("3.15.1", "3.16.0"),
        ("versions", "numpy"): ("–", "2.4"),
    }


def test_results_by_how_much():
    results = compare_runs(trained(accuracy=0.5), trained(accuracy=0.6)).sections[0]
    rows = {row.title: (row.left, row.right, row.difference) for row in results.rows}
    assert rows["Test accuracy"] == ("50.0%", "60.0%", "+10.00 points")
    assert rows["Training time"] == ("50 s", "1 min 00 s", "1.2×")
    assert "Val. accuracy of the saved weights" in rows
    assert rows["Calibration and test"] == ("–", "–", "")
    assert rows["Images per second"] == ("500", "600", "1.2×")
    assert rows["Outcome"] == ("completed", "completed", "")
    assert rows["Epochs"] == ("1", "1", "")


def test_time_behind_the_last_step_is_no_training_time_and_the_speed_is_that_of_the_header():
    runs = []
    for after_s in (10.0, 200.0):
        run, begun = create_run(PROJECT), 1000.0
        passed = (0.0, 20.0, 80.0, 80.0, 81.0, 80.0 + after_s)
        times = iter([begun + seconds for seconds in passed])
        with EventWriter(run.events_path, clock=lambda times=times: next(times)) as writer:
            writer.write(PhaseChanged(phase="starting", text="Starting"))
            writer.write(
                RunStarted(
                    run=run.name, target="this_computer", precision="float32", seed=7, epochs=2,
                    versions={}, batch_size=64, pid=1, plan=Plan(precision="float32"),
                )
            )  # fmt: skip
            writer.write(  # it is stopped within its first epoch
                Batch(
                    epoch=1, step=2, first_step=1, loss=1.0, accuracy=0.5, losses=[1.0] * 2,
                    accuracies=[0.5] * 2, images_per_second=640.0,
                )
            )  # fmt: skip
            writer.write(PhaseChanged(phase="calibrating", text="Calibrating"))
            writer.write(PhaseChanged(phase="testing", text="Evaluating"))
            writer.write(
                RunFinished(outcome="stopped", run=run.name, seconds=80.0 + after_s, epochs_done=0)
            )
        runs.append(run)
    rows = {row.title: (row.left, row.right) for row in compare_runs(*runs).sections[0].rows}
    assert rows["Training time"] == ("1 min 20 s", "1 min 20 s")
    assert rows["Calibration and test"] == ("10 s", "3 min 20 s")
    assert rows["Images per second"] == ("640", "640")


def test_runs_that_have_not_begun_can_be_compared(written):
    fresh = create_run(PROJECT, title="fresh")
    running = WrittenRun("running").begin()
    try:
        comparison = compare_runs(fresh, running.folder)
        assert not comparison.is_equal
        notes = {section.key: section.note for section in comparison.sections}
        assert notes["machine"] == "not logged by these runs"
        assert notes["versions"] == "not logged by one run"
        assert notes["graph"] == ""
    finally:
        running.end()


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(RunFolderError):
        compare_runs(trained(), type(trained())(tmp_path))


def test_the_command_prints_a_table_and_json(capsys):
    a, b = trained(title="one [red]x"), trained(title="two", accuracy=0.6)
    write_notes(b, RunNotes(title="zwei\N{ESCAPE}[31m"))
    assert main(["compare", str(a.path), str(b.path)]) == 0
    out = capsys.readouterr().out
    assert "one [red]x" in out
    assert "+10.00 points" in out
    assert "\N{ESCAPE}" not in out
    assert main(["compare", str(a.path), str(b.path), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert set(answer) == {"runs", "is_equal", "data_edits", "accuracy", "sections"}
    assert "better by 10.0 points" in answer["accuracy"]["words"]
    assert answer["sections"]["graph"] == {
        "title": "Model", "is_equal": True, "note": "", "rows": [],
    }  # fmt: skip
    row = answer["sections"]["results"]["rows"][1]
    assert row == {
        "title": "Test accuracy", "left": "50.0%", "right": "60.0%",
        "difference": "+10.00 points",
    }  # fmt: skip


def test_as_good_as_once_is_no_difference_worth_a_word():
    assert compare._ratio(100.0, 100.3) == ""
    assert compare._ratio(100.0, 101.0) == "1.01×"
    assert compare._ratio(0.0, 2.0) == "+2"


def test_a_run_that_was_trained_longer_differs_in_its_execution():
    recipe = PROJECT.recipe
    left, right = trained(), trained(replace(PROJECT, recipe=recipe.with_values(epochs=1)))
    right.extend(Extension(after=1, before=1, epochs=recipe.epochs))
    with EventWriter(right.events_path) as writer:
        writer.write(LogLine(text="It goes on."))
    found = differing(left, right)
    assert ("recipe", "Epochs") not in found
    assert found[("plan", "Trained longer")] == ("–", "after epoch 1 of 1")
