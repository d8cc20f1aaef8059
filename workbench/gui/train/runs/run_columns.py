"""The columns of the table of runs: their values and sort keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench.core.format import count, duration, share
from workbench.gui.common.run_text import when
from workbench.runs.library.summary import RunSummary


@dataclass(frozen=True)
class RunColumn:
    """One column.

    Attributes:
        title: Its heading.
        width_px: Its width; 0 for the first, which takes what is left.
        value: What it is sorted by; None where a run has none, which comes last.
        words: What is written there.
        tip: What the figures are of; "" where the title says it.
    """

    title: str
    width_px: int
    value: Callable[[RunSummary], float | str | None]
    words: Callable[[RunSummary], str]
    tip: str = ""


def _number(value: float | None, show: Callable[[float], str]) -> str:
    return "–" if value is None else show(value)


def _epochs(run: RunSummary) -> str:
    return count(run.epochs_done) if run.is_over else f"{count(run.epochs_done)} / {run.epochs}"


COLUMNS: tuple[RunColumn, ...] = (
    RunColumn("Run", 0, lambda run: run.number or run.label.casefold(), lambda run: run.label),
    RunColumn("State", 84, lambda run: run.outcome, lambda run: run.state.capitalize()),
    RunColumn(
        "Val. acc.",
        76,
        lambda run: run.val_accuracy,
        lambda run: share(run.val_accuracy),
        tip="Of the saved weights, as the test accuracy; during training of those that would be "
        "saved now. The header of a run shows its best epoch.",
    ),
    RunColumn(
        "Test acc.",
        76,
        lambda run: run.test_accuracy,
        lambda run: share(run.test_accuracy),
        tip="Of the saved weights",
    ),
    RunColumn(
        "Rate", 76, lambda r: r.learning_rate, lambda r: _number(r.learning_rate, "{:g}".format)
    ),
    RunColumn(
        "Batch", 64, lambda r: r.batch_size, lambda r: _number(r.batch_size, "{:,.0f}".format)
    ),
    RunColumn("Epochs", 72, lambda run: run.epochs_done, _epochs),
    RunColumn(
        "Duration", 96, lambda run: run.seconds or None, lambda r: _number(r.seconds, duration)
    ),
    RunColumn("Date", 104, lambda run: run.created, lambda run: when(run.created)),
)

NUMBERS = range(2, 8)
"""The columns of figures, which end at the right."""
