"""The columns of the table of runs: their values and sort keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from workbench.core.format import count, duration, share
from workbench.gui.common.run_text import when
from workbench.runs.library.summary import RunSummary

NAME = "name"
"""Key of the column with the run's name, the only one of a narrow list."""


@dataclass(frozen=True)
class RunColumn:
    """One column.

    Attributes:
        key: What it is known by.
        title: Its heading.
        width_px: Its width; 0 for the first, which takes what is left.
        value: What it is sorted by; None where a run has none, which comes last.
        words: What is written there.
        tip: What the figures are of; "" where the title says it.
        is_number: Whether it holds figures, which end at the right as their heading does.
    """

    key: str
    title: str
    width_px: int
    value: Callable[[RunSummary], float | str | None]
    words: Callable[[RunSummary], str]
    tip: str = ""
    is_number: bool = False


def _number(value: float | None, show: Callable[[float], str]) -> str:
    return "–" if value is None else show(value)


def _epochs(run: RunSummary) -> str:
    return count(run.epochs_done) if run.is_over else f"{count(run.epochs_done)} / {run.epochs}"


COLUMNS: tuple[RunColumn, ...] = (
    RunColumn(
        NAME, "Run", 0, lambda run: run.number or run.label.casefold(), lambda run: run.label
    ),
    RunColumn("state", "State", 84, lambda run: run.outcome, lambda run: run.state.capitalize()),
    RunColumn(
        "val_accuracy",
        "Val. acc.",
        76,
        lambda run: run.val_accuracy,
        lambda run: share(run.val_accuracy),
        tip="Of the saved weights, as the test accuracy; during training of those that would be "
        "saved now. The header of a run shows its best epoch.",
        is_number=True,
    ),
    RunColumn(
        "test_accuracy",
        "Test acc.",
        76,
        lambda run: run.test_accuracy,
        lambda run: share(run.test_accuracy),
        tip="Of the saved weights",
        is_number=True,
    ),
    RunColumn(
        "learning_rate",
        "Rate",
        76,
        lambda run: run.learning_rate,
        lambda run: _number(run.learning_rate, "{:g}".format),
        is_number=True,
    ),
    RunColumn(
        "batch_size",
        "Batch",
        64,
        lambda run: run.batch_size,
        lambda run: _number(run.batch_size, "{:,.0f}".format),
        is_number=True,
    ),
    RunColumn("epochs", "Epochs", 72, lambda run: run.epochs_done, _epochs, is_number=True),
    RunColumn(
        "duration",
        "Duration",
        96,
        lambda run: run.seconds or None,
        lambda run: _number(run.seconds, duration),
        is_number=True,
    ),
    RunColumn("date", "Date", 104, lambda run: run.created, lambda run: when(run.created)),
)

PLACES: Mapping[str, int] = {each.key: place for place, each in enumerate(COLUMNS)}
"""Where each column is, by its key."""
