"""The run that a run is compared with: of the same project and images, and nearest in accuracy."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from workbench.runs.library.summary import RunSummary
from workbench.runs.log.coaching import NO_RIVAL, Rival


def rival_of(path: Path, runs: Iterable[RunSummary]) -> Rival:
    """Name and best validation accuracy of the completed run that comes nearest to a run's; a run
    that repeats its request is no rival.
    """
    listed = list(runs)
    own = next((run for run in listed if run.path == path), None)
    if own is None or not own.project_id or own.best_val_accuracy is None:
        return NO_RIVAL
    found = [
        (abs(run.best_val_accuracy - own.best_val_accuracy), run.label, run.best_val_accuracy)
        for run in listed
        if run.best_val_accuracy is not None
        and (run.project_id, run.dataset) == (own.project_id, own.dataset)
        and run.outcome == "completed"
        and run.request_key != own.request_key
    ]
    return min(found)[1:] if found else NO_RIVAL
