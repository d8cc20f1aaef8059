"""Project files: round trips, refusals in words, unknown things kept."""

from __future__ import annotations

import errno
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from tests.project_strategies import projects
from tests.proofs.project_fuzz import is_promise_kept, mutated_texts
from workbench.core.network.graph import Edge
from workbench.core.projects.project import (
    Choice,
    Project,
    RobustnessTest,
    new_project_id,
    with_test,
)
from workbench.core.projects.project_file import (
    graph_from_plain,
    graph_to_plain,
    parse_project,
    project_text,
    read_project,
    save_project,
)
from workbench.errors import ProjectFileError, SaveError

ROOT = Path(__file__).parents[3]
PROJECTS = ROOT / "tests" / "data" / "projects"


def a_plain(**changes):
    plain = {
        "format": "workbench-project",
        "version": 1,
        "graph": {
            "nodes": [
                {"id": "n1", "kind": "input", "name": "input", "params": {"shape": [8, 8, 1]}},
                {"id": "n2", "kind": "dense", "name": "dense", "params": {}},
            ],
            "edges": [{"source": "n1", "target": "n2", "port": 0}],
        },
    }
    return {**plain, **changes}


def parse(plain):
    return parse_project(json.dumps(plain), "p.workbench")


def refusal(plain):
    with pytest.raises(ProjectFileError) as caught:
        parse(plain)
    return caught.value


@given(projects())
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=50)
def test_a_project_survives_its_file(project):
    text = project_text(project)
    back = parse_project(text, "p.workbench")
    assert back == project
    assert project_text(back) == text


@given(projects())
@settings(suppress_health_check=[HealthCheck.too_slow], max_examples=30)
def test_a_graph_survives_its_plain_form(project):
    plain = json.loads(json.dumps(graph_to_plain(project.graph)))
    assert graph_from_plain(plain, "here") == project.graph


def test_the_text_has_one_node_a_line():
    project = parse(a_plain())
    lines = project_text(project).splitlines()
    assert sum('"kind"' in line for line in lines) == 2


def test_unknown_kinds_and_fields_are_written_back():
    plain = a_plain(future={"a": [1]}, recipe={"epochs": 3, "momentum_2": 0.5})
    plain["graph"]["nodes"][1].update(kind="quantum", halo=[1, {"b": None}])
    plain["graph"]["edges"][0]["weight"] = 2
    plain["graph"]["groups"] = ["a"]
    plain["dataset"] = {"key": "kmnist_3d", "params": {"depth": [1, 2]}, "licence": "?"}
    plain["view"] = {"positions": {"n1": [1, 2.5]}, "theme": "sepia"}
    back = json.loads(project_text(parse(plain)))
    assert back["future"] == {"a": [1]}
    assert back["recipe"]["momentum_2"] == 0.5
    assert back["graph"]["nodes"][1] == {**plain["graph"]["nodes"][1]}
    assert back["graph"]["edges"][0]["weight"] == 2
    assert back["graph"]["groups"] == ["a"]
    assert back["dataset"] == plain["dataset"]
    assert back["view"]["theme"] == "sepia"


def test_fields_of_a_removed_edge_go_with_it():
    plain = a_plain()
    plain["graph"]["edges"][0]["weight"] = 2
    project = parse(plain)
    cut = replace(project, graph=project.graph.without_edge(Edge("n1", "n2")))
    assert json.loads(project_text(cut))["graph"]["edges"] == []


def test_wrong_parameter_values_open_as_problems_not_refusals():
    plain = a_plain()
    plain["graph"]["nodes"][1]["params"] = {"units": "many", "no_such": [[1], None]}
    assert parse(plain).graph.nodes["n2"].params["units"] == "many"


def test_version_0_opens_as_the_golden_version_2():
    migrated = read_project(PROJECTS / "version_0.workbench")
    golden = (PROJECTS / "version_0_as_2.workbench").read_text(encoding="utf-8")
    assert project_text(replace(migrated, id="")) == golden
    assert migrated.graph.nodes["n2"].extra == {"colour": "red"}
    assert migrated.extra == {"note": "kept"}


def test_a_newer_version_is_refused_and_untouched(tmp_path):
    path = tmp_path / "p.workbench"
    path.write_text(json.dumps(a_plain(version=3, graph={"shape": "new"})))
    before = path.read_bytes()
    with pytest.raises(ProjectFileError, match="newer version of Workbench") as caught:
        read_project(path)
    assert str(path) in caught.value.where
    assert caught.value.received == "3"
    assert path.read_bytes() == before


def test_a_project_keeps_its_identity_in_its_file(tmp_path):
    project = Project(id=new_project_id())
    save_project(project, tmp_path / "a.workbench")
    (tmp_path / "a.workbench").rename(tmp_path / "b.workbench")
    assert read_project(tmp_path / "b.workbench").id == project.id
    assert new_project_id() != project.id


def test_a_file_without_an_identity_always_gets_the_same(tmp_path):
    for name in ("old", "another"):
        (tmp_path / f"{name}.workbench").write_text(json.dumps(a_plain(version=1)))
    first = read_project(tmp_path / "old.workbench").id
    assert first == read_project(tmp_path / "old.workbench").id
    assert first != read_project(tmp_path / "another.workbench").id
    assert refusal(a_plain(id=["x"])).where == "p.workbench, id"


@pytest.mark.parametrize(
    ("text", "place", "received"),
    [
        ("{", "line 1", "end of the file"),
        ('{"format": NaN}', "the file", "NaN"),
        ('{"format": 1e999}', "the file", "1e999"),
        ('{"a": {"b": 1, "b": 2}}', "a", '"b" twice'),
        ('{"a": ' + "[" * 100 + "]" * 100 + "}", "a[0][0]", "deeper nesting"),
        ("[" * 100_000, "the file", "deeper nesting"),
        ('{"a": ["\\ud800"]}', "a[0]", "surrogate"),
        ('{"a": ' + "9" * 5000 + "}", "the file", "4300"),
        ("[]", "format", "a list of 0"),
        ('{"format": "other"}', "format", "other"),
        ('{"format": "workbench-project", "version": true}', "version", "true"),
    ],
)
def test_texts_that_are_no_project(text, place, received):
    with pytest.raises(ProjectFileError) as caught:
        parse_project(text, "p.workbench")
    assert place in caught.value.where
    assert received in caught.value.received
    assert caught.value.expected
    assert caught.value.fix


def test_one_wrong_place_is_named():
    plain = a_plain()
    plain["graph"]["nodes"][1]["id"] = 7
    plain["graph"]["edges"] = []
    error = refusal(plain)
    assert error.where == "p.workbench, graph.nodes[1].id"
    assert error.received == "7"
    assert "text" in error.expected


def test_several_wrong_places_are_reported_together():
    plain = a_plain(recipe={"batch_size": "many", "epochs": 0}, view={"zoom": "big"}, title=5)
    words = str(refusal(plain))
    for place in ("recipe.batch_size", "recipe.epochs", "view.zoom", "title"):
        assert place in words
    assert "4 invalid values" in words


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ([{"source": "n1", "target": "nx"}], "graph.edges[0].target"),
        ([{"source": "n1", "target": "n2"}] * 2, "graph.edges[1].port"),
        ([{"source": "n1", "target": "n2", "port": -1}], "graph.edges[0].port"),
        (
            [{"source": "n2", "target": "n1"}, {"source": "n1", "target": "n2"}],
            "a cycle: input, dense",
        ),
        ([5], "graph.edges[0]"),
    ],
)
def test_edges_that_cannot_be(edges, words):
    plain = a_plain()
    plain["graph"]["edges"] = edges
    assert words in str(refusal(plain))


def test_doubled_ids_are_refused():
    plain = a_plain()
    plain["graph"]["nodes"][1]["id"] = "n1"
    plain["graph"]["edges"] = []
    assert "graph.nodes[1].id" in str(refusal(plain))


def test_files_that_are_no_text_or_no_file(tmp_path):
    binary, pipe = tmp_path / "b.workbench", tmp_path / "pipe"
    binary.write_bytes(b'{"format": "\xff\xfe"}')
    os.mkfifo(pipe)
    for path in (binary, pipe, tmp_path, tmp_path / "missing", Path("nul\0l")):
        with pytest.raises(ProjectFileError) as caught:
            read_project(path)
        assert caught.value.where


def test_a_byte_order_mark_is_no_fault(tmp_path):
    path = tmp_path / "p.workbench"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(a_plain()).encode())
    assert read_project(path).graph.nodes


def test_a_huge_file_is_refused_early(tmp_path):
    path = tmp_path / "p.workbench"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(ProjectFileError, match="damaged"):
        read_project(path)


def test_data_set_paths_are_relative_to_the_project(tmp_path):
    inside, outside = tmp_path / "pictures", tmp_path.parent / "elsewhere"
    path = tmp_path / "p.workbench"
    for folder, stored in ((inside, "pictures"), (outside, str(outside)), ("", "")):
        save_project(Project(dataset=Choice("folder", {"path": str(folder)})), path)
        assert json.loads(path.read_text())["dataset"]["params"]["path"] == stored
        assert read_project(path).dataset.params["path"] == str(folder)


def test_a_moved_project_finds_its_pictures(tmp_path):
    save_project(
        Project(dataset=Choice("npz", {"path": str(tmp_path / "a" / "d.npz")})),
        tmp_path / "a.workbench",
    )
    moved = tmp_path / "moved"
    moved.mkdir()
    (tmp_path / "a.workbench").rename(moved / "a.workbench")
    assert read_project(moved / "a.workbench").dataset.params["path"] == str(moved / "a" / "d.npz")


def test_values_that_no_file_can_hold_are_reported(tmp_path):
    path = tmp_path / "p.workbench"
    save_project(Project(title="good"), path)
    for value in (float("nan"), object()):
        with pytest.raises(SaveError):
            save_project(Project(dataset=Choice("folder", {"x": value})), path)
    assert read_project(path).title == "good"


def test_half_characters_do_not_stop_saving(tmp_path):
    path = tmp_path / "p.workbench"
    save_project(Project(title="half \ud800"), path)
    assert read_project(path).title == "half ?"


def test_mutated_files_are_projects_or_reported_errors():
    outcomes = [is_promise_kept(text) for text in mutated_texts(400, seed=11)]
    assert False not in outcomes
    assert outcomes.count(True) > 100
    assert outcomes.count(None) > 40


def test_two_thousand_mutated_files_are_projects_or_reported_errors():
    """In a process of their own, where coverage does not count each line of the walk."""
    words = ("-m", "tests.proofs.project_fuzz", "--cases", "2000", "--seed", "11")
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    opened, refused, broken = (
        int(re.search(rf"([\d,]+) {word}", done.stdout)[1].replace(",", ""))
        for word in ("opened", "refused in words", "broken")
    )
    assert broken == 0
    assert refused > 500
    assert opened > 200
    assert opened + refused == 2000


@pytest.mark.parametrize(
    ("name", "words"), [("gone.workbench", "no such file"), ("folder.workbench", "a folder")]
)
def test_what_cannot_be_read_is_explained(tmp_path, name, words):
    (tmp_path / "folder.workbench").mkdir()
    with pytest.raises(ProjectFileError) as caught:
        read_project(tmp_path / name)
    assert words in caught.value.what
    assert caught.value.where == str(tmp_path / name)
    assert caught.value.fix


@pytest.mark.parametrize(
    "changes",
    [
        {"layers": [7, "x"], "connections": []},
        {"layers": [], "connections": [["a"], 3]},
        {"layers": {"id": 1}, "connections": []},
    ],
)
def test_a_damaged_file_of_the_first_format_is_refused_in_words(changes):
    plain = {"format": "workbench-project", "version": 0, **changes}
    assert refusal(plain).what


def test_a_file_of_another_account_names_its_owner_as_the_way(tmp_path, monkeypatch):
    path = tmp_path / "p.workbench"
    path.write_text("{}")

    def denied(*_args, **_words):  # root may read every file
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "open", denied)
    monkeypatch.setattr(Path, "open", denied)
    with pytest.raises(ProjectFileError) as caught:
        read_project(path)
    assert "permission denied" in caught.value.what
    assert "owner" in caught.value.fix


@pytest.mark.parametrize(
    ("field", "value", "place"),
    [
        ("left_out", ["0" * 31], "edits.left_out"),
        ("left_out", {"0" * 32: 1}, "edits.left_out"),
        ("labels", {"x": "roses"}, "edits.labels"),
        ("labels", {"0" * 32: ""}, "edits.labels"),
        ("parts", {"0" * 32: "holiday"}, "edits.parts"),
        ("tags", {"0" * 32: ""}, "edits.tags"),
        ("classes", {"roses": 3}, "edits.classes"),
        ("kept", [""], "edits.kept"),
    ],
)
def test_invalid_edits_of_the_data_are_refused_by_their_place(field, value, place):
    assert place in refusal(a_plain(edits={field: value})).where


STRONG = {"name": "Strong", "strengths": {"rotation": 30}}


def test_robustness_tests_are_written_and_read():
    project = parse(a_plain(robustness=[STRONG, {"name": "Fog", "strengths": {"fog": 0.5}}]))
    assert [test.name for test in project.robustness] == ["Strong", "Fog"]
    assert project.robustness[1].strengths == {"fog": 0.5}
    assert parse(json.loads(project_text(project))) == project


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"Strong": {"rotation": 30}}, "robustness"),
        ([STRONG, STRONG], "robustness[1].name"),
        ([STRONG["strengths"]], "robustness[0]"),
        ([STRONG, "Strong"], "robustness[1]"),
        ([{**STRONG, "name": " "}], "robustness[0]"),
        ([{**STRONG, "strengths": {"rotation": "30"}}], "robustness[0]"),
        ([{**STRONG, "strengths": {"rotation": True}}], "robustness[0]"),
        ([STRONG, {**STRONG, "strengths": [30]}], "robustness[1]"),
        ([{"name": f"Test {n}", "strengths": {"blur": 1}} for n in range(21)], "robustness"),
    ],
)
def test_an_invalid_robustness_test_is_refused_by_its_place(value, place):
    assert refusal(a_plain(robustness=value)).where.endswith(f" {place}")


def test_a_robustness_test_without_alterations_is_left_out():
    project = parse(a_plain(robustness=[{"name": "None", "strengths": {}}, STRONG]))
    assert [test.name for test in project.robustness] == ["Strong"]


def test_a_robustness_test_replaces_one_of_its_name():
    old, other, new = (
        RobustnessTest(name, {"blur": strength})
        for name, strength in (("Soft", 1), ("Other", 1), ("Soft", 2))
    )
    assert with_test((old, other), new) == (other, new)


def test_a_node_learns_always_fine_tuning_or_never():
    plain = a_plain()
    plain["graph"]["nodes"][1]["training"] = "sometimes"
    assert "graph.nodes[1].training" in refusal(plain).where


def test_a_folded_group_without_layers_is_forgotten():
    plain = a_plain(view={"folded": ["gone", "block"]})
    plain["graph"]["nodes"][1]["group"] = "block"
    assert parse(plain).view.folded == {"block"}


def test_edits_and_folded_groups_of_another_form_are_refused():
    assert refusal(a_plain(edits=["left_out"])).where.endswith("edits")
    assert "view.folded" in refusal(a_plain(view={"folded": "block"})).where


@pytest.mark.parametrize(
    ("name", "head", "what", "fix"),
    [
        ("func.keras", b"PK\x03\x04\xdd", "is a Keras model, not a project", "workbench load"),
        ("old.h5", b"\x89HDF\r\n\x1a\n", "is an HDF5 file", "workbench load"),
        ("a.workbundle", b"PK\x03\x04", "is a bundle", "workbench unbundle"),
        ("a.zip", b"PK\x03\x04", "is a ZIP archive", "Unpack it"),
    ],
)
def test_a_model_or_an_archive_is_named_as_what_it_is(tmp_path, name, head, what, fix):
    (tmp_path / name).write_bytes(head + b"\0" * 50)
    with pytest.raises(ProjectFileError, match=what) as found:
        read_project(tmp_path / name)
    assert fix in found.value.fix
