"""What a run says in words: once each, and in whole sentences where something is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from PySide6.QtGui import QFontMetrics

from workbench.core.network.graph import Graph
from workbench.core.projects.project import new_project_id
from workbench.gui.common.run_text import elide_mode, headline, quoted_name, state_words, when
from workbench.gui.kit.theme import Theme, ui_font
from workbench.gui.train.log_panel import LogFormatter
from workbench.gui.train.runs.run_model import COLUMNS, state_color
from workbench.protocol.bases import ErrorParts
from workbench.protocol.events import (
    CheckpointKept,
    Heartbeat,
    PhaseChanged,
    Plan,
    RunStarted,
    TimeSpent,
)
from workbench.runs.folder import create_run
from workbench.runs.library.index import summarise
from workbench.runs.library.summary import RunSummary
from workbench.runs.log.history import MetricHistory
from workbench.runs.log.texts import resumed_words, time_shares, time_words
from workbench.runs.state.outcome import RunOutcome
from workbench.templates import find_template

NAME_PX = 170
"""Of a name in the list of runs and in the header, in a window of 1024 px."""


def elided(name):
    metrics = QFontMetrics(ui_font(13, weight=600))
    return metrics.elidedText(name, elide_mode(name), NAME_PX)


def test_runs_that_differ_in_a_layer_are_told_apart_where_room_is_short(qtbot):
    """Settings that most runs have give way, and what differs is whole."""
    project = replace(find_template("lenet5").project, id=new_project_id())
    nodes = list(project.graph.nodes.values())
    layer = next(node for node in nodes if node.kind == "rescaling")
    edges = project.graph.edges
    (source,) = project.graph.sources(layer.id)
    through = [
        edge if edge.source != layer.id else replace(edge, source=source)
        for edge in edges
        if edge.target != layer.id
    ]
    without = Graph.of([node for node in nodes if node is not layer], through)
    first = create_run(project)
    faster = project.recipe.with_values(learning_rate=0.002, epochs=80)
    create_run(replace(project, recipe=faster))
    second = create_run(replace(project, graph=without))
    third = create_run(project)
    names = [summarise(run).label for run in (first, second, third)]
    assert names[1:] == [
        f"3 · without {layer.name} · lr 0.001 · 12 epochs",
        f"4 · with {layer.name} · lr 0.001 · 12 epochs",
    ]
    assert f"without {layer.name}" in elided(names[1])
    assert f" with {layer.name}" in elided(names[2])
    assert "”" not in names[1], "it is quoted itself"
    title = "12 · resnet50_cosine_augmented_batch_512_seed_1"
    assert elided(title).startswith("12 · ")
    assert elided(title).endswith("_1"), "a title is known by both its ends"


def test_quotes_in_a_name_that_is_quoted_are_single(qtbot):
    run = summarise(create_run(find_template("lenet5").project))
    run = msgspec.structs.replace(run, label="2 · with Rescaling “rescaling”", project="")
    assert quoted_name(run) == "“2 · with Rescaling ‘rescaling’”"
    assert quoted_name(None) == "the run"


def _started(**fields):
    common = {
        "run": "r",
        "target": "this_computer",
        "precision": "bfloat16",
        "seed": 7,
        "versions": {},
        "plan": Plan(precision="bfloat16", words="bfloat16, 2.7× faster than float32"),
        "epochs": 5,
        "batch_size": 64,
        "pid": 1,
    }
    return RunStarted(**{**common, **fields})


def _spent(advice="", **seconds):
    fields = ("input_s", "compute_s", "host_s", "compile_s", "validation_s", "saving_s")
    return TimeSpent(**{field: seconds.get(field, 0.0) for field in fields}, advice=advice)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, ""),
        (
            {"resumed_at_step": 3120, "bit_exact": True},
            "Resumed at step 3,121, bit-exact (as if never stopped)",
        ),
        (
            {"resumed_at_step": 12, "bit_exact": ["another CPU", "TensorFlow 2.20"]},
            "Resumed at step 13, not bit-exact: another CPU; TensorFlow 2.20",
        ),
    ],
)
def test_a_resumed_run_says_whether_it_is_exact(fields, words):
    assert resumed_words(_started(**fields)) == words


def test_the_shares_of_the_time_add_up_and_name_what_took_any():
    spent = _spent(compute_s=8.6, input_s=0.9, host_s=0.499, saving_s=0.001)
    assert time_words(spent) == "compute 86% · input 9% · host 5% · saving < 1%"
    assert sum(share for _, _, share in time_shares(spent)) == pytest.approx(1.0)
    assert time_words(_spent()) == ""


def test_advice_is_logged_when_it_changes():
    formatter = LogFormatter()
    events = [_spent(f"{share}% wait: more threads.", input_s=1.0) for share in (47, 46.5, 48)]
    events.append(_spent(compute_s=1.0))
    lines = [words for _, words in formatter.lines(events)]
    assert lines == ["Time: input 100%. 47% wait: more threads."]


def test_checkpoints_are_logged_once_a_minute_and_trouble_at_once():
    formatter = LogFormatter()
    full = ErrorParts(what="The disk is full.", fix="Free some space.")
    events = [CheckpointKept(step=step, epoch=1, time=float(step)) for step in (1, 20, 59, 62)]
    events.append(CheckpointKept(step=62, epoch=1, time=63.0, problem=full))
    events.append(CheckpointKept(step=62, epoch=1, time=64.0, problem=full))
    events.append(CheckpointKept(step=65, epoch=1, time=65.0))
    assert [words for _, words in formatter.lines(events)] == [
        "Checkpoint saved at step 1, epoch 1",
        "Checkpoint saved at step 62, epoch 1",
        "No checkpoint: The disk is full. Free some space.",
        "Checkpoint saved at step 65, epoch 1",
    ]


def test_a_phase_is_logged_once_while_nothing_else_happens():
    formatter = LogFormatter()
    phase = PhaseChanged(phase="validating", text="Validating")
    beat = Heartbeat(memory_bytes=1)
    lines = formatter.lines([phase, _spent(), phase, beat, phase, _started(), phase])
    assert [words for _, words in lines].count("Validating") == 2


def test_a_phase_that_counts_is_logged_once():
    """How far it is belongs to the header: a line for each thousand images hides the rest."""
    counts = (f"Hashing the images: {done:,} of 10,000" for done in range(0, 10_000, 64))
    events = [PhaseChanged(phase="starting", text=text) for text in counts]
    assert [words for _, words in LogFormatter().lines(events)] == ["Hashing the images"]


def test_how_long_it_has_taken_is_said_of_phases_whose_end_is_waited_for_alone():
    history = MetricHistory()
    for outcome, is_timed in (
        (None, True),
        (RunOutcome("waiting", "Queued, next."), False),
        (RunOutcome("waiting", "Another wording."), False),
        (RunOutcome("away"), False),
        (RunOutcome("silent", is_far=True), True),
        (RunOutcome("running", "Epoch of the Vikings: 3 of 4 files.", is_far=True), True),
        (RunOutcome("completed"), False),
    ):
        assert headline(history, outcome).is_timed == is_timed, outcome
    history.add(PhaseChanged(phase="compiling", text="Epoch functions are compiled"))
    assert headline(history, RunOutcome("running")).is_timed


def test_a_run_that_did_not_learn_says_so_in_the_list(qapp):
    theme = Theme("light")
    words = "Did not learn: accuracy stays at chance (10%)"
    healthy = RunSummary(
        path=Path("/r"), name="r", title="r", outcome="completed", words="", created=1.0,
        epochs_done=5, epochs=5,
    )  # fmt: skip
    failed = msgspec.structs.replace(healthy, verdict=words)
    assert state_words(failed).startswith(f"{words} · ")
    assert state_color(theme, "completed", failed.verdict) == theme.colors.warning
    assert state_color(theme, "completed", healthy.verdict) == theme.colors.good


def test_a_run_on_a_full_disk_is_not_called_unresponsive():
    silent = RunSummary(
        path=Path("/r"), name="r", title="r", outcome="silent", words="", created=1.0,
        epochs_done=5, epochs=9,
    )  # fmt: skip
    full = msgspec.structs.replace(silent, is_unwritable=True)
    assert state_words(silent).startswith("Not responding")
    assert state_words(full) == "Its folder cannot be written · training continues"
    state = next(column for column in COLUMNS if column.title == "State")
    assert [state.words(run) for run in (silent, full)] == ["Not responding", "Cannot save"]


@pytest.mark.parametrize("created", [1e300, -1e300, 2.0**63])
def test_a_number_that_is_no_moment_is_an_unknown_time(created):
    assert when(created) == "unknown"
