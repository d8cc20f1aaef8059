"""Events in words that the window and the command line share."""

from __future__ import annotations

from workbench.protocol.events import CheckpointKept, RunStarted, TimeSpent

TIME_PARTS: tuple[tuple[str, str, str], ...] = (
    ("compute", "compute_s", "Training steps"),
    ("input", "input_s", "Input wait"),
    ("host", "host_s", "Host overhead"),
    ("compile", "compile_s", "Graph build and XLA compile"),
    ("validation", "validation_s", "Validation"),
    ("saving", "saving_s", "Checkpointing"),
)
"""(name, field of TimeSpent, what it is) of each part of a trainer's time."""


def resumed_words(started: RunStarted | None) -> str:
    """Where a resumed run went on, and whether its figures are those of one never stopped.

    "Resumed at step 3,120, exact to the bit"; "" for a run from its start.
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


def checkpoint_words(event: CheckpointKept) -> str:
    """Where the run can be resumed; or why no checkpoint could be kept, and what to do."""
    if event.problem is None:
        return f"checkpoint saved at step {event.step:,}, epoch {event.epoch:,}"
    return " ".join(filter(None, ("no checkpoint:", event.problem.what, event.problem.fix)))
