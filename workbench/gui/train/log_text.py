"""A run's events as lines of its log; each piece of news is told once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from workbench.core.format import count, duration, plural, share
from workbench.protocol.events import (
    CheckpointKept,
    DataReady,
    EpochFinished,
    LogLine,
    PhaseChanged,
    RunEvent,
    RunFinished,
    RunStarted,
    TimeSpent,
)
from workbench.runs.log.event_text import checkpoint_words, resumed_words, time_words
from workbench.targets import target_title

MAX_BAD_FILES = 5
CHECKPOINT_NEWS_S = 60.0
"""Short epochs keep a checkpoint each second: the log tells one a minute."""


class LogFormatter:
    """Makes lines of events in their order, and remembers what it has told."""

    def __init__(self) -> None:
        self._phase = ""
        self._advice = ""
        self._kept_at = float("-inf")
        self._problem = ""

    def lines(self, events: Iterable[RunEvent], epochs: int = 0) -> list[tuple[float, str]]:
        """(time, words) of each event that is news; `epochs` is how many are planned."""
        told = ((event.time, self._news(event, epochs)) for event in events)
        return [(moment, words) for moment, words in told if words]

    def _news(self, event: RunEvent, epochs: int) -> str:
        match event:
            case PhaseChanged():
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
        words = event_words(event, epochs) if is_new else ""
        if words and not isinstance(event, PhaseChanged):
            self._phase = ""  # something else was told between: it may come again
        return words

    def _is_checkpoint_new(self, event: CheckpointKept) -> bool:
        problem = event.problem.what if event.problem is not None else ""
        is_changed = problem != self._problem
        self._problem = problem
        is_due = not problem and event.time >= self._kept_at + CHECKPOINT_NEWS_S
        if is_due or (is_changed and not problem):
            self._kept_at = event.time
        return is_changed or is_due


def event_words(event: RunEvent, epochs: int = 0) -> str:
    """An event as a line of the log, without its time; "" for none."""
    if isinstance(event, EpochFinished):
        return _epoch_words(event, epochs)
    words = _WORDS.get(type(event))
    return words(event) if words is not None else ""


def _started_words(event: RunStarted) -> str:
    on = f"on {target_title(event.target)}, {event.precision}"
    words = f"started {on}, seed {event.seed}"
    resumed = resumed_words(event)
    if resumed:
        words = f"{resumed[:1].lower()}{resumed[1:]}, {on}"
    return f"{words}. {event.plan.words}" if event.plan.words else words


def _data_words(event: DataReady) -> str:
    parts = [
        plural(event.num_train, "training image"),
        f"{count(event.num_validation)} validation",
        f"{count(event.num_test)} test",
        plural(len(event.class_names), "class", "classes"),
        f"{plural(event.steps_per_epoch, 'step')} per epoch",
    ]
    lines = [", ".join(parts)]
    if event.bad_files:
        lines.append(f"{plural(len(event.bad_files), 'image')} skipped:")
        lines += [f"  {path}: {reason}" for path, reason in event.bad_files[:MAX_BAD_FILES]]
        if len(event.bad_files) > MAX_BAD_FILES:
            lines.append(f"  and {count(len(event.bad_files) - MAX_BAD_FILES)} more")
    return "\n".join(lines)


def _epoch_words(event: EpochFinished, epochs: int) -> str:
    of = f" of {count(epochs)}" if epochs else ""
    loss = "NaN" if event.loss is None else f"{event.loss:.4f}"
    words = f"epoch {count(event.epoch)}{of} · loss {loss} · accuracy {share(event.accuracy)}"
    if event.val_accuracy is not None:
        words += f" · val. accuracy {share(event.val_accuracy)}"
    if event.top_k_accuracy is not None:
        words += f" · top-k accuracy {share(event.top_k_accuracy)}"
    return f"{words} · {duration(event.seconds)}"


def _finished_words(event: RunFinished) -> str:
    outcome = "paused" if event.is_paused else event.outcome
    words = f"{outcome} after {duration(event.seconds)}"
    if event.test is not None and event.test.accuracy is not None:
        words += f" · test accuracy {share(event.test.accuracy)}"
    if event.can_resume and event.error is None:
        words += " · can be resumed"
    if event.error is not None:
        words += f"\n{event.error.what} {event.error.fix}".rstrip()
    return words


_WORDS: dict[type[RunEvent], Callable[[Any], str]] = {
    RunStarted: _started_words,
    PhaseChanged: lambda event: event.text,
    DataReady: _data_words,
    TimeSpent: lambda event: ". ".join(filter(None, (time_words(event), event.advice))),
    CheckpointKept: checkpoint_words,
    LogLine: lambda e: e.text if e.level == "info" else f"{e.level}: {e.text}",
    RunFinished: _finished_words,
}
