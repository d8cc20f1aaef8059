"""Where the seconds of a training go, and the advice that follows."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest

from workbench.runs.log.texts import time_shares, time_words
from workbench.worker.step.training_loop import ACTIVITIES, StepResults, TimeLedger, time_advice

pytestmark = pytest.mark.worker


class Clock:
    """Seconds that pass only in `wait`."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds


def call(seconds, input_s):
    return StepResults(np.zeros(1, np.float32), np.zeros(1, np.float32), seconds, input_s)


def test_every_second_is_booked_once():
    clock = Clock()
    ledger = TimeLedger(clock=clock)
    with ledger.spending("compile"):
        clock.wait(2.0)
    ledger.move(0.75, "compile", "features")
    clock.wait(3.0)
    ledger.add_call(call(3.0, 0.5), is_first=True)
    clock.wait(4.0)
    ledger.add_call(call(4.0, 1.0))
    clock.wait(0.25)
    with ledger.spending("validation"):
        clock.wait(1.0)
        with ledger.spending("saving"):
            clock.wait(0.5)
    spent = ledger.snapshot()
    seconds = [getattr(spent, f"{name}_s") for name in ACTIVITIES]
    assert dict(zip(ACTIVITIES, seconds, strict=True)) == {
        "input": 1.5,
        "compute": 3.0,
        "host": 0.25,
        "features": 0.75,
        "compile": 3.75,
        "validation": 1.0,
        "saving": 0.5,
    }
    assert sum(seconds) == clock.now - 100.0


def test_what_follows_the_last_step_is_booked_apart():
    """Neither validation nor host overhead grow by it, nor does the advice change."""
    clock = Clock()
    ledger = TimeLedger(clock=clock)
    ledger.add_call(call(6.0, 2.0))
    clock.wait(6.0)
    with ledger.spending("validation"):
        clock.wait(1.0)
    clock.wait(0.25)
    before = ledger.snapshot()
    ledger.begin_after()
    clock.wait(30.0)
    with ledger.spending("validation"):
        clock.wait(200.0)
    ledger.add_call(call(5.0, 5.0))
    after = ledger.snapshot()
    assert (before.after_s, after.after_s) == (0.0, 230.0)
    same = msgspec.structs.replace(after, after_s=0.0)
    assert same == before
    assert time_shares(after) == time_shares(before)
    assert "after training 3 min 50 s" in time_words(after)


def test_it_is_reported_at_most_once_a_second():
    clock = Clock()
    ledger = TimeLedger(clock=clock)
    assert ledger.due() is None
    clock.wait(1.0)
    assert ledger.due() is not None
    clock.wait(0.9)
    assert ledger.due() is None


@pytest.mark.parametrize(
    ("changes", "place", "is_augmenting", "expected"),
    [
        ({"input": 60.0, "compute": 100.0}, "streamed", True, "38% of the time is input wait"),
        ({"input": 60.0, "compute": 100.0}, "streamed", False, "cache decoded images"),
        ({"input": 60.0, "compute": 100.0}, "memory", True, "less augmentation"),
        ({"validation": 50.0, "compute": 100.0}, "memory", True, ""),  # nothing is known to help
        ({"host": 50.0, "compute": 100.0}, "memory", True, "use a larger batch"),
        ({"saving": 50.0, "compute": 100.0}, "memory", True, ""),
        ({"input": 60.0, "compute": 100.0}, "memory", False, ""),
        ({"host": 50.0, "compute": 100.0, "compile": 50.0}, "memory", True, "25% of the time"),
        ({"input": 5.0, "compute": 100.0, "compile": 500.0}, "memory", True, ""),
        ({"input": 1.0, "compute": 1.0}, "memory", True, ""),
    ],
)
def test_advice_names_the_largest_loss(changes, place, is_augmenting, expected):
    seconds = {**dict.fromkeys(ACTIVITIES, 0.0), **changes}
    advice = time_advice(seconds, place=place, is_augmenting=is_augmenting)
    assert (expected in advice) if expected else advice == ""
