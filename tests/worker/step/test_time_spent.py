"""Where the seconds of a training go, and the advice that follows."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.worker.step.time_spent import ACTIVITIES, TimeLedger, time_advice
from workbench.worker.step.training_loop import StepResults

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
        ({"validation": 50.0, "compute": 100.0}, "memory", True, "33% of the time is validation"),
        ({"host": 50.0, "compute": 100.0}, "memory", True, "steps per execution"),
        ({"saving": 50.0, "compute": 100.0}, "memory", True, "slow disk"),
        ({"host": 50.0, "compute": 100.0, "compile": 50.0}, "memory", True, "25% of the time"),
        ({"input": 5.0, "compute": 100.0, "compile": 500.0}, "memory", True, ""),
        ({"input": 1.0, "compute": 1.0}, "memory", True, ""),
    ],
)
def test_advice_names_the_largest_loss(changes, place, is_augmenting, expected):
    seconds = {**dict.fromkeys(ACTIVITIES, 0.0), **changes}
    advice = time_advice(seconds, place=place, is_augmenting=is_augmenting)
    assert (expected in advice) if expected else advice == ""
