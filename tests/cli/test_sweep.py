"""`workbench sweep` with real trainings: killed, gone on with, hopeless runs stopped, ranked."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from tests.class_folders import stripes_project, write_stripes
from tests.worker.conftest import chain
from workbench.cli import main
from workbench.core.projects.project_file import save_project
from workbench.runs.folder import RunFolder
from workbench.runs.library.index import list_runs
from workbench.runs.log.event_log import read_all
from workbench.runs.state import queue


@pytest.fixture
def project(tmp_path):
    folder = write_stripes(tmp_path / "data", 90)
    graph = chain(
        ("input", {"shape": (8, 8, 1)}),
        ("rescaling", {}),
        ("flatten", {}),
        ("dense", {"units": 4, "activation": "relu"}),
        ("dense", {"units": 3, "activation": "softmax"}),
    )
    own = replace(stripes_project(folder, epochs=4, learning_rate=0.05), graph=graph)
    save_project(own, tmp_path / "stripes.workbench")
    return tmp_path / "stripes.workbench"


def sweep(project, *words):
    return main(["sweep", str(project), *words, "--json"])


@pytest.mark.full
@pytest.mark.worker
def test_a_killed_sweep_loses_nothing_and_stops_what_is_hopeless(project, capsys, tmp_path):
    axes = ("--set", "learning_rate=0.05,0.03,0.02,1e-7", "--set", "epochs=4", "--warm-up", "2")
    command = [sys.executable, "-m", "workbench", "sweep", str(project), *axes]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while "lr 0.05: validation accuracy" not in (line := child.stderr.readline()):
        assert line, "it ended before the first run was trained"
    child.kill()
    child.communicate()
    # Without the command the trainers go on: the end of each starts the next.
    while len(queue.waiting()) > 1:
        time.sleep(0.2)

    assert sweep(project, *axes, "--csv", str(tmp_path / "sweep.csv")) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["ok"]
    assert [each["label"] for each in result["runs"]] == [
        "lr 0.05",
        "lr 0.03",
        "lr 0.02",
        "lr 1e-07",
    ]
    assert len(list_runs()) == 4, "no run was trained twice"
    assert [each["outcome"] for each in result["runs"]] == ["completed"] * 3 + ["stopped_early"]
    low = result["runs"][3]
    assert low["epochs"] == 2
    finished = read_all(RunFolder(tmp_path / low["run"]).events_path)[-1]
    assert finished.reason.startswith("Median stopping after 2 epochs")
    assert finished.can_resume
    assert result["combinations"][-1]["values"] == {"learning_rate": "1e-7"}
    assert result["best"] == result["combinations"][0]["values"]
    rows = list(csv.DictReader((tmp_path / "sweep.csv").read_text().splitlines()))
    assert [row["learning_rate"] for row in rows] == ["0.05", "0.03", "0.02", "1e-7"]

    # Complete, it is printed again without a training.
    assert sweep(project, "--result") == 0
    assert json.loads(capsys.readouterr().out) == result


def test_a_dry_run_makes_nothing(project, capsys):
    axes = ("--set", "dense_3.units=4,8", "--set", "batch_size=8,16", "--seeds", "2")
    assert sweep(project, *axes, "--dry-run") == 0
    result = json.loads(capsys.readouterr().out)
    assert len(result["runs"]) == 8
    assert result["runs"][0]["values"] == {"dense_3.units": "4", "batch_size": "8"}
    assert list_runs() == []


def test_impossible_combinations_are_skipped_only_when_agreed(project, capsys):
    axes = ("--set", "dense_4.units=2,3", "--set", "batch_size=8,16")
    assert sweep(project, *axes, "--dry-run") == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert "2 of 4 combinations cannot be trained" in error["what"]
    assert "--skip-invalid" in error["fix"]
    assert sweep(project, *axes, "--dry-run", "--skip-invalid") == 0
    result = json.loads(capsys.readouterr().out)
    assert [each["values"]["dense_4.units"] for each in result["runs"]] == ["3", "3"]
    assert len(result["skipped"]) == 2
    assert list_runs() == []


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--set", "epochs=3"),
        ("--set", "seed=1,2"),
        ("--set", "learning_rate=1e-4..1e-1"),
        ("--set", "learning_rate=0.1,0.2", "--target", "nowhere"),
        ("--result",),
    ],
)
def test_what_is_no_sweep_is_refused_before_anything_is_made(project, words, capsys):
    assert sweep(project, *words) == 2
    assert list_runs() == []
