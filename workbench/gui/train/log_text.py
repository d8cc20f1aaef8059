"""A run's events as lines of its log; repetitions are left out."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec.structs import replace

from workbench.protocol.events import CheckpointKept, PhaseChanged, RunEvent, TimeSpent
from workbench.runs.log.event_text import event_text

CHECKPOINT_NEWS_S = 60.0
"""Short epochs keep a checkpoint each second: the log shows one a minute."""


_HOW_FAR = re.compile(r": [\d,.]+ of [\d,.]+$")


class LogFormatter:
    """Makes lines of events in their order, and leaves out repetitions."""

    def __init__(self) -> None:
        self._phase = ""
        self._advice = ""
        self._kept_at = float("-inf")
        self._problem = ""

    def lines(self, events: Iterable[RunEvent], epochs: int = 0) -> list[tuple[float, str]]:
        """(time, words) of each event that is news; `epochs` is how many are planned."""
        news = ((event.time, self._news(event, epochs)) for event in events)
        return [(moment, words) for moment, words in news if words]

    def _news(self, event: RunEvent, epochs: int) -> str:
        match event:
            case PhaseChanged():
                # How far it is the header shows.
                event = replace(event, text=_HOW_FAR.sub("", event.text))
                is_new = event.text != self._phase
                self._phase = event.text
            case TimeSpent():
                advice = re.sub(r"[\d.,]+", "", event.advice)  # its figures change all the time
                is_new = bool(advice) and advice != self._advice
                self._advice = advice or self._advice
            case CheckpointKept():
                is_new = self._is_checkpoint_new(event)
            case _:
                is_new = True
        words = event_text(event, epochs) if is_new else ""
        if words and not isinstance(event, PhaseChanged):
            self._phase = ""  # something else was logged between: it may come again
        return words

    def _is_checkpoint_new(self, event: CheckpointKept) -> bool:
        problem = event.problem.what if event.problem is not None else ""
        is_changed = problem != self._problem
        self._problem = problem
        is_due = not problem and event.time >= self._kept_at + CHECKPOINT_NEWS_S
        if is_due or (is_changed and not problem):
            self._kept_at = event.time
        return is_changed or is_due
