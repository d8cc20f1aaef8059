"""What is wrong with how a run learns, as far as its epochs show it; "" for a healthy one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from workbench.core.format import count, share
from workbench.protocol.events import DataReady, EpochFinished, RunStarted
from workbench.runs.log.event_log import decode_line

_TAGS = tuple(
    f'{{"event":"{tag}"'.encode() for tag in ("run_started", "epoch_finished", "data_ready")
)

_CHANCE_EPOCHS = 4
"""Fewer epochs at chance are not worth a word: some networks take a few to begin."""

_STUCK_SHARE = 0.97
"""A training loss that has fallen below this share of its first value shows that it learns."""

_DIVERGED = 10.0
"""A loss so many times that of guessing has diverged."""

_RISEN = 1.1
_FALLEN = 0.9
_LATER = 5
"""Overfitting: so many epochs after its minimum the validation loss is a tenth above it, while the
training loss has fallen by a tenth. How high the minimum is counts as the median of three epochs: a
lucky one is no trend."""


def verdict(epochs: Sequence[EpochFinished], data: DataReady | None) -> str:
    """What is wrong, in a sentence without a full stop; the gravest where it is several."""
    if not epochs or data is None:
        return ""
    classes = max(2, len(data.class_names))
    return _diverged(epochs, classes) or _at_chance(epochs, data, classes) or _overfit(epochs)


def logged_verdict(path: Path) -> str:
    """The verdict on a run by its event log; epochs that a resumed trainer has made void do not
    count.
    """
    data: DataReady | None = None
    epochs: list[EpochFinished] = []
    try:
        with path.open("rb") as file:
            for line in file:
                event = decode_line(line) if line.startswith(_TAGS) else None
                if isinstance(event, DataReady):
                    data = event
                elif isinstance(event, EpochFinished):
                    epochs = [epoch for epoch in epochs if epoch.epoch < event.epoch] + [event]
                elif isinstance(event, RunStarted) and event.resumed_at_step is not None:
                    epochs = [epoch for epoch in epochs if epoch.step <= event.resumed_at_step]
    except OSError:
        return ""
    return verdict(epochs, data)


def _diverged(epochs: Sequence[EpochFinished], classes: int) -> str:
    loss = epochs[-1].loss
    if loss is None or loss <= _DIVERGED * math.log(classes):
        return ""
    return f"Diverged: the training loss is {loss:.2g}; a lower learning rate may help"


def _at_chance(epochs: Sequence[EpochFinished], data: DataReady, classes: int) -> str:
    """No better than guessing, within the statistical error of that many images."""
    if len(epochs) < _CHANCE_EPOCHS:
        return ""
    is_validated = all(epoch.val_accuracy is not None for epoch in epochs)
    found = [epoch.val_accuracy if is_validated else epoch.accuracy for epoch in epochs]
    accuracies = [value for value in found if value is not None]
    number = max(1, data.num_validation if is_validated else data.num_train)
    chance = 1.0 / classes
    limit = 1.05 * chance + 2.5 * math.sqrt(chance * (1.0 - chance) / number)
    losses = [epoch.loss for epoch in epochs if epoch.loss is not None]
    has_fallen = len(losses) > 1 and min(losses[1:]) < _STUCK_SHARE * losses[0]
    is_above = not accuracies or max(accuracies) > limit
    # A loss that falls from far above guessing to it has learned nothing yet.
    if is_above or (has_fallen and min(losses) < _STUCK_SHARE * math.log(classes)):
        return ""
    return f"Did not learn: accuracy stays at chance ({share(chance, 0)})"


def _overfit(epochs: Sequence[EpochFinished]) -> str:
    """The validation loss rises while the training loss falls, for several epochs; counted from the
    epoch of the lowest validation loss.
    """
    measured = [e for e in epochs if e.val_loss is not None and e.loss is not None]
    if len(measured) <= _LATER:
        return ""
    validation = [float(epoch.val_loss or 0.0) for epoch in measured]
    training = [float(epoch.loss or 0.0) for epoch in measured]
    smooth = [median(validation[max(0, i - 1) : i + 2]) for i in range(len(validation))]
    best = validation.index(min(validation))
    is_late = len(measured) - 1 - best >= _LATER
    has_risen = min(validation[-3:]) > _RISEN * min(smooth)
    has_fallen = max(training[-3:]) < _FALLEN * training[best]
    if not (is_late and has_risen and has_fallen):
        return ""
    since = count(measured[best].epoch)
    return f"Overfitting since epoch {since}: validation loss rises while training loss falls"
