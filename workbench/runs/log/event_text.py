"""A run's events in words: the one table of them, for the window's log and for terminals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

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
from workbench.targets import target_title

TIME_PARTS: tuple[tuple[str, str, str], ...] = (
    ("compute", "compute_s", "Training steps"),
    ("input", "input_s", "Input wait"),
    ("host", "host_s", "Host overhead"),
    ("compile", "compile_s", "Graph build and XLA compile"),
    ("validation", "validation_s", "Validation"),
    ("saving", "saving_s", "Checkpointing"),
)
"""(name, field of TimeSpent, what it is) of each part of a trainer's time."""

LOG_BAD_FILES, TERMINAL_BAD_FILES = 5, 10
"""How many skipped images are named."""


class Sentences(NamedTuple):
    """How an event is worded, given it and the planned epochs (0: unknown); "" for nothing."""

    in_log: Callable[[Any, int], str]
    in_terminal: Callable[[Any, int], str]


def log_words(event: RunEvent, epochs: int = 0) -> str:
    """An event as a line of the log, without its time; "" for none."""
    return _SENTENCES.get(type(event), _NOTHING).in_log(event, epochs)


def terminal_words(event: RunEvent, epochs: int = 0) -> str:
    """An event as a terminal shows it, in sentences; "" for none."""
    return _SENTENCES.get(type(event), _NOTHING).in_terminal(event, epochs)


def resumed_words(started: RunStarted | None) -> str:
    """Where a resumed run went on, and whether its figures are those of one never stopped:
    "Resumed at step 3,120, bit-exact"; "" for a run from its start.
    """
    if started is None or started.resumed_at_step is None:
        return ""
    words = f"Resumed at step {started.resumed_at_step:,}"
    if started.bit_exact is True:
        return f"{words}, bit-exact"
    if started.bit_exact:
        return f"{words}, not bit-exact: {'; '.join(started.bit_exact)}"
    return words


def time_shares(spent: TimeSpent) -> list[tuple[str, float, float]]:
    """(name, seconds, share 0..1) of each part that took any time, as `TIME_PARTS`."""
    parts = [(name, max(0.0, getattr(spent, field))) for name, field, _ in TIME_PARTS]
    total = sum(seconds for _, seconds in parts)
    return [(name, seconds, seconds / total) for name, seconds in parts if total and seconds]


def time_words(spent: TimeSpent) -> str:
    """The shares, the largest first: "compute 86% · input 9% · host 5%"; or ""."""
    shares = sorted(time_shares(spent), key=lambda part: -part[2])
    return " · ".join(f"{name} {_percent(part)}" for name, _, part in shares)


def _percent(part: float) -> str:
    return "< 1%" if part < 0.005 else f"{part * 100:.0f}%"


def _started_in_log(event: RunStarted, _epochs: int) -> str:
    on = f"on {target_title(event.target)}, {event.precision}"
    words = f"started {on}, seed {event.seed}"
    resumed = resumed_words(event)
    if resumed:
        words = f"{resumed[:1].lower()}{resumed[1:]}, {on}"
    return f"{words}. {event.plan.words}" if event.plan.words else words


def _started_in_terminal(event: RunStarted, _epochs: int) -> str:
    told = [f"{words}." for words in (resumed_words(event), event.plan.words) if words]
    return "\n".join([*told, f"Run folder: {event.run}"])


def _data_in_log(event: DataReady, _epochs: int) -> str:
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
        lines += [f"  {path}: {reason}" for path, reason in event.bad_files[:LOG_BAD_FILES]]
        if len(event.bad_files) > LOG_BAD_FILES:
            lines.append(f"  and {count(len(event.bad_files) - LOG_BAD_FILES)} more")
    return "\n".join(lines)


def _data_in_terminal(event: DataReady, _epochs: int) -> str:
    parts = f"{event.num_train:,} training, {event.num_validation:,} validation"
    lines = [f"{parts} and {event.num_test:,} test images, {len(event.class_names)} classes."]
    lines += [f"Skipped {path}: {why}" for path, why in event.bad_files[:TERMINAL_BAD_FILES]]
    if len(event.bad_files) > TERMINAL_BAD_FILES:
        lines.append(f"... and {len(event.bad_files) - TERMINAL_BAD_FILES:,} more images skipped.")
    return "\n".join(lines)


def _epoch_in_log(event: EpochFinished, epochs: int) -> str:
    of = f" of {count(epochs)}" if epochs else ""
    loss = "NaN" if event.loss is None else f"{event.loss:.4f}"
    words = f"epoch {count(event.epoch)}{of} · loss {loss} · accuracy {share(event.accuracy)}"
    if event.val_accuracy is not None:
        words += f" · val. accuracy {share(event.val_accuracy)}"
    if event.top_k_accuracy is not None:
        words += f" · top-k accuracy {share(event.top_k_accuracy)}"
    return f"{words} · {duration(event.seconds)}"


def _epoch_in_terminal(event: EpochFinished, epochs: int) -> str:
    figures = (
        ("loss", event.loss, ".4f"),
        ("accuracy", event.accuracy, ".1%"),
        ("validation loss", event.val_loss, ".4f"),
        ("validation accuracy", event.val_accuracy, ".1%"),
    )
    known = [f"{title} {value:{form}}" for title, value, form in figures if value is not None]
    speed = f"in {event.seconds:.1f} s, {event.images_per_second:,.0f} images/s"
    return " ".join([f"Epoch {event.epoch} of {epochs}:", *known, speed])


def _time_in_log(event: TimeSpent, _epochs: int) -> str:
    return ". ".join(filter(None, (time_words(event), event.advice)))


def _time_in_terminal(event: TimeSpent, _epochs: int) -> str:
    words = time_words(event)
    return f"Time: {words}. {event.advice}".rstrip() if words else ""


def _checkpoint_in_log(event: CheckpointKept, _epochs: int) -> str:
    """Where the run can be resumed; or why no checkpoint could be kept, and what to do."""
    if event.problem is None:
        return f"checkpoint saved at step {event.step:,}, epoch {event.epoch:,}"
    return " ".join(filter(None, ("no checkpoint:", event.problem.what, event.problem.fix)))


def _checkpoint_in_terminal(event: CheckpointKept, epochs: int) -> str:
    words = _checkpoint_in_log(event, epochs)
    return f"{words[:1].upper()}{words[1:]}"


def _outcome(event: RunFinished) -> str:
    return "paused" if event.is_paused else event.outcome


def _finished_in_log(event: RunFinished, _epochs: int) -> str:
    words = f"{_outcome(event)} after {duration(event.seconds)}"
    if event.test is not None and event.test.accuracy is not None:
        words += f" · test accuracy {share(event.test.accuracy)}"
    if event.error is not None:
        return words + f"\n{event.error.what} {event.error.fix}".rstrip()
    return f"{words} · can be resumed" if event.can_resume else words


def _finished_in_terminal(event: RunFinished, _epochs: int) -> str:
    if event.error is not None:
        return " ".join(filter(None, (event.error.what, event.error.fix)))
    epochs = "1 epoch" if event.epochs_done == 1 else f"{event.epochs_done} epochs"
    words = f"The run {_outcome(event)} after {epochs}, {event.seconds:.0f} s."
    if event.test is not None and event.test.accuracy is not None:
        words += f" Test accuracy {event.test.accuracy:.1%}."
    return words


def _log_line(event: LogLine, _epochs: int) -> str:
    return event.text if event.level == "info" else f"{event.level}: {event.text}"


def _text(event: LogLine | PhaseChanged, _epochs: int) -> str:
    return event.text


_NOTHING = Sentences(lambda _event, _epochs: "", lambda _event, _epochs: "")
_SENTENCES: dict[type[RunEvent], Sentences] = {
    RunStarted: Sentences(_started_in_log, _started_in_terminal),
    PhaseChanged: Sentences(_text, _text),
    DataReady: Sentences(_data_in_log, _data_in_terminal),
    EpochFinished: Sentences(_epoch_in_log, _epoch_in_terminal),
    TimeSpent: Sentences(_time_in_log, _time_in_terminal),
    CheckpointKept: Sentences(_checkpoint_in_log, _checkpoint_in_terminal),
    LogLine: Sentences(_log_line, _text),
    RunFinished: Sentences(_finished_in_log, _finished_in_terminal),
}
