from __future__ import annotations

import os

import msgspec
import pytest

from workbench.core.projects.project import Project
from workbench.core.storage.own_file import take_lock
from workbench.core.training.recipe import TrainingRecipe
from workbench.errors import SaveError
from workbench.protocol.events import BestEpoch, LogLine, RunFinished
from workbench.protocol.weights import KeptWeights
from workbench.runs.folder import create_run
from workbench.runs.home import runs_home
from workbench.runs.library import index
from workbench.runs.library import summary as summary_module
from workbench.runs.library.index import INDEX_NAME, list_runs, matches
from workbench.runs.library.summary import dataset_words
from workbench.runs.log.event_log import EventWriter
from workbench.runs.state import queue
from workbench.runs.store.notes import RunNotes, write_notes
from workbench.templates import find_template


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
    assert (summary.outcome, summary.words) == ("completed", "Training completed.")
    assert (summary.epochs_done, summary.epochs) == (2, 2)
    assert summary.best_val_accuracy == pytest.approx(0.8)
    assert summary.test_accuracy == 0.75
    assert not summary.has_model


@pytest.mark.parametrize(
    ("keep", "kept", "words"),
    [
        ("last", KeptWeights(epoch=2, val_accuracy=0.7), 0.7),
        ("best", KeptWeights(epoch=1, kind="best", val_accuracy=0.8), 0.8),
        ("last", KeptWeights(epoch=2, is_partial=True), None),
        ("last", None, 0.7),  # as runs of earlier versions, and those under way
        ("best", None, 0.8),
    ],
)
@pytest.mark.parametrize("is_over", [False, True])
def test_validation_and_test_accuracy_are_of_the_same_weights(events, keep, kept, words, is_over):
    project = Project(recipe=TrainingRecipe(keep=keep))
    run = create_run(project)
    *logged, finished = events(run)
    best = BestEpoch(epoch=1, val_accuracy=0.8, val_loss=1.0)
    with EventWriter(run.events_path) as writer:
        for event in logged:
            writer.write(event)
        if is_over:
            writer.write(msgspec.structs.replace(finished, kept=kept, best=best))
    (summary,) = list_runs()
    expected = words if is_over or words is not None else 0.7
    assert summary.val_accuracy == (None if expected is None else pytest.approx(expected))
    assert summary.best_val_accuracy == pytest.approx(0.8)
    assert matches(summary, "val>75%") == (expected == 0.8)


def test_the_epochs_done_are_counted_by_their_numbers(events):
    """Early stopping of the head leaves some out."""
    run = create_run(Project())
    with EventWriter(run.events_path) as writer:
        *logged, last, _finished = events(run)
        for event in (*logged, last, msgspec.structs.replace(last, epoch=9)):
            writer.write(event)
    assert list_runs()[0].epochs_done == 9


def test_the_second_look_reads_the_index_only(finished, monkeypatch):
    first = list_runs()
    assert (runs_home() / INDEX_NAME).is_file()
    monkeypatch.setattr(index, "summarise", lambda run: pytest.fail("read again"))
    assert list_runs() == first


def test_a_log_that_has_grown_is_read_again(finished):
    before = list_runs()
    with EventWriter(finished.events_path) as writer:
        for event in [LogLine(text="more"), RunFinished(
            outcome="stopped", run="", seconds=9.0, epochs_done=2, can_resume=True
        )]:  # fmt: skip
            writer.write(event)
    (summary,) = list_runs()
    assert before[0].outcome == "completed"
    assert (summary.outcome, summary.seconds) == ("stopped", 9.0)
    assert list_runs() == [summary]


@pytest.mark.parametrize(
    "content", [b"", b"\x93", b"{}", b"\x92\x02\x80", b"\x92\x00\x80", b"\xff" * 99]
)
def test_a_damaged_index_is_made_anew(finished, content):
    before = list_runs()
    path = runs_home() / INDEX_NAME
    good = path.read_bytes()
    path.write_bytes(content)
    assert list_runs() == before
    assert path.read_bytes() == good


def test_a_read_only_home_is_listed_all_the_same(finished, monkeypatch):
    def refuse(path, data):
        raise SaveError("That disk can only be read.")

    monkeypatch.setattr(index, "save_bytes", refuse)
    assert len(list_runs()) == 1


def test_notes_are_seen_at_once(finished):
    list_runs()
    for number in range(3):
        write_notes(finished, RunNotes(title=f"T{number}", tags=["a", f"b{number}"], text="why"))
        (summary,) = list_runs()
        assert (summary.title, summary.tags) == (f"T{number}", ["a", f"b{number}"])
        assert summary.note == "why"


def test_what_a_line_says(finished):
    (summary,) = list_runs()
    assert (summary.seconds, summary.images_per_second) == (1.5, 100.0)
    assert summary.best_loss == 1.0
    assert summary.dataset == "Fashion-MNIST"
    assert summary.parameters == 0


def test_parameters_are_those_of_the_network():
    create_run(find_template("cifar10_convnet").project)
    assert list_runs()[0].parameters == 1_676_982
    assert list_runs()[0].dataset == "CIFAR-10"


def test_a_folder_of_pictures_is_named():
    choice = {"key": "folder", "params": {"path": "/data/flowers"}}
    assert dataset_words(choice).endswith(": flowers")
    assert dataset_words({"key": "gone_plugin"}) == "gone_plugin"
    assert dataset_words(None) == dataset_words({}) == ""


def test_a_waiting_run_has_its_place_and_none_of_it_is_kept(finished):
    a, b = create_run(Project(title="a")), create_run(Project(title="b"))
    for run in (a, b, finished):
        queue.enqueue(run, resume=run == finished)
    lines = {line.title: line for line in list_runs()}
    assert {title: line.queue_place for title, line in lines.items()} == {
        "a": 1, "b": 2, "Small net": 3,
    }  # fmt: skip
    assert {line.outcome for line in lines.values()} == {"waiting"}
    assert lines["b"].words == "Queued: 1 run before it."
    assert not lines["b"].is_over
    queue.move(b, -1)
    queue.cancel(finished)
    lines = {line.title: line for line in list_runs()}
    assert [lines[title].queue_place for title in ("a", "b", "Small net")] == [2, 1, 0]
    assert lines["Small net"].outcome == "completed"


def test_of_a_finished_run_only_the_end_of_the_log_is_read(run, events, monkeypatch):
    """Same figures either way; a resumed run that was killed again is read whole."""
    *logged, end = events(run)
    filler = [LogLine(text=f"{number} " * 900) for number in range(400)]
    best = BestEpoch(epoch=1, val_accuracy=0.8, val_loss=1.0)
    with EventWriter(run.events_path) as writer:
        for event in [*logged[:4], *filler, *logged[4:], msgspec.structs.replace(end, best=best)]:
            writer.write(event)
    assert run.events_path.stat().st_size > 500_000
    assert len(summary_module._end_of_finished(run.events_path)) == 2
    short = list_runs()[0]
    (runs_home() / INDEX_NAME).unlink()
    with monkeypatch.context() as patch:
        patch.setattr(summary_module, "_end_of_finished", lambda path: [])
        assert list_runs()[0] == msgspec.structs.replace(short, epochs=2)
    with EventWriter(run.events_path) as writer:
        writer.write(msgspec.structs.replace(logged[0], resumed_at_step=3))
    assert summary_module._end_of_finished(run.events_path) == []
    assert (list_runs()[0].outcome, list_runs()[0].epochs_done) == ("died", 1)


def test_a_moved_run_is_listed_where_it_is(finished):
    list_runs()
    finished.path.rename(finished.path.parent / "moved")
    assert list_runs()[0].name == "moved"


def test_running_runs_are_not_cached(run):
    lock = take_lock(run.lock_path)
    assert list_runs()[0].outcome == "running"
    assert index._read_index(runs_home()) == {}
    os.close(lock)


def test_folders_without_a_request_and_files_are_passed_over(finished):
    (runs_home() / "notes").mkdir()
    (runs_home() / "file.txt").write_text("")
    assert [summary.path for summary in list_runs()] == [finished.path]


def test_the_newest_comes_first():
    runs = [create_run(Project(title=str(number))) for number in range(3)]
    assert [summary.title for summary in list_runs()] == ["2", "1", "0"]
    assert len(runs) == 3
