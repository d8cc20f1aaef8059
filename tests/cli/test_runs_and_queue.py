"""`workbench runs`, `queue`, `train --wait` and `stop`, without TensorFlow."""

from __future__ import annotations

import json
import signal
import threading
import time
from pathlib import Path

import pytest

from tests.written_runs import WrittenRun
from workbench.cli import _follow, _output, main
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import read_project
from workbench.core.storage.own_file import take_lock
from workbench.protocol.events import RunFinished
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.home import data_home
from workbench.runs.log.event_log import EventWriter, read_all
from workbench.runs.state import queue
from workbench.runs.store.notes import read_notes
from workbench.settings.store import SettingsStore


@pytest.fixture
def trainers(monkeypatch):
    """Trainers that lock their run, and end when the test lets them."""
    begun: list[WrittenRun] = []

    def start(run: RunFolder, *, resume: bool = False, extension: object = None) -> int:
        trainer = WrittenRun.__new__(WrittenRun)
        trainer.folder, trainer.epochs, trainer.step = run, 5, 0
        trainer._writer = EventWriter(run.events_path)
        trainer._lock = take_lock(run.lock_path)
        begun.append(trainer.begin())
        return 4_000_000

    monkeypatch.setattr(queue, "start_trainer", start)
    yield begun
    for trainer in begun:
        trainer.end()


@pytest.fixture
def project(tmp_path):
    path = tmp_path / "fashion.workbench"
    assert main(["new", "fashion_convnet", str(path)]) == 0
    return path


def lines(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def names(capsys, *words):
    capsys.readouterr()
    assert main(["runs", "--json", *words]) == 0
    return [line["title"] for line in lines(capsys)]


def test_a_run_has_its_number_and_title_in_all_commands(project, capsys):
    for _ in range(2):
        create_run(read_project(project), project_path=str(project))
    assert main(["runs", "rename", "2", "Tour"]) == 0
    capsys.readouterr()
    assert main(["runs"]) == 0
    second, first = capsys.readouterr().out.splitlines()
    assert second.startswith("2 · Tour ")
    assert first.startswith("1 · lr 0.001 · 5 epochs ")
    assert " fashion " in first
    assert main(["runs", "tag", "Tour", "paper"]) == main(["runs", "tag", "1", "draft"]) == 0
    assert main(["runs", "--json"]) == 0
    found = lines(capsys)[:2]
    assert [(run["number"], run["project"], run["tags"]) for run in found[:2]] == [
        (2, "fashion", ["paper"]),
        (1, "fashion", ["draft"]),
    ]


def test_runs_can_be_found(written, capsys):
    one = written("one").begin().train(3).finish()
    written("two").begin().train(1).finish("stopped")
    assert main(["runs", "tag", one.folder.name, "Paper", "two words"]) == 0
    assert read_notes(one.folder).tags == ["Paper", "two-words"]
    assert names(capsys) == ["two", "one"]
    assert names(capsys, "--tag", "paper") == ["one"]
    assert names(capsys, "--filter", "epochs>2 acc>0.7") == ["one"]
    assert names(capsys, "--filter=-tag:paper") == ["two"]
    assert main(["runs", "--filter", "nothing like this"]) == 0
    assert "No run matches" in capsys.readouterr().err


def test_runs_are_in_the_folder_that_the_settings_name(written, capsys, tmp_path):
    written("before").begin().finish()
    store = SettingsStore(data_home())
    store.change(runs_folder=str(tmp_path / "elsewhere"))
    store.close()
    assert names(capsys) == []
    run = written("after").begin().finish()
    assert run.path.parent == tmp_path / "elsewhere"
    assert names(capsys) == ["after"]
    assert main(["runs", "rename", run.folder.name, "found by name"]) == 0
    assert names(capsys) == ["found by name"]


def test_a_line_names_the_tags(written, capsys):
    one = written("one").begin().train(1).finish()
    main(["runs", "tag", str(one.path), "a", "b"])
    main(["runs", "tag", str(one.path), "--remove", "A"])
    capsys.readouterr()
    assert main(["runs"]) == 0
    out = capsys.readouterr().out
    assert "#b" in out
    assert "#a" not in out
    assert "test 75.0%" in out


def test_runs_of_several_projects_begin_with_their_project(project, tmp_path, capsys):
    """Numbers of runs count within a project: two are number 1."""
    other = tmp_path / "flowers.workbench"
    assert main(["new", "flowers_convnet", str(other)]) == 0
    for path in (project, other):
        create_run(read_project(path), project_path=str(path))
    capsys.readouterr()
    assert main(["runs"]) == 0
    second, first = capsys.readouterr().out.splitlines()
    assert second.startswith("flowers ")
    assert first.startswith("fashion ")
    assert all(" 1 · " in line for line in (first, second))


def test_a_title_with_a_new_line_imitates_no_line(capsys):
    create_run(Project(title="x\nworkbench: trusted line\x1b[2J\u202e"))
    assert main(["runs"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert "x workbench: trusted line\ufffd[2J\ufffd " in line


def test_the_columns_of_the_list_do_not_break_on_a_long_name(written, capsys):
    short = written("one").begin().train(1).finish()
    long = written("two").begin().train(12).finish()
    main(["runs", "rename", long.folder.name, "a_name_of_letters_" * 9 + "end"])
    capsys.readouterr()
    assert main(["runs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all("_end " in line or "one" in line for line in lines)
    for words in ("completed", "epoch ", "test "):
        assert len({line.index(words) for line in lines}) == 1, words
    places = {
        line.index(run.folder.name)
        for line in lines
        for run in (short, long)
        if run.folder.name in line
    }
    assert len(places) == 1
    assert max(map(len, lines)) < 200


def test_renaming_and_notes(written, capsys):
    run = written("before").begin().train(1).finish().folder
    assert main(["runs", "rename", run.name, "after"]) == 0
    assert main(["runs", "note", run.name, "Twice the\nfilters."]) == 0
    capsys.readouterr()
    assert main(["runs", "note", run.name]) == 0
    assert capsys.readouterr().out == "Twice the\nfilters.\n"
    assert names(capsys) == ["after"]
    assert main(["runs", "rename", run.name, ""]) == 0
    assert names(capsys) == ["before"]


def test_trash(written, capsys, home_trash):
    done, busy = written("done").begin().train(1).finish(), written("busy").begin()
    assert main(["runs", "trash", done.folder.name, "no_such_run"]) == 3
    assert done.path.exists(), "a wrong name: none goes"
    assert main(["runs", "trash", done.folder.name]) == 0
    assert not done.path.exists()
    assert [path.name for path in (home_trash / "files").iterdir()] == [done.folder.name]
    assert main(["runs", "trash", busy.folder.name]) != 0
    assert busy.path.exists()


def test_export(written, capsys, tmp_path):
    run = written("one").begin().train(2).finish().folder
    assert main(["runs", "export", run.name, str(tmp_path / "x.csv")]) == 0
    assert len((tmp_path / "x.csv").read_text().splitlines()) == 21
    assert len((tmp_path / "x-epochs.csv").read_text().splitlines()) == 3
    assert main(["runs", "export", run.name, str(tmp_path / "x.txt")]) == 2


def queue_lines(capsys):
    capsys.readouterr()
    assert main(["queue", "--json"]) == 0
    return [(line["place"], line["title"]) for line in lines(capsys)]


def test_the_queue_from_the_command_line(trainers, project, capsys):
    capsys.readouterr()
    assert main(["queue"]) == 0
    assert "No run is training" in capsys.readouterr().err
    for number in range(1, 4):
        capsys.readouterr()
        assert main(["queue", "add", str(project), "--json", "--epochs", str(number)]) == 0
        (answer,) = lines(capsys)
        assert answer["place"] == number - 1
        assert RunFolder(Path(answer["run"])).request().to_project().recipe.epochs == number
    assert len(trainers) == 1, "the first one found nothing before it"
    second, third = queue.waiting()
    assert main(["queue", "move", third.name, "up"]) == 0
    assert queue.waiting() == [third, second]
    assert main(["queue", "move", third.name, "back"]) == 0
    assert queue.waiting() == [second, third]
    assert main(["queue", "move", third.name, "front"]) == 0
    assert main(["queue", "cancel", second.name]) == 0
    assert [place for place, _ in queue_lines(capsys)] == [0, 1]
    assert main(["queue", "cancel", second.name]) == 3
    assert main(["queue", "resume", second.name]) == 0
    assert queue.waiting() == [third, second]
    assert main(["stop", second.name]) == 0
    assert queue.waiting() == [third]
    assert main(["queue", "start", third.name]) == 0
    assert len(trainers) == 2


def test_what_cannot_be_started_is_reported_and_listed_all_the_same(
    project, capsys, no_new_processes
):
    for title in "ab":
        queue.enqueue(create_run(Project(), title=title))
    capsys.readouterr()
    assert main(["queue", "--json"]) == 0
    captured = capsys.readouterr()
    assert [json.loads(line)["title"] for line in captured.out.splitlines()] == ["a", "b"]
    assert "could not be started" in captured.err


@pytest.mark.parametrize("command", ["add", "resume"])
def test_json_may_be_asked_before_or_after_the_word(trainers, project, capsys, written, command):
    written("busy").begin()
    for is_first in (True, False):
        name = str(project) if command == "add" else written("old").begin().end().folder.name
        words = ["--json", command, name] if is_first else [command, name, "--json"]
        capsys.readouterr()
        assert main(["queue", *words]) == 0
        assert {"place", "run"} == set(*lines(capsys))


def test_adding_does_not_take_what_only_train_does(project, capsys):
    assert main(["queue", "add", str(project), "--wait"]) == 2
    assert "--wait" in capsys.readouterr().err


def test_listing_starts_the_next_one_when_the_last_trainer_was_killed(trainers, capsys):
    queue.enqueue(create_run(Project(), title="a"))
    assert queue_lines(capsys) == [(0, "a")]
    assert len(trainers) == 1


def test_a_completed_run_is_not_queued(written, capsys):
    run = written("done").begin().train(5).finish()
    assert main(["queue", "resume", run.folder.name]) == 3
    assert "cannot be resumed" in capsys.readouterr().err


def test_train_waits_for_its_turn_and_then_follows(trainers, project, capsys, monkeypatch):
    monkeypatch.setattr(_follow, "_LOOK_S_TURN", 0.02)
    busy = WrittenRun("busy").begin()
    codes = []
    command = ["train", str(project), "--wait", "--json"]
    capsys.readouterr()
    thread = threading.Thread(target=lambda: codes.append(main(command)))
    thread.start()
    _until(queue.waiting)
    assert not trainers
    busy.finish()
    _until(lambda: trainers)
    trainers[0].finish()
    thread.join(20)
    assert codes == [0]
    events = [line["event"] for line in lines(capsys)]
    assert (events[0], events[-1]) == ("run_started", "run_finished")


def test_ctrl_c_takes_a_waiting_run_out_of_the_queue(project, capsys, monkeypatch, written):
    monkeypatch.setattr(_follow, "_LOOK_S_TURN", 0.02)
    written("busy").begin()
    is_said = threading.Event()

    def print_line(words):
        _output.print_line(words)
        is_said.set()

    def interrupt():
        is_said.wait()
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(_follow, "print_line", print_line)
    thread = threading.Thread(target=interrupt)
    thread.start()
    assert main(["train", str(project), "--wait"]) == 130
    thread.join()
    assert queue.waiting() == []
    (run,) = [run for run in queue._folders(queue.runs_home()) if not run.is_alive()]
    last = read_all(run.events_path)[-1]
    assert isinstance(last, RunFinished)
    assert last.outcome == "stopped"
    assert "Queued, next" in capsys.readouterr().err


def _until(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_filter_that_cannot_be_read_is_refused(capsys):
    assert main(["runs", "--filter", "acc>x"]) == 2
    assert "acc>x" in capsys.readouterr().err


def test_runs_made_in_a_folder_of_their_own_are_listed_by_their_path(
    project, trainers, tmp_path, capsys
):
    folder = tmp_path / "papers" / "first"
    assert main(["queue", "add", str(project), "--run", str(folder)]) == 0
    trainers[0].finish()
    inside = create_run(read_project(project), project_path=str(project))
    capsys.readouterr()
    assert main(["runs", "--json"]) == 0
    assert [line["path"] for line in lines(capsys)] == [str(inside.path), str(folder)]
    assert main(["runs"]) == 0
    own, outside = capsys.readouterr().out.splitlines()
    assert own.endswith(f" {inside.name}")
    assert outside.endswith(f" {folder}")
    assert " completed " in outside

    assert main(["runs", "tag", "first", "paper"]) == 0  # found by its name, too
    assert read_notes(RunFolder(folder)).tags == ["paper"]
    assert names(capsys, "--tag", "paper") == ["Fashion-MNIST convnet"]
    folder.rename(tmp_path / "moved")
    capsys.readouterr()
    assert main(["runs", "--json"]) == 0
    assert [line["path"] for line in lines(capsys)] == [str(inside.path)]


def test_what_comes_with_a_runs_folder_names_no_place_outside(project, written, tmp_path, capsys):
    elsewhere = tmp_path / "elsewhere"
    create_run(read_project(project), path=elsewhere)
    mine = written("mine").begin().finish()
    planted = json.dumps({"folders": [str(elsewhere)], "version": 1})
    (mine.path.parent / "outside-runs.json").write_text(planted)
    assert names(capsys) == ["mine"]
