"""Runs wait for their turn; each is started once, however many processes try."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.racing import race
from workbench.core.projects.project import Choice, Project
from workbench.core.storage.own_file import take_lock
from workbench.errors import RunError, RunFolderError
from workbench.protocol.events import LogLine, RunFinished
from workbench.runs.folder import Extension, RunFolder, create_run
from workbench.runs.home import runs_home
from workbench.runs.link import Link, write_link
from workbench.runs.log.event_log import EventWriter, read_all
from workbench.runs.state import queue
from workbench.runs.state.outcome import outcome_of
from workbench.runs.state.queue import QUEUE_LOCK, remember_outside
from workbench.runs.trust import remember

RACE = Path(__file__).with_name("_race.py")


@pytest.fixture
def started(monkeypatch):
    """The runs that were started, instead of real trainers; their locks stay taken."""
    found: list[tuple[str, bool]] = []
    locks: list[int] = []

    def start(run: RunFolder, *, resume: bool = False, extension: object = None) -> int:
        run.request().to_project()
        locks.append(take_lock(run.lock_path))
        found.append((run.request().title, resume))
        return 1

    monkeypatch.setattr(queue, "start_trainer", start)
    yield found
    for lock in locks:
        os.close(lock)


def queued(*titles):
    runs = [create_run(Project(title=title)) for title in titles]
    for run in runs:
        queue.enqueue(run)
    return runs


def titles():
    return [run.request().title for run in queue.waiting()]


def test_runs_wait_in_the_order_they_came():
    a, b, c = queued("a", "b", "c")
    assert titles() == ["a", "b", "c"]
    assert [queue.num_before(run) for run in (a, b, c)] == [0, 1, 2]
    assert queue.enqueue(a) == 0, "one that waits keeps its place"
    assert all(queue.is_waiting(run) for run in (a, b, c))


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "Queued, next."),
        (1, "Queued: 1 run before it."),
        (2, "Queued: 2 runs before it."),
    ],
)
def test_words(number, words):
    assert queue.waiting_words(number) == words


@pytest.mark.parametrize(
    ("title", "by", "after"),
    [
        ("c", -1, "acbd"),
        ("a", -1, "abcd"),
        ("a", 1, "bacd"),
        ("d", 1, "abcd"),
        ("d", -99, "dabc"),
        ("a", -99, "abcd"),
        ("a", 2, "bcad"),
        ("b", 99, "acdb"),
    ],
)
def test_moving(title, by, after):
    runs = dict(zip("abcd", queued(*"abcd"), strict=True))
    queue.move(runs[title], by)
    assert "".join(titles()) == after


def test_the_next_is_started_when_nothing_trains(started):
    a, b = queued("a", "b")
    assert queue.start_next() == a
    assert queue.start_next() is None, "a trains now"
    assert titles() == ["b"]
    assert not queue.is_waiting(a)
    assert queue.is_waiting(b)
    assert started == [("a", False)]


def test_a_run_outside_of_the_runs_folder_trains_alone_too(started, tmp_path):
    """`train --run DIR` and `queue add`: not two at once on one computer."""
    outside = create_run(Project(title="outside"), path=tmp_path / "own" / "run")
    remember_outside(outside)
    lock = take_lock(outside.lock_path)
    (a,) = queued("a")
    other = create_run(Project(title="other"), path=tmp_path / "own" / "other")
    remember_outside(other)
    queue.enqueue(other)
    assert queue.start_next() is None
    assert queue.start_next(other.path.parent) is None
    os.close(lock)
    queue.start_next_after(outside)
    assert len(started) == 1
    assert queue.is_waiting(a) != queue.is_waiting(other)


def test_each_computer_has_a_queue_of_its_own(monkeypatch):
    locks, order = [], []

    def start(run, *, resume=False, extension=None):
        locks.append(take_lock(run.lock_path))
        if run.project().target.key == "ssh":
            write_link(run, Link(state="attached"))  # as `start_trainer` does for a run mirror
        order.append(run.request().title)
        return 1

    monkeypatch.setattr(queue, "start_trainer", start)
    hosts = {"a": "one", "b": "one", "c": "two", "d": ""}
    targets = {
        title: Choice("ssh", {"host": host}) if host else Choice("this_computer")
        for title, host in [*hosts.items(), ("e", "")]
    }
    for target in targets.values():
        remember(target)
    runs = {t: create_run(Project(title=t, target=target)) for t, target in targets.items()}
    for run in runs.values():
        queue.enqueue(run)
    assert queue.start_next() == runs["a"]
    assert order == ["a", "c", "d"], "b waits for the computer of a, e for this one"
    assert queue.start_next() is None
    os.close(locks.pop(0))
    assert queue.start_next() == runs["b"]
    for lock in locks:
        os.close(lock)


def test_nothing_waits_nothing_is_made(tmp_path):
    assert queue.start_next(tmp_path) is None
    assert list(tmp_path.iterdir()) == []


def test_a_resumed_run_waits_like_any_other(started):
    run = create_run(Project(title="half done"))
    with EventWriter(run.events_path) as writer:
        writer.write(LogLine(text="before"))
    queue.enqueue(run, resume=True)
    assert queue.is_waiting(run)
    queue.start_next()
    assert started == [("half done", True)]


def test_a_run_that_cannot_start_does_not_stop_the_queue(started, monkeypatch):
    bad = create_run(Project(title="bad", target=Choice("no_such_target")))
    good = create_run(Project(title="good"))
    inner = queue.start_trainer

    def start(run, *, resume=False, extension=None):
        if run == bad:
            raise RunError("There is no such target.", fix="Choose another target.")
        return inner(run, resume=resume)

    monkeypatch.setattr(queue, "start_trainer", start)
    queue.enqueue(bad)
    queue.enqueue(good)
    assert queue.start_next() == good
    assert not queue.is_waiting(bad)
    (finished,) = read_all(bad.events_path)
    assert isinstance(finished, RunFinished)
    assert (finished.outcome, finished.error.what) == ("failed", "There is no such target.")


def test_a_computer_that_starts_no_processes_leaves_the_queue_as_it_is(no_new_processes):
    queued("a", "b")
    with pytest.raises(RunError):
        queue.start_next()
    assert titles() == ["a", "b"]


def test_a_run_whose_folder_is_at_fault_keeps_none_from_its_turn(started):
    faulty, good = queued("faulty", "good")
    request = faulty.request_path.read_bytes()
    faulty.request_path.unlink()
    assert queue.start_next() == good
    assert queue.is_waiting(faulty), "what the system refused may pass"
    assert read_all(faulty.events_path) == []
    faulty.request_path.write_bytes(request)
    queue.start_now(faulty)
    assert [title for title, _ in started] == ["good", "faulty"]


def test_the_queue_goes_on_behind_a_run_that_cannot_even_be_logged_as_failed(started):
    faulty = create_run(Project(title="faulty"))
    faulty.events_path.mkdir()
    faulty.request_path.write_text("{")
    queue.enqueue(faulty)
    (good,) = queued("good")
    assert queue.waiting() == [faulty, good]
    assert queue.start_next() == good


def test_a_trainers_end_never_raises(monkeypatch, capsys):
    (run,) = queued("a")
    monkeypatch.setattr(queue, "start_next", lambda home: (_ for _ in ()).throw(RunError("No.")))
    queue.start_next_after(run)
    assert "No." in capsys.readouterr().err


def test_a_kill_between_start_and_marker_starts_nothing_twice(started):
    (run,) = queued("a")
    marker = (run.path / queue.MARKER_NAME).read_bytes()
    queue.start_next()
    (run.path / queue.MARKER_NAME).write_bytes(marker)
    assert queue.waiting() == [], "its trainer is running"
    with EventWriter(run.events_path) as writer:
        writer.write(LogLine(text="begun"))
    assert queue._marker_of(run) is None, "and later its log has grown"


def test_a_damaged_marker_waits_behind_the_others():
    a, b = queued("a", "b")
    (a.path / queue.MARKER_NAME).write_text("{")
    assert titles() == ["b", "a"]
    queue.move(a, -1)
    assert titles() == ["a", "b"]
    assert b in queue.waiting()


def test_cancelling_one_that_never_began_logs_it_as_stopped():
    a, b = queued("a", "b")
    queue.cancel(a)
    assert titles() == ["b"]
    events = read_all(a.events_path)
    assert isinstance(events[-1], RunFinished)
    assert events[-1].outcome == "stopped"
    with pytest.raises(RunFolderError, match="not queued"):
        queue.cancel(a)
    with pytest.raises(RunFolderError, match="not queued"):
        queue.move(a, -1)
    assert queue.enqueue(a) == 1, "it can be put in again"
    assert titles() == ["b", "a"]
    assert b in queue.waiting()


def test_cancelling_a_resumed_run_leaves_its_log_alone():
    run = create_run(Project(title="half done"))
    with EventWriter(run.events_path) as writer:
        writer.write(LogLine(text="before"))
    before = run.events_path.read_bytes()
    queue.enqueue(run, resume=True, extension=Extension(after=1, before=10, epochs=20))
    queue.cancel(run)
    assert run.events_path.read_bytes() == before
    assert run.request().to_project().recipe.epochs == 10, "it was not trained longer"


def test_starting_out_of_turn(started):
    a, b = queued("a", "b")
    queue.start_now(b)
    assert started == [("b", False)]
    assert queue.waiting() == [a]
    with pytest.raises(RunFolderError, match="not queued"):
        queue.start_now(b)


def test_a_running_run_cannot_be_queued(written):
    run = written("busy").begin()
    with pytest.raises(RunFolderError, match="already being trained"):
        queue.enqueue(run.folder)


def test_a_locked_queue_is_reported(monkeypatch):
    (run,) = queued("a")
    monkeypatch.setattr(queue, "_LOCK_WAIT_S", 0.05)
    lock = take_lock(runs_home() / QUEUE_LOCK)
    with pytest.raises(RunError, match="another process"):
        queue.cancel(run)
    os.close(lock)
    queue.cancel(run)


def test_a_read_only_home_is_reported(tmp_path, monkeypatch):
    run = create_run(Project(title="a"), home=tmp_path / "home")
    (tmp_path / "home" / QUEUE_LOCK).mkdir()
    with pytest.raises(queue.SaveError, match="cannot be changed"):
        queue.enqueue(run)


def test_three_processes_race_and_each_run_is_started_once_one_at_a_time(tmp_path):
    home = tmp_path / "home"
    runs = [create_run(Project(title=str(i)), home=home) for i in range(6)]
    for run in runs:
        queue.enqueue(run)
    order = [run.name for run in queue.waiting(home)]
    race(RACE, home, tmp_path / "go", count=3)
    started = (home / "alive.txt").read_text().split()
    assert started == ["1"] * 6, "never two trainers at once"
    while any(run.is_alive() for run in runs):
        time.sleep(0.01)
    names = (home / "started.txt").read_text().split()
    assert Counter(names) == Counter(order)
    assert names == order
    assert queue.waiting(home) == []


def test_a_run_that_was_queued_elsewhere_is_listed_but_not_started(started):
    (ours,) = queued("ours")
    text = (ours.path / queue.MARKER_NAME).read_bytes()
    queue.cancel(ours)
    theirs = create_run(Project(title="theirs"))
    for marker in (b'{"order": 1}', text):  # of another program, and copied from one of ours
        (theirs.path / queue.MARKER_NAME).write_bytes(marker)
        assert queue.waiting() == [theirs]
        assert queue.start_next() is None
        assert outcome_of(theirs).sentence() == "Queued elsewhere: it starts when you start it."
    assert started == []
    queue.start_now(theirs)
    assert started == [("theirs", False)]


def test_putting_a_run_from_elsewhere_into_the_queue_makes_it_ours(started):
    theirs = create_run(Project(title="theirs"))
    (theirs.path / queue.MARKER_NAME).write_bytes(b'{"order": 1}')
    queue.enqueue(theirs)
    assert queue.starts_by_itself(theirs)
    assert queue.start_next() == theirs
