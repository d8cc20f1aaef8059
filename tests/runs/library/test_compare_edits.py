"""Which data edits differ between two runs, and what that means for their test figures."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.runs.library.test_compare import PROJECT, differing, trained
from workbench.cli import main
from workbench.core.projects.data_edits import DataEdits
from workbench.runs.library.compare import compare_many, compare_runs
from workbench.runs.library.compare_images import ComparedTests, compare_edits, proven_by_edits

A, B, C = ("a" * 32, "b" * 32, "c" * 32)


def edited(**edits):
    return trained(replace(PROJECT, edits=DataEdits(**edits)), title=", ".join(edits) or "plain")


def test_edits_of_the_projects_are_named_and_counted():
    left = edited(labels={A: "cat"}, tags={C: "dark"})
    right = edited(labels={A: "dog"}, left_out=frozenset({B}), kept=frozenset({"copies"}))
    comparison = compare_runs(left, right)
    assert not comparison.is_equal
    assert comparison.edits.words == (
        "Data edits: 1 label differs, 1 image left out; test figures may be of different labels"
    )
    rows = {title: values for (key, title), values in differing(left, right).items()}
    assert set(rows) == {"Relabeled images", "Images left out"}
    assert rows["Images left out"] == ("0", "1")
    assert len(set(rows["Relabeled images"])) == 2, "as many, but others"
    assert all(words.startswith("1, checksum ") for words in rows["Relabeled images"])


def test_tags_and_kept_findings_are_no_difference_of_the_data():
    comparison = compare_runs(
        edited(tags={A: "dark"}, labels={B: "cat"}), edited(labels={B: "cat"})
    )
    assert comparison.is_equal
    assert comparison.edits.words == ""


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        ({"once": frozenset({A, B})}, "2 images with one copy used"),
        ({"parts": {A: "test"}}, "1 image in another part"),
        ({"classes": {"cat": "", "dog": "hound"}}, "2 classes differ"),
        ({"labels": {A: "x", B: "y"}}, "2 labels differ"),
    ],
)
def test_each_kind_of_edit_has_its_words(edits, words):
    found = compare_edits(DataEdits(), DataEdits(**edits))
    assert found.words == f"Data edits: {words}"
    assert [row.difference for row in found.rows] == [words]


def test_the_label_of_a_copy_that_was_chosen_is_no_second_edit():
    chosen = DataEdits(labels={A: "cat", B: "dog"}, once=frozenset({A}))
    found = compare_edits(DataEdits(), chosen)
    assert found.words == "Data edits: 1 label differs, 1 image with one copy used"
    assert [(row.left, row.right) for row in found.rows] == [("0", "1"), ("0", "1")]
    other = replace(chosen, labels={A: "bird", B: "dog"})
    assert compare_edits(chosen, other).words == "Data edits: 1 label differs"


def test_what_the_images_of_one_test_prove():
    plain, tested = DataEdits(), {A}.__contains__
    assert proven_by_edits(plain, DataEdits(labels={A: "x"}), tested) == ComparedTests(True, None)
    assert proven_by_edits(plain, DataEdits(labels={B: "x"}), tested) == ComparedTests()
    gone = DataEdits(labels={A: "x"}, left_out=frozenset({A}))
    assert proven_by_edits(plain, gone, tested) == ComparedTests(None, True)
    assert proven_by_edits(plain, DataEdits(parts={A: "train"}), tested) == ComparedTests(
        None, True
    )
    found = compare_edits(plain, gone, ComparedTests(None, True))
    assert found.words.endswith("; test figures are of different images")


def test_the_command_names_the_edits_in_text_and_json(capsys):
    runs = [str(run.path) for run in (edited(), edited(labels={A: "cat"}))]
    assert main(["compare", *runs]) == 0
    words = "Data edits: 1 label differs; test figures may be of different labels"
    assert f"{words}." in " ".join(capsys.readouterr().out.split())
    assert main(["compare", *runs, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["data_edits"] == {
        "words": words, "labels": 1, "left_out": 0, "once": 0, "parts": 0, "classes": 0,
        "test_labels_differ": None, "test_images_differ": None,
    }  # fmt: skip


def test_of_several_runs_each_is_compared_with_the_first():
    runs = [edited(), edited(labels={A: "cat"}), edited(), edited(labels={A: "cat", B: "dog"})]
    data = next(each for each in compare_many(runs)[1] if each.key == "data")
    assert [row.values for row in data.rows] == [("0", "1", "0", "2")]
    assert len(data.notes) == 2
    assert "Data edits: 1 label differs" in data.notes[0]
    assert "Data edits: 2 labels differ" in data.notes[1]
