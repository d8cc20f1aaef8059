"""Runs that this user may not read, or not any more, are told apart from none."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time

import pytest

from tests.class_folders import stripes_project, write_stripes
from tests.planted_kinds import plant_kind
from workbench.core.projects.project_file import save_project
from workbench.errors import LinkFoundError, RunFolderError
from workbench.runs.folder import RunFolder
from workbench.runs.library.index import list_runs
from workbench.runs.start import start_trainer

# Root may read everything, unless that right is taken from the child.
NOT_ROOT = [] if os.geteuid() else ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
COMMAND = [*NOT_ROOT, sys.executable, "-m", "workbench"]
pytestmark = pytest.mark.skipif(
    bool(NOT_ROOT) and shutil.which("setpriv") is None, reason="setpriv (util-linux) is missing"
)


def workbench(*words):
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False)


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path / "home"))
    yield tmp_path / "home" / "runs"
    for folder in (tmp_path / "home" / "runs", *(tmp_path / "home" / "runs").glob("*/")):
        folder.chmod(0o700)


def test_a_runs_folder_that_cannot_be_read_is_no_empty_one(home, written):
    run = written("one").begin().train(1).finish()
    shutil.copytree(run.path, home / "one")
    home.chmod(0)
    for words in (["runs"], ["runs", "show", "one"], ["runs", "--json"]):
        done = workbench(*words)
        assert done.returncode == 3, done.stdout
        assert "Permission denied" in done.stderr + done.stdout
        assert "Traceback" not in done.stderr
    assert json.loads(done.stdout)["error"]["where"] == str(home)


def test_a_run_that_cannot_be_read_has_a_line_with_the_reason(home, written):
    run = written("one").begin().train(1).finish()
    for name in ("one", "two"):
        shutil.copytree(run.path, home / name)
    (home / "one").chmod(0)
    done = workbench("runs")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    (line,) = (line for line in lines if "Cannot be read: Permission denied" in line)
    assert line.split()[0] == "one"
    assert len(lines) == len(list_runs(home)) > 1


@pytest.mark.parametrize("name", ["events.jsonl", "log.txt", "weights.npz", "model.json"])
@pytest.mark.parametrize("kind", ["fifo", "device", "folder", "loop", "nothing behind a link"])
def test_a_run_is_not_resumed_where_it_could_not_be_written(written, name, kind):
    run = written("one").begin().train(1)
    path = run.path / name
    plant_kind(path, kind)
    with pytest.raises((LinkFoundError, RunFolderError), match=name) as refused:
        start_trainer(run.folder, resume=True)
    assert refused.value.fix


def test_checkpoints_that_are_a_file_are_no_folder(written):
    run = written("one").begin().train(1)
    shutil.rmtree(run.path / "checkpoints", ignore_errors=True)
    (run.path / "checkpoints").touch()
    with pytest.raises(RunFolderError, match="checkpoints") as refused:
        start_trainer(run.folder, resume=True)
    assert refused.value.received == "a file"


@pytest.mark.worker
def test_a_training_outlives_that_its_folder_cannot_be_read(home, tmp_path):
    write_stripes(tmp_path / "photos", 90)
    project = stripes_project(tmp_path / "photos", epochs=150)
    save_project(project, tmp_path / "stripes.workbench")
    command = [*COMMAND, "train", str(tmp_path / "stripes.workbench")]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as cli:
        for line in cli.stdout:
            if line.startswith("Epoch 2 of"):
                break
        home.chmod(0)
        left = cli.communicate(timeout=200)[0]
    assert cli.returncode == 3, left
    assert "Traceback" not in left
    assert "The run folder cannot be read" in left
    time.sleep(3)  # the training goes on meanwhile, or waits for its folder
    home.chmod(0o700)
    (run,) = list_runs(home)
    for _ in range(600):
        if run.is_over:
            break
        time.sleep(0.3)
        (run,) = list_runs(home)
    assert run.outcome == "completed", RunFolder(run.path).log_tail(max_lines=30)
    assert run.epochs_done == 150
    assert run.has_model
