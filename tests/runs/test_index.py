from __future__ import annotations

import os

import pytest

from workbench.core.file_lock import take_lock
from workbench.core.project import Project
from workbench.protocol.events import LogLine
from workbench.runs.event_log import EventWriter
from workbench.runs.folder import create_run
from workbench.runs.home import runs_home
from workbench.runs.index import list_runs


@pytest.fixture
def finished(run, events):
    with EventWriter(run.events_path) as writer:
        for event in events(run):
            writer.write(event)
    return run


def test_no_runs(tmp_path):
    assert list_runs(tmp_path / "nowhere") == []


def test_a_finished_run(finished):
    (summary,) = list_runs()
    assert summary.path == finished.path
    assert summary.title == "Small net"
    assert (summary.outcome, summary.words) == ("completed", "Training is completed.")
    assert (summary.epochs_done, summary.epochs) == (2, 2)
    assert summary.best_val_accuracy == pytest.approx(0.8)
    assert summary.test_accuracy == 0.75
    assert not summary.has_model


def test_the_second_look_reads_the_cache_only(finished):
    first = list_runs()
    assert finished.summary_path.is_file()
    finished.events_path.write_bytes(b"x" * finished.events_path.stat().st_size)
    assert list_runs() == first


def test_a_log_that_has_grown_is_read_again(finished):
    list_runs()
    with EventWriter(finished.events_path) as writer:
        writer.write(LogLine(text="more"))
    before = finished.summary_path.read_bytes()
    (summary,) = list_runs()
    assert summary.outcome == "completed"
    assert finished.summary_path.read_bytes() != before


@pytest.mark.parametrize("text", ["", "{", "[]", '{"path": 3}', '{"version": 0}'])
def test_a_damaged_cache_is_made_anew(finished, text):
    before = list_runs()
    finished.summary_path.write_text(text)
    assert list_runs() == before


def test_a_moved_run_is_listed_where_it_is(finished):
    list_runs()
    finished.path.rename(finished.path.parent / "moved")
    assert list_runs()[0].name == "moved"


def test_living_runs_are_not_cached(run):
    lock = take_lock(run.lock_path)
    assert list_runs()[0].outcome == "running"
    assert not run.summary_path.exists()
    os.close(lock)


def test_other_folders_and_files_are_passed_over(finished):
    (runs_home() / "notes").mkdir()
    (runs_home() / "file.txt").write_text("")
    broken = create_run(Project())
    broken.request_path.write_text("{")
    assert [summary.path for summary in list_runs()] == [finished.path]


def test_the_newest_comes_first():
    runs = [create_run(Project(title=str(number))) for number in range(3)]
    assert [summary.title for summary in list_runs()] == ["2", "1", "0"]
    assert len(runs) == 3
