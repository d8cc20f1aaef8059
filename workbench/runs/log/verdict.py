"""The verdict on how a run learns: the gravest of what the rules of the training coach see in its
epochs; "" for a healthy one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.coach import all_coach_rules
from workbench.core.coach.advice import verdict_on
from workbench.protocol.events import DataReady, EpochFinished, RunStarted
from workbench.runs.log.epoch_record import record_of_epochs
from workbench.runs.log.event_log import complete_lines, decode_line

_TAGS = tuple(
    f'{{"event":"{tag}"'.encode() for tag in ("run_started", "epoch_finished", "data_ready")
)


def verdict(epochs: Sequence[EpochFinished], data: DataReady | None) -> str:
    """What is wrong, in a sentence without a full stop; the gravest where it is several."""
    if not epochs or data is None:
        return ""
    return verdict_on(record_of_epochs(epochs, data), all_coach_rules().values())


def logged_verdict(path: Path) -> str:
    """The verdict on a run by its event log; epochs that a resumed trainer has made void do not
    count.
    """
    data: DataReady | None = None
    epochs: list[EpochFinished] = []
    for line in complete_lines(path):
        event = decode_line(line) if line.startswith(_TAGS) else None
        if isinstance(event, DataReady):
            data = event
        elif isinstance(event, EpochFinished):
            epochs = [epoch for epoch in epochs if epoch.epoch < event.epoch] + [event]
        elif isinstance(event, RunStarted) and event.resumed_at_step is not None:
            epochs = [epoch for epoch in epochs if epoch.step <= event.resumed_at_step]
    return verdict(epochs, data)
