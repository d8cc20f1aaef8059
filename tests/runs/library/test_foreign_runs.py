"""Runs whose files are anything else: each has its line, the others theirs, and nothing waits or
raises; `packaging/prove.sh foreign_runs` tries far more.
"""

from __future__ import annotations

import json
import shutil

import pytest

from tests.mutated_runs import CHANGED, FILES, OTHER, doors, mutated, outcome_of_door, written_base
from tests.planted_kinds import KINDS, plant_kind
from workbench.cli import main
from workbench.cli import runs as run_commands
from workbench.core.projects.project_file import graph_from_plain
from workbench.errors import WeightsError
from workbench.protocol.events import EpochFinished, LogLine
from workbench.runs.folder import RunFolder
from workbench.runs.library import summary
from workbench.runs.library.index import INDEX_NAME, list_runs
from workbench.runs.log import event_log
from workbench.runs.log.event_log import EventReader, EventWriter, complete_lines
from workbench.runs.naming import numbered_runs
from workbench.runs.store.weights_file import bytes_of_weights, read_run_weights, write_arrays


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """A folder of runs with one that is as it was, and the files of it."""
    monkeypatch.setenv("WORKBENCH_HOME", str(tmp_path))
    (tmp_path / "runs").mkdir()
    return tmp_path / "runs", written_base(tmp_path / "runs")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FILES)
def test_what_is_no_file_neither_hangs_nor_hides_the_others(runs, name, kind):
    home, base = runs
    shutil.copytree(base, home / CHANGED)
    plant_kind(home / CHANGED / name, kind)
    for _, door in doors(home):
        outcome_of_door(door)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name", [INDEX_NAME, ".run-numbers", "../known-places.json", "../settings.json"]
)
def test_what_is_no_file_beside_the_runs_hides_none(runs, name, kind):
    home, _ = runs
    plant_kind(home / name, kind)
    assert [run.name for run in list_runs(home)] == [OTHER]
    assert numbered_runs(home, "nobody") == {}


@pytest.mark.parametrize("seed", range(40))
def test_changed_files_are_shown_or_refused_in_words(runs, seed):
    home, base = runs
    next(mutated(home, base, [seed]))
    for _, door in doors(home):
        outcome_of_door(door)


def test_a_damaged_run_has_a_line_with_the_reason_and_is_read_again_once_mended(runs):
    home, base = runs
    shutil.copytree(base, home / CHANGED)
    path = home / CHANGED / "request.json"
    whole = path.read_bytes()
    path.write_bytes(b"[1]")
    line = next(run for run in list_runs(home) if run.name == CHANGED)
    assert line.words.startswith("Cannot be read: The run's request is damaged.")
    assert (line.outcome, line.is_readable, line.has_model) == ("failed", False, False)
    path.write_bytes(whole)
    assert all(run.is_readable for run in list_runs(home))


def test_any_other_exception_of_one_run_is_its_line(runs, monkeypatch):
    home, base = runs
    shutil.copytree(base, home / CHANGED)
    read = summary.read_notes

    def fail_for_one(run):
        if run.name == CHANGED:
            raise KeyError("odd")
        return read(run)

    monkeypatch.setattr(summary, "read_notes", fail_for_one)
    words = {run.name: run.words for run in list_runs(home)}
    assert words[CHANGED] == "Cannot be read: KeyError: 'odd'"
    assert "Cannot" not in words[OTHER]


def test_weights_of_another_size_or_name_are_refused_before_they_are_read(runs):
    home, _ = runs
    run = RunFolder(home / OTHER)
    card = run.model_card()
    most = 2 * bytes_of_weights(graph_from_plain(card.graph, "")) + (1 << 20)
    with run.weights_path.open("r+b") as file:
        file.truncate(most + 1)
    with pytest.raises(WeightsError, match="too long for its network"):
        read_run_weights(run.path, card)
    write_arrays(run.weights_path, {"stranger/kernel": 1.0})
    with pytest.raises(WeightsError, match="no weight of this network"):
        read_run_weights(run.path, card)


def test_a_long_log_gives_its_first_and_last_lines_and_a_short_one_all(runs, monkeypatch):
    path = runs[0] / OTHER / "events.jsonl"
    whole = list(complete_lines(path))
    assert whole == path.read_bytes().splitlines(keepends=True)
    with EventWriter(path) as writer:
        for number in range(200):
            writer.write(LogLine(text=f"line {number} " + "x" * 500))
    monkeypatch.setattr(event_log, "_WHOLE_BYTES", 40_000)
    found = list(complete_lines(path))
    assert found[: len(whole)] == whole
    assert b"line 199 " in found[-1]
    assert sum(map(len, found)) <= 40_000
    assert all(line.endswith(b"\n") and line.startswith(b"{") for line in found)


def test_figures_of_a_written_log_are_those_of_reading_all_of_it(runs):
    path = runs[0] / OTHER / "events.jsonl"
    epochs = [event for event in event_log.read_all(path) if isinstance(event, EpochFinished)]
    line = next(run for run in list_runs(runs[0]) if run.name == OTHER)
    assert line.epochs_done == len(epochs)
    assert line.val_accuracy == epochs[-1].val_accuracy


def test_a_log_without_lines_is_given_up(tmp_path, monkeypatch):
    path = tmp_path / "events.jsonl"
    plant_kind(path, "sparse")
    reader = EventReader(path)
    assert not reader.is_too_long
    (told,) = reader.read_new()
    assert reader.is_too_long
    assert "is not read" in reader.warnings[-1]
    assert isinstance(told, LogLine)
    assert told.text.startswith("The log of the run is too long: what follows byte")
    assert reader.read_new() == []


def test_a_follower_of_a_log_that_grows_too_long_is_told(runs, monkeypatch):
    path = runs[0] / OTHER / "events.jsonl"
    reader = EventReader(path)
    assert reader.read_new()
    monkeypatch.setattr(event_log, "MOST_LOG_BYTES", path.stat().st_size)
    with EventWriter(path) as writer:
        writer.write(LogLine(text="one more"))
    assert [event.text for event in reader.read_new()] == [
        f"The log of the run is too long: what follows byte {event_log.MOST_LOG_BYTES:,} is not read."
    ]
    assert reader.read_new() == []


def test_figures_that_leave_out_a_part_of_the_log_say_so(runs, monkeypatch):
    run = RunFolder(runs[0] / OTHER)
    with EventWriter(run.events_path) as writer:
        writer.write(LogLine(text="the trainer goes on"))
    assert summary.summarise(run).words.endswith(".")
    assert "leave out" not in summary.summarise(run).words
    monkeypatch.setattr(event_log, "_WHOLE_BYTES", run.events_path.stat().st_size - 1)
    assert "the figures leave out what is in its middle" in summary.summarise(run).words


@pytest.mark.parametrize("words", [["runs"], ["runs", "show", CHANGED]])
def test_the_terminal_says_why_a_run_cannot_be_read(runs, words, capsys):
    home, base = runs
    shutil.copytree(base, home / CHANGED)
    (home / CHANGED / "request.json").write_bytes(b"[1]")
    assert main(words) == 0
    assert "Cannot be read: The run's request is damaged." in capsys.readouterr().out


def test_a_run_that_has_gone_meanwhile_is_not_shown_in_silence(runs, monkeypatch, capsys):
    monkeypatch.setattr(run_commands, "summarise", lambda run: None)
    assert main(["runs", "show", OTHER]) == 3
    assert "cannot be shown" in capsys.readouterr().err


@pytest.mark.parametrize("value", [10**30, -(10**30), 1e308])
def test_a_number_without_room_hides_no_run(runs, value):
    home, base = runs
    shutil.copytree(base, home / CHANGED)
    path = home / CHANGED / "request.json"
    request = json.loads(path.read_text())
    for key in ("batch_size", "learning_rate", "epochs"):
        path.write_text(json.dumps({**request, "project": with_recipe(request, key, value)}))
        (home / INDEX_NAME).unlink(missing_ok=True)
        assert {run.name for run in list_runs(home)} == {CHANGED, OTHER}
    for key in ("number", "created"):
        path.write_text(json.dumps({**request, key: value}))
        for _, door in doors(home):
            outcome_of_door(door)


def with_recipe(request, key, value):
    project = request["project"]
    return {**project, "recipe": {**project["recipe"], key: value}}


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("data_ready", {"per_class": [[1, 2, 3], [4]]}),
        ("epoch_finished", {"step": 2**63}),
        ("epoch_finished", {"step": 2**53}),
        ("epoch_finished", {"epoch": 2**31}),
        ("run_started", {"resumed_at_step": 2**53}),
    ],
)
def test_an_event_with_wrong_lengths_or_numbers_is_left_out(runs, kind, wrong):
    home, base = runs
    shutil.copytree(base, home / CHANGED)
    path = home / CHANGED / "events.jsonl"
    lines = path.read_text().splitlines()
    at = next(at for at, line in enumerate(lines) if f'"{kind}"' in line)
    event = {**json.loads(lines[at]), **wrong}
    event.pop("c", None)  # the checksum of what it was
    lines[at] = json.dumps(event, separators=(",", ":"))
    path.write_text("\n".join(lines) + "\n")
    for _, door in doors(home):
        outcome_of_door(door)
