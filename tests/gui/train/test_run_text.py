"""What a run says in words: once each, and in whole sentences where something is wrong."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from workbench.gui.common.run_text import state_words, when
from workbench.gui.kit.theme import Theme
from workbench.gui.train.log_text import LogFormatter
from workbench.gui.train.runs.run_delegate import state_color
from workbench.protocol.bases import ErrorParts
from workbench.protocol.events import (
    CheckpointKept,
    Heartbeat,
    PhaseChanged,
    Plan,
    RunStarted,
    TimeSpent,
)
from workbench.runs.library.summary import RunSummary
from workbench.runs.log.event_text import resumed_words, time_shares, time_words


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


@pytest.mark.parametrize("created", [1e300, -1e300, 2.0**63])
def test_a_number_that_is_no_moment_is_an_unknown_time(created):
    assert when(created) == "unknown"
