"""The states of runs that another computer trains: from their folders alone."""

from __future__ import annotations

import json
import os
import sys
import time
from types import SimpleNamespace

import msgspec
import numpy as np
import pytest

from tests.written_runs import WrittenRun
from workbench.core.projects.project import Choice, Project
from workbench.core.storage.own_file import take_lock
from workbench.protocol.bases import ErrorParts
from workbench.protocol.events import Plan
from workbench.runs.control import command_of, mirror_command_of, request_stop, send_command
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.library.index import list_runs
from workbench.runs.library.trash import check_deletable
from workbench.runs.link import (
    Link,
    Remote,
    abandon_remote,
    forget_link,
    has_mirror,
    link_words,
    read_link,
    read_remote,
    write_link,
    write_remote,
)
from workbench.runs.start import may_reattach, reattach, start_trainer
from workbench.runs.state.outcome import outcome_of
from workbench.runs.store.checkpoint import DataMark, Machine, TrainerState, write_checkpoint
from workbench.runs.trust import UnknownPlaceError, place_of, remember

REMOTE = Remote(target={"key": "ssh", "params": {"host": "box"}}, host="box", run="run-1")


def link(state, **values):
    return Link(state=state, host="box", since=time.time() - 40, **values)


@pytest.fixture
def brought(written):
    """A run in the middle of its training, brought by a running run mirror."""
    run = written().begin().train(1)
    write_remote(run.folder, REMOTE)
    write_link(run.folder, link("attached"))
    return run


def keep_checkpoint(run, step):
    state = TrainerState(
        number=1, step=step, epochs_done=0, seconds=1.0, plan=Plan(precision="float32"),
        machine=Machine(versions={}, cores=1, cpu="", flags=[]),
        data=DataMark(num_train=1, num_validation=0, num_test=0, digest=""),
    )  # fmt: skip
    write_checkpoint(run, state, {"weights": np.zeros(2, np.float32)})


def test_what_was_written_is_read_and_what_is_damaged_is_nothing(run):
    assert (read_link(run), read_remote(run), has_mirror(run)) == (None, None, False)
    line = link("lost", tries=2, error=ErrorParts(what="The line is cut."))
    write_link(run, line)
    write_remote(run, REMOTE)
    assert (read_link(run), read_remote(run), has_mirror(run)) == (line, REMOTE, True)
    assert REMOTE.choice() == Choice("ssh", {"host": "box"})
    abandon_remote(run)
    assert read_remote(run) is None
    run.remote_path.write_bytes(b'{"host": 3')
    run.link_path.write_bytes(b"\xff")
    assert (read_link(run), read_remote(run)) == (None, None)
    forget_link(run)
    assert not has_mirror(run)


def test_a_brought_run_is_running_as_any_other(brought):
    outcome = outcome_of(brought.folder)
    assert (outcome.kind, outcome.sentence()) == ("running", "Training is running.")


@pytest.mark.parametrize(
    ("line", "kind", "words"),
    [
        (link("connecting"), "running", "Connecting to box."),
        (link("attached", words="is queued there"), "running", "is queued there"),
        (link("setting_up", words="packages", fraction=0.25), "running", "packages (25%)"),
        (
            link("lost", next_try=time.time() + 600),
            "silent",
            "Training continues there; no results are lost.",
        ),
    ],
)
def test_a_running_mirror_reports_the_state_of_the_line(brought, line, kind, words):
    write_link(brought.folder, line)
    outcome = outcome_of(brought.folder)
    assert outcome.kind == kind
    assert words in outcome.sentence()
    assert not outcome.is_over


def test_a_lost_line_says_for_how_long_and_when_it_is_tried_again():
    line = Link(state="lost", host="box", since=1_000.0, next_try=1_048.0)
    assert link_words(line, 1_040.0) == "Connection to box lost for 40 s; reconnecting in 8 s."
    assert link_words(line, 1_048.0) == "Connection to box lost for 48 s; reconnecting."


def test_a_run_whose_mirror_was_killed_goes_on_elsewhere(brought):
    brought.end()
    outcome = outcome_of(brought.folder)
    assert (outcome.kind, outcome.is_over) == ("away", False)
    assert (outcome.can_resume, outcome.can_move) == (False, True)
    assert outcome.sentence() == "Training on box; not connected."
    assert may_reattach(brought.folder)
    (summary,) = list_runs(brought.path.parent)
    assert (summary.outcome, summary.on, summary.is_over) == ("away", "box", False)


@pytest.mark.parametrize("is_alive", [True, False])
def test_a_tpu_that_went_away_is_reported_with_both_steps(brought, is_alive):
    keep_checkpoint(brought.folder, 7)
    write_link(brought.folder, link("gone", device="The TPU"))
    if not is_alive:
        brought.end()
    outcome = outcome_of(brought.folder)
    words = "The TPU was lost at step 10; last checkpoint on this computer: step 7."
    assert outcome.sentence() == words
    assert outcome.can_move


def test_without_a_checkpoint_a_lost_run_says_so(brought):
    write_link(brought.folder, link("gone"))
    brought.end()
    assert outcome_of(brought.folder).sentence().endswith("no checkpoint on this computer.")


def test_what_the_log_says_of_its_end_holds(brought):
    brought.finish("completed")
    assert outcome_of(brought.folder).kind == "completed"


def test_a_trainer_that_crashed_elsewhere_is_reported_as_one_that_crashed_here(brought):
    brought.folder.log_path.write_text(
        'Traceback (most recent call last):\n  File "x.py", line 1\nModuleNotFoundError: no keras\n'
    )
    write_link(brought.folder, link("ended"))
    brought.end()
    outcome = outcome_of(brought.folder)
    assert outcome.kind == "died"
    assert "no keras" in outcome.sentence()


def test_a_resumed_run_is_away_although_its_log_ends_with_a_pause(brought):
    brought.finish("stopped")
    lock = take_lock(brought.folder.lock_path)
    os.pwrite(lock, b"%d\n" % brought.folder.events_path.stat().st_size, 0)
    write_link(brought.folder, link("connecting"))
    assert outcome_of(brought.folder).sentence() == "Connecting to box."
    os.close(lock)
    assert outcome_of(brought.folder).kind == "away"


def test_a_refusal_before_the_run_had_begun_is_a_failure_in_its_own_words(run):
    run.lock_path.touch()
    error = ErrorParts(what="box did not accept your key.", fix="Choose a key.")
    write_link(run, link("refused", error=error))
    outcome = outcome_of(run)
    assert (outcome.kind, outcome.error, outcome.can_resume) == ("failed", error, True)
    assert outcome.sentence() == "box did not accept your key. Choose a key."


def test_a_refusal_later_is_not_tried_again_by_itself(brought):
    write_link(brought.folder, link("refused", error=ErrorParts(what="Another identity.")))
    brought.end()
    outcome = outcome_of(brought.folder)
    assert outcome.kind == "away"
    assert "Another identity." in outcome.sentence()
    assert not may_reattach(brought.folder)


def test_trainers_do_not_hear_what_only_mirrors_obey(run):
    send_command(run, "kill")
    assert (command_of(run), mirror_command_of(run)) == (None, "kill")
    request_stop(run)
    assert (command_of(run), mirror_command_of(run)) == ("stop", "stop")


def test_a_run_that_is_nowhere_else_cannot_be_connected_to(run):
    with pytest.raises(Exception, match="not on another computer"):
        reattach(run)


def test_a_run_is_trained_where_it_was_moved_to(run):
    assert run.project() == run.request().to_project()
    run.move_to(Choice("virtual", {"replicas": 2}))
    assert run.project().target == Choice("virtual", {"replicas": 2})
    assert run.request().to_project().target == Choice("this_computer")
    run.target_path.write_text("{}")
    with pytest.raises(Exception, match="damaged"):
        run.project()


WITNESS = """#!{python}
import json, os, pathlib, sys
from workbench.runs.folder import RunFolder
from workbench.runs.link import has_mirror

run = RunFolder(pathlib.Path({path!r}))
seen = {{
    "words": sys.argv[1:],
    "is_alive": run.is_alive(),
    "is_mirror": has_mirror(run),
    "lock": os.readlink("/proc/self/fd/3"),
    "output": os.readlink("/proc/self/fd/1"),
    "has_own_session": os.getsid(0) == os.getpid(),
}}
with open({seen!r}, "w") as file:
    json.dump(seen, file)
"""


@pytest.fixture
def started(monkeypatch, tmp_path):
    """Starts a run with a program in the place of Python's, and returns what that has seen."""

    def start(run, **options):
        program, seen = tmp_path / "python", tmp_path / "seen.json"
        text = WITNESS.format(python=sys.executable, path=str(run.path), seen=str(seen))
        program.write_text(text)
        program.chmod(0o755)
        with monkeypatch.context() as patch:
            patch.setattr(sys, "executable", str(program))
            _, status = os.waitpid(start_trainer(run, **options), 0)
        assert status == 0, run.log_path.read_text()
        return SimpleNamespace(**json.loads(seen.read_text()))

    return start


def test_a_trainer_here_takes_the_place_of_a_mirror(brought, started):
    """The mark that the lock is a run mirror's goes before the trainer is there."""
    brought.end()
    seen = started(brought.folder)
    assert (seen.is_alive, seen.is_mirror, seen.has_own_session) == (True, False, True)
    assert seen.words == ["-P", "-m", "workbench.worker", "train", str(brought.path)]
    assert (seen.lock, seen.output) == (str(brought.folder.lock_path), str(brought.folder.log_path))
    assert not has_mirror(brought.folder)


@pytest.mark.parametrize("resume", [False, True])
def test_a_mirror_is_started_for_a_run_of_another_computer(started, resume):
    """Before its process is there the lock is held, and known as a run mirror's."""
    run = create_run(Project(target=Choice("ssh", {"host": "box"})))
    with pytest.raises(UnknownPlaceError, match="Connect to box"):
        start_trainer(run, resume=resume)
    assert not run.lock_path.exists()
    remember(place_of(run))
    run.log_path.write_text("what the trainer there has printed\n")
    request_stop(run)
    seen = started(run, resume=resume)
    assert (seen.is_alive, seen.is_mirror, seen.has_own_session) == (True, True, True)
    words = ["-P", "-m", "workbench.remote", str(run.path)]
    assert seen.words == words + ["--resume"] * resume
    assert (seen.lock, seen.output) == (str(run.lock_path), str(run.mirror_log_path))
    assert run.log_path.read_text() == "what the trainer there has printed\n"
    assert command_of(run) == (None if resume else "stop")


@pytest.mark.parametrize(("state", "may_go"), [("lost", False), ("gone", True), ("ended", True)])
def test_a_run_that_may_train_elsewhere_is_not_thrown_away(brought, state, may_go):
    write_link(brought.folder, link(state))
    brought.end()
    if may_go:
        check_deletable(brought.folder)
    else:
        with pytest.raises(Exception, match="may still be training on another computer"):
            check_deletable(brought.folder)


def test_old_requests_are_read_and_new_fields_have_defaults():
    folder = create_run(WrittenRun().end().folder.project())
    plain = msgspec.json.decode(folder.request_path.read_bytes())
    assert (plain.pop("parcel"), plain.pop("on")) == ("", "")
    folder.request_path.write_bytes(msgspec.json.encode(plain))
    assert RunFolder(folder.path).request().on == ""
