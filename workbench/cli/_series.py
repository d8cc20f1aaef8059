"""Training a series of runs in front of a terminal, and its figures for programs."""

from __future__ import annotations

import argparse
from time import monotonic, sleep

from workbench.cli._connect import agree_on
from workbench.cli._ctrl_c import CtrlC
from workbench.cli._follow import PastEvents, follow
from workbench.cli._output import print_line
from workbench.cli._turn import wait_for_turn
from workbench.core.format import share
from workbench.core.projects.project import Choice
from workbench.runs.environment import refuse_unready
from workbench.runs.library.cross_validation import Trained, trained_run
from workbench.runs.library.series import (
    Plan,
    Spread,
    begin_series,
    call_off,
    is_settled,
    series_runs,
)
from workbench.runs.state.outcome import UNDER_WAY, outcome_of

_STOP_S = 60.0
"""A trainer that stops has a test and a checkpoint to write."""
_POLL_S = 0.1


def begin(plan: Plan, arguments: argparse.Namespace, *targets: Choice) -> str:
    """Queues the missing runs of a series and returns it, see `begin_series`.

    Args:
        plan: The series.
        arguments: With the file of the project, and whether to begin `again`.
        targets: Where; none for the project's own target.
    """
    wanted = targets or (plan.project.target,)
    agree_on(arguments, *wanted, plan.project.dataset)
    for target in wanted:
        refuse_unready(target)
    return begin_series(
        plan,
        title=plan.project.title or arguments.project.stem,
        project_path=str(arguments.project.resolve()),
        is_new=arguments.again,
    )


def run_words(each: Trained) -> str:
    """A run of a series as a line: its accuracies, or why it has none."""
    if not each.is_done:
        return f"{each.label}: {outcome_of(each.run).sentence()}"
    figures = (("validation", each.val_accuracy), ("test", each.test_accuracy))
    words = [f"{name} accuracy {share(value)}" for name, value in figures if value is not None]
    return f"{each.label}: {', '.join(words) or 'completed'}"


def train_series(series: str, *, is_quiet: bool) -> None:
    """Waits until all runs of a series, which are queued, are trained, and prints a line of each.
    Ctrl+C stops those that train, and takes the others from the queue.

    Raises:
        KeyboardInterrupt: Ctrl+C; the same command goes on with the series.
    """
    runs = [run for run in series_runs(series) if not is_settled(run)]
    # What was logged before a run is resumed ends with a finish, which is not the one to wait for.
    pasts = [PastEvents(run) for run in runs]
    for run, past in zip(runs, pasts, strict=True):
        try:
            with CtrlC(run) as ctrl_c:
                wait_for_turn(run, ctrl_c, is_quiet=is_quiet)
                for _ in follow(run, ctrl_c, past):
                    pass
        except KeyboardInterrupt:
            _call_off(series)
            if not is_quiet:
                print_line("Stopped. The same command goes on where it stopped.")
            raise
        if not is_quiet:
            print_line(run_words(trained_run(run)))


def _call_off(series: str) -> None:
    """Takes the waiting runs from the queue, and waits for those that train to stop: the same
    command would find them running otherwise, and leave them alone.
    """
    stopping = call_off(series)
    end = monotonic() + _STOP_S
    while monotonic() < end and any(outcome_of(run).kind in UNDER_WAY for run in stopping):
        sleep(_POLL_S)


def spread_as_json(spread: Spread | None) -> dict[str, float] | None:
    """Mean, standard deviation and number of values."""
    if spread is None:
        return None
    return {"mean": spread.mean, "std": spread.deviation, "count": spread.count}
