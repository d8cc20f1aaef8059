"""Named versions of the data edits: in a project file, compared, and gone back to."""

from __future__ import annotations

import pytest

from workbench.core.projects.data_edits import (
    MAX_VERSIONS,
    DataEdits,
    difference_words,
    edits_of_version,
    is_name,
    read_versions,
    version_named,
    version_of,
    versions_to_plain,
    with_version,
)
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import parse_project, project_text
from workbench.core.specs.dataset import SplitMarks, read_marks

ONE, TWO = "1" * 32, "2" * 32
EDITS = DataEdits(left_out=frozenset({ONE}), labels={TWO: "dog"}, kept=frozenset({"tiny:1"}))
MARKS = read_marks({"seed": 1, "shares": [0.1, 0.2]}, lambda *_: None, "split")


def test_a_version_comes_back_from_the_file_and_the_split_stays_where_it_is():
    versions = with_version((), "before", EDITS)
    project = Project(edits=DataEdits(labels={ONE: "cat"}), data_versions=versions)
    read = parse_project(project_text(project), "x")
    assert read.data_versions == versions
    (version,) = read.data_versions
    assert version.edits.split == SplitMarks()
    now = DataEdits(split=MARKS)
    assert edits_of_version(version, now).split == now.split
    assert edits_of_version(version, now).left_out == EDITS.left_out


def test_a_name_is_used_once_and_the_newest_is_last():
    versions = with_version(with_version((), "a", EDITS), "b", DataEdits())
    versions = with_version(versions, "a", DataEdits())
    assert [each.name for each in versions] == ["b", "a"]
    assert version_named(versions, "a").edits == DataEdits()
    assert version_named(versions, "c") is None


def test_the_version_of_a_run_is_known_by_its_edits_whatever_was_kept():
    versions = with_version(with_version((), "clean", EDITS), "other", DataEdits())
    kept = DataEdits(left_out=EDITS.left_out, labels=EDITS.labels, split=MARKS)
    assert version_of(versions, kept) == "clean"
    assert version_of(versions, DataEdits()) == "other"
    assert version_of(versions, DataEdits(labels={ONE: "x"})) == ""


def test_what_differs_is_counted_in_words():
    assert difference_words(EDITS, EDITS) == ""
    after = DataEdits(
        left_out=frozenset({TWO}), labels={TWO: "cat", ONE: "cat"}, once=frozenset({ONE}),
        parts={ONE: "test"}, classes={"a": "b"}, tags={ONE: "t"},
    )  # fmt: skip
    assert difference_words(EDITS, after) == (
        "2 labels, 2 images left out, 1 group of copies, 1 kept finding, 1 image moved, 1 class "
        "and 1 tag"
    )


@pytest.mark.parametrize(
    ("plain", "place"),
    [
        ({}, "data_versions"),
        ([{}] * (MAX_VERSIONS + 1), "data_versions"),
        ([5], "data_versions[0]"),
        ([{"name": "", "date": "d", "edits": {}}], "data_versions[0]"),
        ([{"name": "a", "date": "", "edits": {}}], "data_versions[0]"),
        ([{"name": "a", "date": "d", "edits": []}], "data_versions[0]"),
        ([{"name": "a", "date": "d", "edits": {}}] * 2, "data_versions[1].name"),
        ([{"name": "a", "date": "d", "edits": {"labels": 5}}], "data_versions[0].edits.labels"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_by_its_place(plain, place):
    found = []
    read_versions(plain, lambda *parts: found.append(parts[0]))
    assert found == [place]


def test_names_are_printable():
    assert is_name("before relabeling")
    assert not is_name("\n")
    assert not is_name("a" * 101)
    assert versions_to_plain(()) == []
