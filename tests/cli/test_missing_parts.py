"""Commands on a computer that lacks parts of Workbench: the real command, seen from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bright_network import GRAPH, bright_picture, keep_bright_network
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import project_text
from workbench.parts import PARTS
from workbench.runs.folder import create_run
from workbench.templates import find_template

pytestmark = pytest.mark.worker

LINES = {part.key: part.install_command for part in PARTS}
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a run, a project and a picture."""
    folder = tmp_path_factory.mktemp("parts")
    run = create_run(Project(graph=GRAPH), home=folder)
    keep_bright_network(run)
    run.path.rename(folder / "run")
    project = find_template("fashion_convnet").project
    (folder / "p.workbench").write_text(project_text(project))
    bright_picture(folder)
    return folder


@pytest.fixture
def command(place, tmp_path):
    """A function (words, keys of missing parts) -> result; what the command starts lacks them, too."""

    def run(*words, lacks):
        names = [module for part in PARTS if part.key in lacks for module in part.modules]
        (tmp_path / "sitecustomize.py").write_text(
            f"import sys\nsys.modules.update(dict.fromkeys({names!r}))\n"
        )
        own = {
            "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}",
            "WORKBENCH_HOME": str(tmp_path / "home"),
            "QT_QPA_PLATFORM": "offscreen",
        }
        return subprocess.run(
            [sys.executable, "-P", "-m", "workbench", *words],
            env={**os.environ, **own},
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    return run


@pytest.mark.full_but("p.workbench-window", "train p.workbench-train", "classify run-classify")
@pytest.mark.parametrize(
    ("words", "key"),
    [
        ([], "window"),
        (["p.workbench"], "window"),
        (["report", "run", "r.pdf"], "window"),
        (["train", "p.workbench"], "train"),
        (["tour"], "train"),
        (["queue", "add", "p.workbench"], "train"),
        (["explain", "run", "picture.png", "e.png"], "train"),
        (["export", "run", "keras", "m.keras"], "train"),
        (["export", "p.workbench", "python", "n.py"], "train"),
        (["preflight", "p.workbench", "--tpu", "v5e-8"], "train"),
        (["classify", "run", "picture.png"], "classify"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else value,
)
def test_a_missing_part_is_named_with_the_line_that_installs_it(command, words, key, tmp_path):
    done = command(*words, lacks={"window", "train", "classify"})
    assert done.returncode == 4, done.stderr
    assert f"Install it with `{LINES[key]}`." in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "home" / "runs").exists()


def test_programs_get_the_error_as_json(command):
    done = command("train", "p.workbench", "--json", lacks={"train"})
    error = json.loads(done.stdout)["error"]
    assert error["what"] == "TensorFlow is not installed."
    assert all(error.values())


def test_without_onnx_runtime_tensorflow_classifies(command):
    done = command("classify", "run", "picture.png", "--json", lacks={"classify", "window"})
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["label"] == "light"


def test_the_doctor_lists_the_parts(command):
    done = command("doctor", "--json", lacks={"train", "window"})
    found = {line["check"]: line for line in map(json.loads, done.stdout.splitlines())}
    assert {part.key for part in PARTS} <= found.keys()
    assert (done.returncode, found["train"]["ok"]) == (1, False)
    assert LINES["train"] in found["train"]["fix"]
    assert found["window"]["ok"], "training needs no window"
    assert LINES["window"] in found["window"]["words"]
    assert found["classify"]["words"].startswith("onnxruntime ")


def test_help_names_all_commands_without_any_part(command):
    done = command("--help", lacks={part.key for part in PARTS})
    assert done.returncode == 0, done.stderr
    assert "classify" in done.stdout
