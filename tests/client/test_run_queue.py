"""The library's queue, pausing and resuming, notes, and the runs shown beside the current one."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.written_runs import WrittenRun
from workbench.client import trainer_control
from workbench.client.run_library import RunLibrary
from workbench.core.projects.project import Choice, Project
from workbench.core.storage.own_file import take_lock
from workbench.errors import RunError
from workbench.protocol.events import LogLine, RunFinished
from workbench.runs.control import command_of
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.log.event_log import EventWriter
from workbench.runs.state import preparing, queue
from workbench.runs.store.notes import RunNotes, read_notes


@pytest.fixture
def library(qtbot):
    library = RunLibrary()
    yield library
    library.close()


@pytest.fixture
def trainers(monkeypatch):
    """Trainers that are started write the beginning of a run and wait for the test."""
    begun: list[tuple[WrittenRun, bool]] = []

    def start(run: RunFolder, *, resume: bool = False, extension: object = None) -> int:
        trainer = WrittenRun.__new__(WrittenRun)
        trainer.folder, trainer.epochs, trainer.step = run, 5, 0
        trainer.losses, trainer.accuracies = [], []
        trainer._writer = EventWriter(run.events_path)
        trainer._lock = take_lock(run.lock_path)
        begun.append((trainer.begin(), resume))
        return 4_000_000

    monkeypatch.setattr(queue, "start_trainer", start)
    monkeypatch.setattr(trainer_control, "start_trainer", start)
    yield begun
    for trainer, _ in begun:
        trainer.end()


@pytest.fixture
def full_disk(monkeypatch):
    monkeypatch.setattr(preparing.shutil, "disk_usage", lambda _path: SimpleNamespace(free=1))


def titles(library):
    waiting = sorted((run for run in library.runs if run.queue_place), key=lambda r: r.queue_place)
    return [run.title for run in waiting]


def open_library(qtbot, library):
    with qtbot.waitSignal(library.runs_changed):
        library.open()


def wait_for_queue(qtbot, library, *wanted):
    qtbot.waitUntil(lambda: titles(library) == list(wanted))


def test_a_run_starts_at_once_where_nothing_trains_and_the_next_ones_wait(qtbot, library, trainers):
    library.open()
    with qtbot.waitSignal(library.run_started) as started:
        library.start_run(Project(), title="one", wait=True)
    for title in ("two", "three"):
        with qtbot.waitSignal(library.run_queued):
            library.start_run(Project(), title=title, wait=True)
    wait_for_queue(qtbot, library, "two", "three")
    assert library.is_training
    assert library.num_waiting == 2
    assert str(library.current.run.path) == started.args[0], "what waits is not shown"
    assert len(trainers) == 1


def test_many_runs_can_be_queued_at_once_but_a_double_press_starts_one(qtbot, library, trainers):
    library.open()
    with qtbot.waitSignal(library.run_started):
        library.start_run(Project(), title="now")
        library.start_run(Project(), title="now")
    for title in "abc":
        library.start_run(Project(), title=title, wait=True)
    qtbot.waitUntil(lambda: library.num_waiting == 3)
    assert sorted(titles(library)) == ["a", "b", "c"]
    assert len(trainers) == 1


def test_the_next_one_is_started_when_the_last_trainer_was_killed(qtbot, library, trainers):
    library.open()
    with qtbot.waitSignal(library.run_started):
        library.start_run(Project(), title="one")
    with qtbot.waitSignal(library.run_queued):
        library.start_run(Project(), title="two", wait=True)
    wait_for_queue(qtbot, library, "two")
    with qtbot.waitSignal(library.run_ended) as ended:
        trainers[0][0].end()  # without a word
    assert ended.args[1].kind == "died"
    qtbot.waitUntil(lambda: len(trainers) == 2)
    wait_for_queue(qtbot, library)
    qtbot.waitUntil(lambda: library.follower(trainers[1][0].path) is not None)


def test_the_queue_can_be_changed(qtbot, library, trainers, written):
    written("busy").begin()
    for title in "abc":
        queue.enqueue(create_run(Project(), title=title))
    open_library(qtbot, library)
    assert titles(library) == ["a", "b", "c"]
    path = {run.title: run.path for run in library.runs}
    library.move_in_queue(path["c"], -1)
    wait_for_queue(qtbot, library, "a", "c", "b")
    library.stop(path["a"])
    wait_for_queue(qtbot, library, "c", "b")
    qtbot.waitUntil(lambda: library.summary(path["a"]) is None)
    assert not path["a"].exists(), "it never began: to the trash"
    with qtbot.waitSignal(library.run_started) as started:
        library.start_now(path["b"])
    assert started.args == [str(path["b"])]
    wait_for_queue(qtbot, library, "c")
    with qtbot.waitSignal(library.failed) as refused:
        library.move_in_queue(path["b"], 1)
    assert "not queued" in refused.args[0].what


def test_a_run_that_began_stays_when_it_leaves_the_queue(qtbot, library, trainers, written):
    written("busy").begin()
    run = paused(written)
    queue.enqueue(run.folder, resume=True)
    open_library(qtbot, library)
    wait_for_queue(qtbot, library, "half done")
    library.stop(run.path)
    wait_for_queue(qtbot, library)
    assert library.summary(run.path).outcome == "paused"


def test_one_that_cannot_go_to_the_trash_leaves_the_queue_and_says_why(
    qtbot, library, trainers, written, monkeypatch
):
    def refuse(_path):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("workbench.runs.library.trash.send2trash", refuse)
    written("busy").begin()
    run = create_run(Project(), title="a")
    queue.enqueue(run)
    open_library(qtbot, library)
    wait_for_queue(qtbot, library, "a")
    with qtbot.waitSignal(library.failed) as refused:
        library.stop(run.path)
    assert refused.args[0].what == "The run could not be moved to the trash."
    wait_for_queue(qtbot, library)
    assert library.summary(run.path).outcome == "stopped"


def test_one_that_has_just_begun_is_stopped_when_it_should_leave_the_queue(
    qtbot, library, trainers, written
):
    busy = written("busy").begin()
    run = create_run(Project(), title="a")
    queue.enqueue(run)
    open_library(qtbot, library)
    queue.start_now(run)  # by somebody else, and the list does not have it yet
    library.stop(run.path)
    qtbot.waitUntil(lambda: command_of(run) is not None)
    assert not command_of(busy.folder)


def test_a_queue_that_cannot_go_on_is_reported_once(qtbot, library, monkeypatch):
    def refuse(home):
        raise RunError("No more processes.")

    monkeypatch.setattr("workbench.client.run_library.start_next", refuse)
    queue.enqueue(create_run(Project(), title="a"))
    errors = []
    library.failed.connect(errors.append)
    open_library(qtbot, library)
    for _ in range(3):
        library.refresh()
        qtbot.waitUntil(lambda: not library._is_listing)
    assert [error.what for error in errors] == ["No more processes."]
    assert titles(library) == ["a"]


def test_pausing_and_stopping_ask_for_different_things(qtbot, library, written):
    run = written("busy").begin()
    open_library(qtbot, library)
    library.pause()
    qtbot.waitUntil(lambda: command_of(run.folder) == "pause")
    assert library.is_pausing(run.path)
    assert not library.is_stopping(run.path)
    library.stop()
    qtbot.waitUntil(lambda: command_of(run.folder) == "stop")
    assert library.is_stopping(run.path)
    assert not library.is_pausing(run.path)


def paused(written, title="half done"):
    run = written(title).begin().train(1)
    run._writer.write(
        RunFinished(
            outcome="stopped", run=run.folder.name, seconds=3.0, epochs_done=1,
            can_resume=True, is_paused=True,
        )
    )  # fmt: skip
    return run.end()


def test_a_resumed_run_is_followed_in_the_same_curves(qtbot, library, trainers, written):
    run = paused(written)
    open_library(qtbot, library)
    qtbot.waitUntil(lambda: library.current is not None and library.current.is_over)
    follower = library.current
    with qtbot.waitSignal(library.run_started):
        library.resume(run.path)
    assert trainers[0][1] is True, "from its checkpoint"
    qtbot.waitUntil(lambda: not library.current.is_over)
    assert library.current is follower
    with qtbot.waitSignal(library.run_ended):
        trainers[0][0].finish()
    assert follower.outcome.kind == "completed"


def test_a_run_resumed_elsewhere_is_followed_again(qtbot, library, trainers, written):
    run = paused(written)
    open_library(qtbot, library)
    qtbot.waitUntil(lambda: library.current is not None and library.current.is_over)
    queue.start_trainer(run.folder, resume=True)
    library.refresh()
    qtbot.waitUntil(lambda: not library.current.is_over)


def test_a_resumed_run_can_wait_for_its_turn(qtbot, library, trainers, written):
    busy = written("busy").begin()
    run = paused(written)
    open_library(qtbot, library)
    library.select(run.path)
    qtbot.waitUntil(lambda: library.current.is_over)
    with qtbot.waitSignal(library.run_queued):
        library.resume(run.path, wait=True)
    wait_for_queue(qtbot, library, "half done")
    qtbot.waitUntil(lambda: library.current.outcome.kind == "waiting")
    busy.finish()
    qtbot.waitUntil(lambda: library.current.outcome.kind == "running")
    assert trainers[0][1] is True


def test_notes_and_titles_are_kept_beside_the_run(qtbot, library, written):
    run = written("before").begin().train(1).finish()
    open_library(qtbot, library)
    library.set_notes(run.path, RunNotes(title="after", tags=["x"], text="why"))
    qtbot.waitUntil(lambda: library.runs[0].title == "after")
    assert (library.runs[0].tags, library.runs[0].note) == (["x"], "why")
    library.rename(run.path, "later")
    qtbot.waitUntil(lambda: library.runs[0].title == "later")
    assert read_notes(run.folder) == RunNotes(title="later", tags=["x"], text="why")


def test_shown_runs_are_read_and_kept_until_they_are_hidden(qtbot, library, written):
    one = written("one").begin().train(1).finish()
    two = written("two").begin().train(2).finish()
    three = written("three").begin().train(3).finish()
    open_library(qtbot, library)
    assert library.current.run.path == three.path
    library.toggle_shown(one.path)
    library.toggle_shown(str(two.path))
    assert library.shown == {one.path, two.path}
    qtbot.waitUntil(lambda: len(library.shown_histories()) == 2)
    epochs = {path: len(h.epochs) for path, h in library.shown_histories().items()}
    assert epochs == {one.path: 1, two.path: 2}
    library.select(one.path)
    library.select(two.path)
    assert library.follower(one.path) is not None, "it is still shown"
    library.toggle_shown(one.path)
    assert library.follower(one.path) is None
    assert list(library.shown_histories()) == [two.path]


def test_a_shown_run_that_trains_signals_that_it_has_grown(qtbot, library, written, monkeypatch):
    library._shown_timer.setInterval(20)
    active = written("active").begin().train(1)
    open_library(qtbot, library)
    library.toggle_shown(active.path)
    qtbot.waitUntil(lambda: active.path in library.shown_histories())
    with qtbot.waitSignal(library.shown_changed):
        active.batches([0.5])
    assert library.shown_histories()[active.path].losses[-1] == 0.5


def test_a_deleted_run_is_shown_no_longer(qtbot, library, written, home_trash):
    run = written("gone").begin().train(1).finish()
    other = written("other").begin().train(1).finish()
    open_library(qtbot, library)
    library.toggle_shown(run.path)
    library.select(run.path)
    qtbot.waitUntil(lambda: library.current.is_over)
    library.delete(run.path)
    qtbot.waitUntil(lambda: [line.path for line in library.runs] == [other.path])
    assert (home_trash / "files" / run.folder.name).is_dir()
    assert library.shown == set()
    assert library.follower(run.path) is None
    assert library.current.run.path == other.path


def test_a_run_in_the_log_of_which_nothing_happens_is_left_alone(qtbot, library, written):
    run = written("done").begin().train(1).finish()
    open_library(qtbot, library)
    qtbot.waitUntil(lambda: library.current is not None and library.current.is_over)
    library.current.go_on()
    qtbot.waitUntil(lambda: not library.current._look.isActive())
    with EventWriter(run.folder.events_path) as writer:
        writer.write(LogLine(text="later"))
    assert library.current.is_over


@pytest.mark.usefixtures("full_disk")
def test_a_run_that_lacks_disk_space_starts_where_that_is_agreed_to(qtbot, library, trainers):
    with qtbot.waitSignal(library.room_short) as short:
        library.start_run(Project(), title="one")
    assert trainers == []
    with qtbot.waitSignal(library.run_started):
        short.args[1]()
    assert len(trainers) == 1


@pytest.mark.usefixtures("full_disk", "trainers")
def test_disk_space_is_asked_about_behind_the_question_about_an_address(qtbot, library):
    far = Choice("ssh", {"host": "127.0.0.1", "port": 9})
    with qtbot.waitSignal(library.place_unknown) as unknown:
        library.start_run(Project(target=far), title="one")
    with qtbot.waitSignal(library.room_short):
        unknown.args[1]()
