"""A project that was never trained as a script of plain Keras: it runs in a Python of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.worker.requests.conftest import notebook_project
from workbench.core.projects.project import Choice, Project
from workbench.core.projects.project_file import project_text, save_project
from workbench.exports import run_exports, untrained_exports
from workbench.protocol.export import ExportProject
from workbench.templates import list_templates

pytestmark = [pytest.mark.worker, pytest.mark.timeout(600)]

NO_IMAGES = Choice("folder", {"path": ""})

COUNT = """
import importlib, json, sys
sys.path.insert(0, sys.argv[1])
print(json.dumps({name: importlib.import_module(name).build_model().count_params()
                  for name in sys.argv[2:]}))
assert "workbench" not in sys.modules
"""


def plain_python(*words, folder=None):
    """Runs a Python of its own, which nothing points to this folder; what it printed."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_each_template_builds_the_same_number_of_parameters(run_command, tmp_path):
    templates = list_templates()
    for each in templates:
        project = tmp_path / f"{each.key}.workbench"
        save_project(replace(each.project, dataset=NO_IMAGES), project)
        assert (
            run_command(["export", str(project), "python", str(tmp_path / f"{each.key}.py")]) == 0
        )
    counted = json.loads(
        plain_python("-c", COUNT, tmp_path, *(each.key for each in templates), folder=tmp_path)
    )
    assert counted == {each.key: each.parameters for each in templates}


def test_unknown_classes_are_numbered_and_that_is_said(service, tmp_path):
    (project,) = (each.project for each in list_templates() if each.key == "lenet5")
    for dataset, is_known in ((project.dataset, True), (NO_IMAGES, False)):
        path = tmp_path / f"{dataset.key}.py"
        some = project_text(replace(project, dataset=dataset))
        answer = service.done(ExportProject, project=some, format="python", path=str(path))
        assert ("Set CLASS_NAMES" in answer.text) is not is_known
        assert ("The images are not packed with it" in answer.text) is not is_known
        text = path.read_text()
        assert ('"0"' in text) is not is_known
        assert ("names of the classes are not known" in text) is not is_known
        assert not list(tmp_path.glob("*.npz"))


def test_the_script_trains_and_classifies_by_itself(service, away, tmp_path):
    project = notebook_project(away.data, epochs=1)
    path = tmp_path / "stripes.py"
    answer = service.done(
        ExportProject, project=project_text(project), format="python", path=str(path)
    )
    assert "trains it with plain Keras" in answer.text
    weights, images = tmp_path / "new.weights.h5", tmp_path / "stripes.images.npz"
    assert f"Take {images} along" in answer.text
    said = plain_python(path, "train", images, weights, folder=tmp_path)
    assert "118 train, 12 validation, 61 test images" in said
    assert weights.stat().st_size > 1_000
    said = plain_python(path, "classify", weights, *away.files[:2], folder=tmp_path)
    for file, line in zip(away.files[:2], said.splitlines(), strict=True):
        assert re.fullmatch(rf"{re.escape(file)}: [012] \([\d.]+%\)", line), line


def test_what_needs_weights_is_refused_for_a_project(run_command, capsys, tmp_path):
    path, out = tmp_path / "p.workbench", tmp_path / "p.keras"
    save_project(list_templates()[0].project, path)
    others = set(run_exports()) - set(untrained_exports())
    assert others
    for key in others:
        assert run_command(["export", str(path), key, str(out)]) == 2
        assert "needs weights" in capsys.readouterr().err
    assert not out.exists()


def test_an_existing_file_is_kept_and_a_network_with_errors_is_reported(
    run_command, capsys, tmp_path
):
    path, out = tmp_path / "p.workbench", tmp_path / "p.py"
    save_project(Project(), path)
    out.write_text("mine")
    assert run_command(["export", str(path), "python", str(out)]) == 2
    assert "--force" in capsys.readouterr().err
    assert run_command(["export", str(path), "python", str(out), "--force"]) != 0
    assert out.read_text() == "mine"
