"""`workbench fix`: what is wrong in a project file is fixed without the window."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from PIL import Image

from workbench.cli import main
from workbench.core.projects.project_file import read_project, save_project
from workbench.core.storage.save import save_bytes
from workbench.document.project_document import ProjectDocument
from workbench.layers import all_layers


@pytest.fixture
def project(tmp_path, capsys):
    """A network without its first Dense layer's Flatten, and with 7 classes at its end."""
    path = tmp_path / "fashion.workbench"
    assert main(["new", "fashion_convnet", str(path)]) == 0
    nodes = read_project(path).graph.nodes.values()
    *_, last = (node.name for node in nodes if node.kind == "dense")
    assert main(["set", str(path), f"{last}.units=7"]) == 0
    capsys.readouterr()
    return path


def json_of(capsys):
    return json.loads(capsys.readouterr().out)


def test_fixes_are_listed_with_their_numbers_and_one_is_applied(project, capsys):
    before = project.read_bytes()
    assert main(["fix", str(project)]) == 1
    text = capsys.readouterr().err
    assert "error: Output size does not match the number of classes" in text
    assert "    1. Set units to 10" in text
    assert project.read_bytes() == before
    assert main(["fix", str(project), "1"]) == 0
    text = capsys.readouterr().err
    assert "Applied 1 fix" in text
    assert "no problems left" in text
    assert main(["check", str(project), "--json"]) == 0
    found = json_of(capsys)
    assert (found["ok"], found["problems"]) == (True, [])


def test_all_fixes_until_none_is_left_and_the_window_opens_the_result(project, capsys, qapp):
    whole = read_project(project)
    flat = next(key for key, node in whole.graph.nodes.items() if node.kind == "flatten")
    start = next(key for key, node in whole.graph.nodes.items() if node.kind == "input")
    save_project_without(whole, [flat, start], project)
    assert main(["fix", str(project), "--all", "--json"]) == 0
    found = json_of(capsys)
    assert found["ok"]
    assert found["problems"] == []
    assert "Add Input" in [fix["title"] for fix in found["applied"]]
    fixed = read_project(project)
    assert set(fixed.view.positions) <= set(fixed.graph.nodes)
    document = ProjectDocument(all_layers())
    document.open(project)
    assert set(document.positions) == set(fixed.graph.nodes)
    assert document.analysis.is_trainable
    document.close()


def save_project_without(project, gone, path):
    save_project(replace(project, graph=project.graph.without_nodes(gone)), path)


def test_own_folder_of_two_classes_is_fitted_from_the_terminal(tmp_path, capsys):
    """Part 3: "Set the units of the last Dense layer to 2." with no command to do it."""
    for name in ("cats", "dogs"):
        (tmp_path / "pets" / name).mkdir(parents=True)
        for number in range(4):
            Image.new("RGB", (28, 28), (number * 9, 20, 30)).save(
                tmp_path / "pets" / name / f"{number}.png"
            )
    path = tmp_path / "pets.workbench"
    assert main(["new", "fashion_convnet", str(path)]) == 0
    assert main(["set", str(path), f"data=folder:{tmp_path / 'pets'}"]) == 0
    capsys.readouterr()
    assert main(["fix", str(path), "--json"]) == 1
    titles = [fix["title"] for fix in json_of(capsys)["fixes"]]
    assert "Set units to 2" in titles
    assert main(["fix", str(path), str(titles.index("Set units to 2") + 1)]) == 0
    last = list(read_project(path).graph.nodes.values())[-1]
    assert last.params["units"] == 2
    assert main(["check", str(path)]) == 0


@pytest.mark.parametrize("more", [["0"], ["2"], ["-1"], ["1", "--all"]])
def test_a_wrong_number_leaves_the_file_as_it_was(project, capsys, more):
    before = project.read_bytes()
    assert main(["fix", str(project), *more]) == 2
    assert project.read_bytes() == before
    assert capsys.readouterr().err


def test_a_file_that_another_program_changes_meanwhile_is_not_replaced(
    project, capsys, monkeypatch
):
    """Between reading and saving, the other one's content is written."""
    other = project.read_bytes().replace(b'"epochs"', b'"epochs" ')

    def write_first(path, data, *, guard):
        project.write_bytes(other)
        save_bytes(path, data, guard=guard)

    monkeypatch.setattr("workbench.cli.fix.save_bytes", write_first)
    assert main(["fix", str(project), "1"]) != 0
    assert project.read_bytes() == other
    assert "another program" in capsys.readouterr().err


def test_nothing_to_fix(project, capsys):
    assert main(["fix", str(project), "--all"]) == 0
    before = project.read_bytes()
    capsys.readouterr()
    assert main(["fix", str(project), "--json"]) == 0
    assert json_of(capsys) == {"ok": True, "fixes": [], "problems": []}
    assert main(["fix", str(project), "--all"]) == 0
    assert "Applied 0 fixes" in capsys.readouterr().err
    assert project.read_bytes() == before
