"""A run's events in words: the one table of them, for the window's log and for terminals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from workbench.core.format import count, duration, plural, share, within_sentence
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
from workbench.targets import target_title


class TimePart(NamedTuple):
    """A part of a trainer's time.

    Attributes:
        name: For programs and terminals.
        field: Name of the field of TimeSpent.
        title: What it is, in a few words.
        meaning: What is done in it.
    """

    name: str
    field: str
    title: str
    meaning: str


TIME_PARTS = (
    TimePart(
        "compute", "compute_s", "Training steps", "Forward and backward passes, weight updates"
    ),
    TimePart(
        "input", "input_s", "Input wait", "The steps wait for images: reading, decoding, augmenting"
    ),
    TimePart(
        "host",
        "host_s",
        "Host overhead",
        "Python between the steps: starting them, reading their results, writing the log",
    ),
    TimePart(
        "features",
        "features_s",
        "Frozen layers, once",
        "Outputs of the frozen layers for all images, kept for every epoch",
    ),
    TimePart(
        "compile",
        "compile_s",
        "Graph build and XLA compile",
        "The network is made into a program for this hardware, once per run",
    ),
    TimePart(
        "validation", "validation_s", "Validation", "Loss and accuracy on the validation images"
    ),
    TimePart("saving", "saving_s", "Checkpointing", "Weights and checkpoints are written"),
)

AFTER = "After training"
"""Calibration, comparison and test: beside the parts."""

BAD_FILES = 5
"""How many skipped images are named."""

_CLASSES = 30
"""Most classes of which the held-out images are listed."""


def event_text(event: RunEvent, epochs: int = 0) -> str:
    """An event as a line of the log or of a terminal, without its time.

    Args:
        event: Any event of a run.
        epochs: The planned ones; 0 when unknown.

    Returns:
        One line, or a few where files or an error are named; "" for events that have no text.
    """
    make = _TEXTS.get(type(event))
    return make(event, epochs) if make is not None else ""


def resumed_words(started: RunStarted | None) -> str:
    """Sentence with the step at which a resumed run went on, and whether its figures are those of
    one never stopped: "Resumed at step 3,121, bit-exact (as if never stopped)", by the step that
    was trained next; "" for a run from its start.
    """
    if started is None or started.resumed_at_step is None:
        return ""
    words = f"Resumed at step {started.resumed_at_step + 1:,}"
    if started.bit_exact is True:
        return f"{words}, bit-exact (as if never stopped)"
    if started.bit_exact:
        return f"{words}, not bit-exact: {'; '.join(started.bit_exact)}"
    return words


def ended_words(
    outcome: str, epochs_done: int, *, has_begun: bool = True, is_within: bool = False
) -> str:
    """How a run ended, by the epochs it has finished: "Paused after 3 epochs", or, within an epoch,
    "Stopped in epoch 4".

    Args:
        outcome: "completed", "stopped", "paused", "failed" or another word.
        epochs_done: Finished epochs, validation included.
        has_begun: Whether it has trained at all.
        is_within: It was stopped within an epoch, some steps of which are done.
    """
    word = outcome.capitalize()
    if not epochs_done:
        place = "in the first epoch" if has_begun else "before the first epoch"
        return f"{word} {place}" if outcome in ("stopped", "paused") else word
    if is_within:
        return f"{word} in epoch {count(epochs_done + 1)}"
    epochs = plural(epochs_done, "epoch")
    return f"{word} {epochs}" if outcome == "completed" else f"{word} after {epochs}"


def time_shares(spent: TimeSpent) -> list[tuple[str, float, float]]:
    """(name, seconds, share 0..1) of each part that took any time, as `TIME_PARTS`. What follows
    the last step is none of them.
    """
    parts = [(name, max(0.0, getattr(spent, field))) for name, field, *_ in TIME_PARTS]
    total = sum(seconds for _, seconds in parts)
    return [(name, seconds, seconds / total) for name, seconds in parts if total and seconds]


def time_words(spent: TimeSpent) -> str:
    """The shares, the largest first: "compute 86% · input 9% · host 5%"; or ""."""
    shares = sorted(time_shares(spent), key=lambda part: -part[2])
    words = [f"{name} {_percent(part)}" for name, _, part in shares]
    return " · ".join([*words, *filter(None, [after_words(spent)])])


def after_words(spent: TimeSpent) -> str:
    """Time after the last step in words: "after training 1 min 33 s"; "" where nothing followed."""
    return f"{AFTER.lower()} {duration(spent.after_s)}" if spent.after_s else ""


def _percent(part: float) -> str:
    return "< 1%" if part < 0.005 else f"{part * 100:.0f}%"


def _started(event: RunStarted, _epochs: int) -> str:
    on = f"on {within_sentence(target_title(event.target))}"
    resumed = resumed_words(event)
    words = f"{resumed}, {on}" if resumed else f"Started {on}, seed {event.seed}"
    return f"{words}: {event.plan.words or event.precision}"


def _data(event: DataReady, _epochs: int) -> str:
    parts = [
        plural(event.num_train, "training image"),
        f"{count(event.num_validation)} validation",
        f"{count(event.num_test)} test",
        plural(len(event.class_names), "class", "classes"),
        f"{plural(event.steps_per_epoch, 'step')} per epoch",
    ]
    lines = [", ".join(parts)]
    if event.split and len(event.per_class) <= _CLASSES:
        lines += _classes(event)
    if event.bad_files:
        lines.append(f"{plural(len(event.bad_files), 'image')} skipped:")
        lines += [f"  {path}: {reason}" for path, reason in event.bad_files[:BAD_FILES]]
    if len(event.bad_files) > BAD_FILES:
        lines.append(f"  and {count(len(event.bad_files) - BAD_FILES)} more")
    return "\n".join(lines)


def _classes(event: DataReady) -> Iterator[str]:
    """What is held out of each class."""
    for name, counts in zip(event.class_names, event.per_class, strict=False):
        named = zip(counts, ("training", "validation", "test"), strict=False)
        yield f"  {name}: {', '.join(f'{count(number)} {part}' for number, part in named)}"


def _epoch(event: EpochFinished, epochs: int) -> str:
    of = f" of {count(epochs)}" if epochs else ""
    parts = [f"Epoch {count(event.epoch)}{of}", f"loss {_loss(event.loss)}"]
    if event.accuracy is not None:
        parts.append(f"accuracy {share(event.accuracy)}")
    if event.val_accuracy is not None:
        parts.append(f"validation loss {_loss(event.val_loss)}")
        parts.append(f"validation accuracy {share(event.val_accuracy)}")
    if event.top_k_accuracy is not None:
        parts.append(f"top-k accuracy {share(event.top_k_accuracy)}")
    speed = f"{count(round(event.images_per_second))} images/s"
    return " · ".join([*parts, duration(event.seconds), speed])


def _loss(value: float | None) -> str:
    return "NaN" if value is None else f"{value:.4f}"


def _time(event: TimeSpent, _epochs: int) -> str:
    words = time_words(event)
    return ". ".join(filter(None, (words and f"Time: {words}", event.advice)))


def _checkpoint(event: CheckpointKept, _epochs: int) -> str:
    if event.problem is None:
        return f"Checkpoint saved at step {event.step:,}, epoch {event.epoch:,}"
    return " ".join(filter(None, ("No checkpoint:", event.problem.what, event.problem.fix)))


def _finished(event: RunFinished, _epochs: int) -> str:
    outcome = "paused" if event.is_paused else event.outcome
    begun, within = event.seconds > 0.0, event.ended_within
    ended = ended_words(outcome, event.epochs_done, has_begun=begun, is_within=within)
    words = f"{ended}, {duration(event.seconds)}"
    if event.test is not None and event.test.accuracy is not None:
        words += f" · test accuracy {share(event.test.accuracy)}"
    if event.verdict:
        words += f"\n{event.verdict}."
    if event.error is not None:
        return f"{words}\n{event.error.words}"
    return f"{words} · can be resumed" if event.can_resume else words


def _log_line(event: LogLine, _epochs: int) -> str:
    return event.text if event.level == "info" else f"{event.level}: {event.text}"


def _phase(event: PhaseChanged, _epochs: int) -> str:
    return event.text


_TEXTS: dict[type[RunEvent], Callable[[Any, int], str]] = {
    RunStarted: _started,
    PhaseChanged: _phase,
    DataReady: _data,
    EpochFinished: _epoch,
    TimeSpent: _time,
    CheckpointKept: _checkpoint,
    LogLine: _log_line,
    RunFinished: _finished,
}
