"""A run in words: its state for the list, its phase for the header, its events for the log."""

from __future__ import annotations

import time

from workbench.gui.widgets.numbers import count, duration, plural, share
from workbench.protocol.events import (
    DataReady,
    EpochFinished,
    LogLine,
    PhaseChanged,
    RunEvent,
    RunFinished,
    RunStarted,
)
from workbench.runs.history import MetricHistory
from workbench.runs.index import RunSummary
from workbench.runs.outcome import RunOutcome

MAX_BAD_FILES = 5


def state_words(summary: RunSummary) -> str:
    """The second line of a run in the list."""
    if summary.outcome == "running":
        if summary.epochs == 0:
            return "starting"
        epoch = min(summary.epochs_done + 1, summary.epochs)
        return f"running · epoch {count(epoch)} of {count(summary.epochs)}"
    if summary.outcome == "completed":
        return f"{plural(summary.epochs_done, 'epoch')} · {when(summary.created)}"
    if summary.outcome == "stopped":
        return f"stopped at epoch {count(summary.epochs_done)} · {when(summary.created)}"
    if summary.outcome == "silent":
        return "silent · its process is there"
    return f"{summary.outcome} · {summary.words}"


def when(created: float) -> str:
    """A moment as people name it: the time today, else the day."""
    then, now = time.localtime(created), time.localtime()
    if then[:3] == now[:3]:
        return time.strftime("today %H:%M", then)
    return time.strftime("%d %b %H:%M" if then[0] == now[0] else "%d %b %Y", then)


def headline(history: MetricHistory, outcome: RunOutcome | None) -> str:
    """What a run is doing or how it ended, in a few words."""
    done = history.epochs[-1].epoch if history.epochs else 0
    if outcome is not None and outcome.is_over:
        return {
            "completed": f"Completed {plural(done, 'epoch')}",
            "stopped": f"Stopped at epoch {count(max(1, history.progress.epoch))}",
            "failed": "Training failed",
            "died": "The trainer ended early",
        }.get(outcome.kind, outcome.sentence())
    if history.started is None:
        return "Starting the trainer"
    if history.last_batch is not None and _is_training(history):
        return f"Epoch {count(history.progress.epoch)} of {count(history.started.epochs)}"
    if history.phase is not None and history.phase.text:
        return history.phase.text[:1].upper() + history.phase.text[1:]
    return "Starting the trainer"


def _is_training(history: MetricHistory) -> bool:
    return history.phase is None or history.phase.phase in ("training", "validating")


def event_words(event: RunEvent, epochs: int = 0) -> str:
    """An event as a line of the log, without its time; "" for none."""
    words = ""
    match event:
        case RunStarted():
            words = f"started on {event.target}, {event.precision}, seed {event.seed}"
            words += f". {event.plan.words}" if event.plan.words else ""
        case PhaseChanged():
            words = event.text
        case DataReady():
            words = _data_words(event)
        case EpochFinished():
            words = _epoch_words(event, epochs)
        case LogLine():
            words = event.text if event.level == "info" else f"{event.level}: {event.text}"
        case RunFinished():
            words = _finished_words(event)
    return words


def _data_words(event: DataReady) -> str:
    parts = [
        plural(event.num_train, "training picture"),
        f"{count(event.num_validation)} to validate on",
        f"{count(event.num_test)} to test on",
        plural(len(event.class_names), "class", "classes"),
        f"{plural(event.steps_per_epoch, 'step')} an epoch",
    ]
    lines = [", ".join(parts)]
    if event.bad_files:
        lines.append(f"{plural(len(event.bad_files), 'picture')} left out:")
        lines += [f"  {path}: {reason}" for path, reason in event.bad_files[:MAX_BAD_FILES]]
        if len(event.bad_files) > MAX_BAD_FILES:
            lines.append(f"  and {count(len(event.bad_files) - MAX_BAD_FILES)} more")
    return "\n".join(lines)


def _epoch_words(event: EpochFinished, epochs: int) -> str:
    of = f" of {count(epochs)}" if epochs else ""
    loss = "not finite" if event.loss is None else f"{event.loss:.4f}"
    words = f"epoch {count(event.epoch)}{of} · loss {loss} · accuracy {share(event.accuracy)}"
    if event.val_accuracy is not None:
        words += f" · validation {share(event.val_accuracy)}"
    return f"{words} · {duration(event.seconds)}"


def _finished_words(event: RunFinished) -> str:
    words = f"{event.outcome} after {duration(event.seconds)}"
    if event.test is not None and event.test.accuracy is not None:
        words += f" · test accuracy {share(event.test.accuracy)}"
    if event.error is not None:
        words += f"\n{event.error.what} {event.error.fix}".rstrip()
    return words
