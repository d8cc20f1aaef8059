"""Pretrained weights that are not on this computer: a problem before training, with its fix."""

from __future__ import annotations

import json

import pytest

from tests.small_projects import project_to_download, unbundled
from workbench.backbones import all_backbones, missing_weights, weights_file
from workbench.checkup.analysed import analysed
from workbench.cli import main
from workbench.core.projects.project_file import save_project
from workbench.document.project_document import ProjectDocument
from workbench.layers import all_layers

SPEC = unbundled()
COMMAND = f"workbench backbones --download {SPEC.key}"


def put_them_there():
    path = weights_file(SPEC)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"numbers")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "p.workbench"
    save_project(project_to_download(), path)
    return path


def test_only_what_is_neither_included_nor_downloaded_is_missing():
    found = [each.key for each in missing_weights([*all_backbones(), "of a later version"])]
    assert found == [key for key, spec in all_backbones().items() if not spec.is_bundled]
    put_them_there()
    assert [each.key for each in missing_weights(found)] == [k for k in found if k != SPEC.key]


def test_it_stops_training_and_says_what_is_downloaded():
    analysis = analysed(project_to_download())
    (problem,) = analysis.errors
    assert analysis.is_unfinished
    assert analysis.network_errors == ()  # the network is right
    assert problem.title == "Weights not downloaded"
    assert SPEC.title in problem.message
    (fix,) = problem.fixes
    assert (fix.backbone, fix.command) == (SPEC.key, COMMAND)
    assert fix.title == "Download (9.4 MB)"
    assert fix.title.removeprefix("Download ") in problem.message
    put_them_there()
    assert analysed(project_to_download()).is_trainable


def test_the_terminal_names_the_command_that_downloads_them(path, capsys):
    assert main(["check", str(path)]) == 1
    assert f"fix: Download (9.4 MB): {COMMAND}\n" in capsys.readouterr().err
    assert main(["fix", str(path), "1"]) != 0
    assert f"Run `{COMMAND}`." in capsys.readouterr().err
    assert main(["train", str(path), "--json"]) != 0
    error = json.loads(capsys.readouterr().out.splitlines()[-1])["error"]
    assert "not on this computer" in error["what"]
    assert error["fix"] == f"Run `{COMMAND}` once."


def test_the_document_looks_when_the_network_changes(qapp, qtbot):
    document = ProjectDocument(all_layers())
    document.new(project_to_download())
    qtbot.waitUntil(lambda: not document.analysis.is_trainable)
    pretrained = [key for key, node in document.graph.nodes.items() if node.pretrained]
    document.use_random_weights(pretrained)
    assert document.analysis.errors == ()
    document.undo_stack.undo()
    qtbot.waitUntil(lambda: not document.analysis.is_trainable)
    put_them_there()
    document.look_for_data()
    qtbot.waitUntil(lambda: document.analysis.is_trainable)
    document.close()
