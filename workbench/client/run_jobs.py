"""What the library of runs does in background threads. Qt-free."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.runs.environment import is_remote
from workbench.runs.folder import RunFolder
from workbench.runs.home import is_own
from workbench.runs.library.index import RunSummary, index_problem, list_runs
from workbench.runs.start import may_reattach, reattach
from workbench.runs.state.queue import start_next
from workbench.runs.trust import addresses_of, is_known, place_of

_AGAIN_S = 60.0


class AwayRuns:
    """Reconnects to runs that go on elsewhere without a run mirror here, each at most once a
    minute: a run mirror that ends at once would do so again. Only to addresses that the user has
    agreed to connect to (`runs.trust`), as are those of all runs started here.
    """

    def __init__(self) -> None:
        self._tried: dict[Path, float] = {}

    def attach(self, runs: Iterable[RunSummary]) -> WorkbenchError | None:
        """Starts a run mirror for each run that is due; returns why one could not be started."""
        problem: WorkbenchError | None = None
        now = time.monotonic()
        for summary in runs:
            if summary.outcome != "away":
                continue
            if now - self._tried.get(summary.path, -_AGAIN_S) < _AGAIN_S:
                continue
            self._tried[summary.path] = now
            run = RunFolder(summary.path)
            try:
                if _may_attach(run):
                    reattach(run)
            except WorkbenchError as error:
                if not run.is_alive():  # else another process has started it
                    problem = error
        return problem


def _may_attach(run: RunFolder) -> bool:
    """Whether it may be connected to automatically: a run folder may come from elsewhere."""
    place = place_of(run)
    # Where there is no address to connect to, a trainer would be started here instead.
    is_far = bool(addresses_of(place)) and is_remote(run.project().target)
    return is_far and is_own(run.path) and is_known(place) and may_reattach(run)


def list_and_start_next(
    home: Path, away: AwayRuns
) -> tuple[list[RunSummary], WorkbenchError | None]:
    """The list, after reconnecting runs elsewhere and starting the next of the queue; why not."""
    runs = list_runs(home)
    problem = away.attach(runs) or index_problem(home)
    is_free = not any(run.outcome in ("running", "silent") and not run.on for run in runs)
    if not (is_free and any(run.queue_place for run in runs)):
        return runs, problem
    try:
        start_next(home)
    except WorkbenchError as error:
        return runs, error
    return list_runs(home), problem
