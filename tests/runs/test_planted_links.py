"""Links planted in a runs folder; `packaging/prove.sh planted_links` tries far more."""

from __future__ import annotations

import contextlib
from functools import partial

import numpy as np
import pytest

from tests.planted import BEHIND_LINK, LINKED_RUN, RUN, Sandbox, changes, places, plant, state_of
from tests.written_runs import WrittenRun
from workbench.core.projects.project import Choice
from workbench.errors import LinkFoundError, WorkbenchError
from workbench.protocol.events import LogLine
from workbench.remote.mirror.session import LogMirror
from workbench.runs.control import request_pause, request_retry, send_command
from workbench.runs.folder import Extension, RunFolder
from workbench.runs.library.index import INDEX_NAME, index_problem, list_runs
from workbench.runs.library.trash import trash_run
from workbench.runs.link import Link, Remote, write_link, write_remote
from workbench.runs.log.confusion_history import append_confusion
from workbench.runs.log.event_log import EventWriter
from workbench.runs.model_card import ModelCard, write_card
from workbench.runs.start import start_trainer
from workbench.runs.state import queue
from workbench.runs.store.checkpoint import remove_checkpoints, tidy_up, write_best
from workbench.runs.store.notes import change_notes
from workbench.runs.store.weights_file import write_arrays

ARRAYS = {"kernel": np.ones((2, 2), np.float32)}
CARD = ModelCard(class_names=["a"], input_shape=[2, 2, 1], fit="crop", graph={})


@pytest.fixture
def sandbox(tmp_path, monkeypatch):
    found = Sandbox(tmp_path / "case")
    monkeypatch.setenv("WORKBENCH_HOME", str(found.home))
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    for folder in (found.projects, found.exports):
        folder.mkdir(parents=True)
    run = WrittenRun("planted").begin().train(1).finish("stopped").folder
    write_best(run, 1, ARRAYS)
    run.path.rename(found.home / "runs" / RUN)
    found.fill_outside()
    return found


def _log(run):
    with EventWriter(run.events_path) as writer:
        writer.write(LogLine(text="more"))


def _mirror(run):
    with contextlib.closing(LogMirror(run.events_path)) as log:
        log.restart()
        log.append(0, b"anew\n")
        log.finish_restart()


def as_of_a_running_trainer(run):
    """What a trainer or run mirror writes once it has begun; links may be planted then."""
    return (
        partial(_log, run),
        partial(append_confusion, run, 1, np.eye(2, dtype=np.uint32)),
        partial(write_best, run, 2, ARRAYS),
        partial(write_arrays, run.weights_path, ARRAYS),
        partial(write_card, run.path, CARD),
        partial(write_link, run, Link(state="connecting")),
        partial(_mirror, run),
        partial(tidy_up, run),
        partial(remove_checkpoints, run),
    )


def as_of_a_person(run):
    """What a person requests of a run that is not running."""
    return (
        partial(list_runs, run.path.parent),
        partial(change_notes, run, title="t", add_tags=["tag"]),
        partial(request_pause, run),
        partial(send_command, run, "leave"),
        partial(request_retry, run),
        partial(run.move_to, Choice("this_computer")),
        partial(run.extend, Extension(after=1, before=5, epochs=9)),
        partial(write_remote, run, Remote(target={}, host="h", run="r")),
        partial(queue.enqueue, run, resume=True),
        partial(queue.move, run, 1),
        partial(queue.cancel, run),
        partial(queue.log_never_begun, run, "because"),
    )


IN_HOME = [place for place in places() if place.startswith(("runs/", "RUN/"))]


@pytest.mark.parametrize("is_dangling", [False, True], ids=["to a file", "to nothing"])
@pytest.mark.parametrize("place", IN_HOME)
def test_nothing_outside_changes(sandbox, place, is_dangling):
    plant(sandbox, place, is_dangling=is_dangling)
    before = state_of(sandbox.outside)
    run = RunFolder(sandbox.run)
    for write in (*as_of_a_person(run), *as_of_a_running_trainer(run)):
        with contextlib.suppress(WorkbenchError, OSError):
            write()
    assert changes(before, sandbox.outside) == []


@pytest.mark.parametrize("place", [LINKED_RUN, BEHIND_LINK])
def test_a_run_behind_a_link_is_read_and_nothing_else(sandbox, place):
    plant(sandbox, place)
    before = state_of(sandbox.outside)
    run = RunFolder(sandbox.run)
    assert run.request().title == "planted"
    if place == LINKED_RUN:
        assert [found.name for found in list_runs()] == [RUN]
    for write in (*as_of_a_person(run)[1:], partial(start_trainer, run, resume=True)):
        with pytest.raises(LinkFoundError, match="behind a link"):
            write()
    assert changes(before, sandbox.outside) == []


def test_a_link_to_a_run_goes_to_the_trash_alone(sandbox, home_trash):
    plant(sandbox, LINKED_RUN)
    before = state_of(sandbox.outside)
    link = sandbox.home / "runs" / RUN
    trash_run(RunFolder(link))
    assert not link.is_symlink()
    assert changes(before, sandbox.outside) == []


def test_a_run_behind_a_linked_folder_does_not_go_to_the_trash(sandbox, home_trash):
    plant(sandbox, BEHIND_LINK)
    before = state_of(sandbox.outside)
    with pytest.raises(LinkFoundError):
        trash_run(RunFolder(sandbox.run))
    assert changes(before, sandbox.outside) == []


def test_the_runs_folder_itself_may_be_a_link(sandbox, tmp_path):
    (sandbox.home / "runs").rename(tmp_path / "elsewhere")
    (sandbox.home / "runs").symlink_to(tmp_path / "elsewhere")
    run = RunFolder(sandbox.home / "runs" / RUN)
    change_notes(run, title="renamed")
    assert [found.title for found in list_runs()] == ["renamed"]
    assert (tmp_path / "elsewhere" / INDEX_NAME).is_file()


def test_a_link_in_place_of_the_index_is_reported(sandbox, capsys):
    from workbench.cli import main

    plant(sandbox, f"runs/{INDEX_NAME}")
    problem = index_problem(sandbox.home / "runs")
    assert isinstance(problem, LinkFoundError)
    assert main(["runs"]) == 0
    printed = capsys.readouterr()
    assert RUN in printed.out
    assert "“.runs-index” is a link" in printed.err


@pytest.mark.parametrize("name", ["log.txt", "worker.lock"])
def test_no_trainer_is_started_over_a_link(sandbox, name):
    plant(sandbox, f"RUN/{name}")
    before = state_of(sandbox.outside)
    with pytest.raises(LinkFoundError) as caught:
        start_trainer(RunFolder(sandbox.run), resume=True)
    assert caught.value.where.endswith(name)
    assert changes(before, sandbox.outside) == []
