"""What a trainer does behind its last step, when the weights are saved: phases that each have a
bar and can be skipped.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from workbench.worker.checkpoints.prepared import TrainingJob
from workbench.worker.step.time_spent import TimeLedger

Report = Callable[[float], None]
"""Takes the fraction done, 0..1, of a phase; ends it, by an exception, where it is skipped."""

T = TypeVar("T")


class SkippedError(Exception):
    """A phase was left out on request."""


class AfterTraining:
    """Carries out one phase after the other.

    Args:
        job: Its event log gets the phases; a stop that comes from now on ends all of them.
        ledger: All of the time is booked under "after".
    """

    def __init__(self, job: TrainingJob, ledger: TimeLedger) -> None:
        self._events = job.events
        self._stop = job.stop
        self._stop.begin_after()
        ledger.begin_after()

    def phase(self, name: str, words: str, work: Callable[[Report], T]) -> T | None:
        """What `work` returns; None where it was skipped, which is logged.

        Args:
            name: As of `PhaseChanged.phase`.
            words: What is done, as "Evaluating on the test set".
            work: Called with what takes its progress.
        """
        report = partial(self._report, name, words)
        try:
            report(0.0)
            return work(report)
        except SkippedError:
            self._events.log_line(f"Skipped: {words[:1].lower()}{words[1:]}.")
            return None

    def _report(self, name: str, words: str, fraction: float) -> None:
        if self._stop.ends_all or self._stop.takes_skip():
            raise SkippedError
        self._events.phase(name, words, fraction, can_skip=True)
