"""A run in words: its state for the list, its phase for the header."""

from __future__ import annotations

import time

from workbench.gui.widgets.numbers import count, plural
from workbench.runs.history import MetricHistory
from workbench.runs.outcome import RunOutcome
from workbench.runs.summary import RunSummary


def state_words(summary: RunSummary) -> str:
    """The second line of a run in the list."""
    done = count(summary.epochs_done)
    match summary.outcome:
        case "running" if summary.epochs == 0:
            words = "starting"
        case "running":
            epoch = min(summary.epochs_done + 1, summary.epochs)
            words = f"running · epoch {count(epoch)} of {count(summary.epochs)}"
        case "waiting":
            words = _place_words(summary.queue_place)
        case "completed":
            words = f"{plural(summary.epochs_done, 'epoch')} · {when(summary.created)}"
        case "stopped" if summary.epochs_done == 0:
            words = f"stopped {_before_an_epoch(has_begun=summary.seconds > 0)}"
        case "stopped":
            words = f"stopped at epoch {done} · {when(summary.created)}"
        case "paused" if summary.epochs_done == 0:
            words = f"paused {_before_an_epoch(has_begun=summary.seconds > 0)}"
        case "paused":
            words = f"paused after {plural(summary.epochs_done, 'epoch')}"
        case "silent":
            words = "silent · its process is there"
        case _:
            words = f"{summary.outcome} · {summary.words}"
    return words


def _before_an_epoch(*, has_begun: bool) -> str:
    """Where a run ended that finished no epoch: one taken out of the queue never began."""
    return "in its first epoch" if has_begun else "before its first epoch"


def _place_words(place: int) -> str:
    """Where a run stands in the queue: 1 is the next."""
    if place <= 1:
        return "waiting · next in line"
    ordinal = {2: "2nd", 3: "3rd"}.get(place, f"{place}th")
    return f"waiting · {ordinal} in line"


def when(created: float) -> str:
    """A moment as people name it: the time today, else the day."""
    then, now = time.localtime(created), time.localtime()
    if then[:3] == now[:3]:
        return time.strftime("today %H:%M", then)
    return time.strftime("%d %b %H:%M" if then[0] == now[0] else "%d %b %Y", then)


def headline(history: MetricHistory, outcome: RunOutcome | None) -> str:
    """What a run is doing or how it ended, in a few words."""
    if outcome is not None and outcome.kind == "waiting":
        return "Waiting for its turn"
    if outcome is not None and outcome.is_over:
        return _end_words(history, outcome)
    if history.started is None and history.phase is None:
        return "Starting the trainer"
    if history.started is not None and history.last_batch is not None and _is_training(history):
        return f"Epoch {count(history.progress.epoch)} of {count(history.started.epochs)}"
    if history.phase is not None and history.phase.text:
        return history.phase.text[:1].upper() + history.phase.text[1:]
    return "Starting the trainer"


def _end_words(history: MetricHistory, outcome: RunOutcome) -> str:
    done = history.epochs[-1].epoch if history.epochs else 0
    at = f"at epoch {count(max(1, history.progress.epoch, done))}"
    if history.started is None:
        at = _before_an_epoch(has_begun=False)
    return {
        "completed": f"Completed {plural(done, 'epoch')}",
        "stopped": f"Stopped {at}",
        "paused": f"Paused {at}",
        "failed": "Training failed",
        "died": "The trainer ended early",
    }.get(outcome.kind, outcome.sentence())


def _is_training(history: MetricHistory) -> bool:
    return history.phase is None or history.phase.phase in ("training", "validating")
