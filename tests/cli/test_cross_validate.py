"""`workbench cross-validate` with real trainings: interrupted, gone on with, mean and spread."""

from __future__ import annotations

import json
import signal
import statistics
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from tests.class_folders import stripes_project, write_stripes
from workbench.cli import main
from workbench.core.projects.project_file import save_project
from workbench.protocol.events import DataReady
from workbench.runs.folder import RunFolder
from workbench.runs.library.index import list_runs
from workbench.runs.log.event_log import first_of

pytestmark = pytest.mark.worker

NAMES = ("high", "low", "middle")


@pytest.fixture
def project(tmp_path):
    folder = write_stripes(tmp_path / "data", 90)
    save_project(
        stripes_project(folder, epochs=2, learning_rate=0.05), tmp_path / "stripes.workbench"
    )
    return tmp_path / "stripes.workbench"


def test_folds_go_on_where_they_were_interrupted(project, capsys):
    command = [sys.executable, "-m", "workbench", "cross-validate", str(project), "--folds", "3"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while "fold 1 of 3: validation accuracy" not in (line := child.stderr.readline()):
        assert line, "it ended before the first fold was trained"
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=240)
    assert child.returncode == 130
    (first,) = [each for each in list_runs() if each.outcome == "completed"]
    assert first.label.endswith("fold 1 of 3")

    assert main(["cross-validate", str(project), "--folds", "3", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["ok"]
    assert [each["label"] for each in result["runs"]] == [f"fold {n} of 3" for n in (1, 2, 3)]
    assert result["runs"][0]["run"] == str(first.path)

    accuracies = [each["val_accuracy"] for each in result["runs"]]
    assert result["val_accuracy"]["mean"] == pytest.approx(statistics.fmean(accuracies))
    assert result["val_accuracy"]["std"] == pytest.approx(statistics.stdev(accuracies))
    confusion = np.array(result["confusion"])
    assert confusion.sum() == 72, "each image that is not for testing validates once"
    right = sum(a * e["validation_images"] for a, e in zip(accuracies, result["runs"], strict=True))
    assert np.trace(confusion) == pytest.approx(right)
    low, high = binomtest(round(right), 72).proportion_ci(method="wilson")
    words = f"{right / 72:.1%} are right: 95% interval {low:.1%} to {high:.1%}."
    assert any(words in note for note in result["notes"])


@pytest.mark.full
def test_seeds_share_the_split(project, capsys):
    assert main(["cross-validate", str(project), "--seeds", "2", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert [each["label"] for each in result["runs"]] == ["seed 7", "seed 8"]
    assert result["test_accuracy"]["count"] == 2
    assert result["per_fold"] == {}
    assert not any("95% interval" in note for note in result["notes"])  # images count twice
    ready = [
        first_of(RunFolder(Path(each["run"])).events_path, DataReady) for each in result["runs"]
    ]
    assert ready[0].split == ready[1].split != {}
    assert ready[0].per_class == ready[1].per_class


@pytest.mark.parametrize("words", [(), ("--folds", "1"), ("--seeds", "0"), ("--seeds", "900")])
def test_other_numbers_are_refused_before_anything_is_made(project, words, capsys):
    assert main(["cross-validate", str(project), *words]) == 2
    assert list_runs() == []
