"""Beginning a series: by one process at a time, whoever else begins the same one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.racing import race
from tests.runs.library._series_race import FOLDS
from workbench.core.projects.project import Project
from workbench.core.storage.own_file import take_lock
from workbench.errors import RunError
from workbench.runs.library import series as series_module
from workbench.runs.library.series import FoldPlan, begin_series
from workbench.runs.state import queue
from workbench.runs.state.queue import SERIES_LOCK

RACE = Path(__file__).with_name("_series_race.py")


def test_a_series_that_several_processes_begin_is_queued_once(tmp_path):
    home = tmp_path / "home"
    printed = race(RACE, home, tmp_path / "go", count=3)
    assert len(set(printed)) == 1
    labels = [run.request().label for run in queue.waiting(home)]
    assert labels == [f"fold {number} of {FOLDS}" for number in range(1, FOLDS + 1)]


def test_a_lock_that_hangs_is_reported_and_nothing_is_queued(tmp_path, monkeypatch):
    monkeypatch.setattr(series_module, "_LOCK_WAIT_S", 0.05)
    lock = take_lock(tmp_path / SERIES_LOCK)
    try:
        with pytest.raises(RunError, match="locked by another process"):
            begin_series(FoldPlan(Project(id="raced"), 2, 1), home=tmp_path)
    finally:
        os.close(lock)
    assert not queue.waiting(tmp_path)
