"""Median stopping: whether the other runs of its sweep leave a run behind.

A run is hopeless when its best score so far is below the median of the running averages, up to the
same epoch, of the runs that are completed: the rule of Golovin et al., "Google Vizier: A Service
for Black-Box Optimization", KDD 2017, section 3.2.1. The score is the validation accuracy, for all
runs, so that those of different losses can be compared; without validation the accuracy.

The one who decides is who writes the log here, after each epoch: the trainer, or the run mirror of
a run on another computer, where its siblings are not. So the rule needs no window and no command
that stays. It only reads logs: the numbers of a training do not depend on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from statistics import fmean, median

from workbench.core.format import plural, share
from workbench.core.training.progress_rules import epoch_score
from workbench.protocol.events import EpochFinished, RunFinished
from workbench.runs.folder import RunFolder
from workbench.runs.library.series import runs_by_label
from workbench.runs.library.summary import summary_events
from workbench.runs.state.outcome import finished_of

MIN_OTHERS = 3
"""Completed runs that a median needs: of fewer it is one run's luck."""

MEDIAN_WORDS = (
    "Median stopping: the best accuracy so far is below the median of the completed runs of the "
    "sweep."
)
"""What a trainer logs that has no siblings beside it: the run mirror has compared."""

MIN_WARM_UP = 2
_WARM_UP_SHARE = 0.25


def default_warm_up(epochs: int) -> int:
    """Epochs before a run may be stopped: a quarter of them, two at least."""
    return max(MIN_WARM_UP, round(epochs * _WARM_UP_SHARE))


class MedianRule:
    """The rule for one run.

    Args:
        run: Any run: one that is of no sweep always goes on. Raises RunFolderError where its
            request is damaged.
    """

    def __init__(self, run: RunFolder) -> None:
        request = run.request()
        self._run = run
        self._series = request.series
        self._warm_up = request.point.warm_up if request.point is not None else 0

    def stop_words(self) -> str:
        """Why the run is to end after the epochs that it has logged; "" where it may go on."""
        if not self._warm_up:
            return ""
        events = list(summary_events(self._run.events_path))
        if any(isinstance(event, RunFinished) and event.reason for event in events):
            return ""  # stopped once, and resumed by a person
        scores = _scores(event for event in events if isinstance(event, EpochFinished))
        epoch = max(scores, default=0)
        if epoch < self._warm_up:
            return ""
        bar = median_of_averages(self._others(), epoch)
        best = max(scores.values())
        return "" if bar is None or best >= bar else _words(epoch, best, bar)

    def _others(self) -> list[tuple[float, ...]]:
        """The scores of the completed other runs of the sweep."""
        found = []
        for other in runs_by_label(self._series, self._run.path.parent).values():
            finished = finished_of(other) if other.path != self._run.path else None
            if finished is not None and finished.outcome == "completed":
                found.append(_completed_scores(other.events_path, finished.seq))
        return found


def _words(epoch: int, best: float, bar: float) -> str:
    return (
        f"Median stopping after {plural(epoch, 'epoch')}: the best accuracy so far, {share(best)}, "
        f"is below {share(bar)}, the median of the completed runs of the sweep at this epoch."
    )


def median_of_averages(others: Sequence[Sequence[float]], epoch: int) -> float | None:
    """The median of the means of each run's scores up to an epoch; None for too few runs.

    Args:
        others: The scores of each completed run, epoch by epoch.
        epoch: Counted from 1.
    """
    averages = [fmean(scores[:epoch]) for scores in others if scores]
    return median(averages) if len(averages) >= MIN_OTHERS else None


@lru_cache(maxsize=512)
def _completed_scores(path: Path, _last: int) -> tuple[float, ...]:
    """The scores of a run that is over, read once for each end of its log."""
    events = (event for event in summary_events(path) if isinstance(event, EpochFinished))
    return tuple(_scores(events).values())


def _scores(events: Iterable[EpochFinished]) -> dict[int, float]:
    """The scores by epoch, in order: of one that was trained twice, after a crash, the last."""
    scores = {event.epoch: epoch_score(event, "val_accuracy")[0] for event in events}
    return dict(sorted(scores.items()))
