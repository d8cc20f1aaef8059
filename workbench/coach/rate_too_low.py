"""The learning rate is too low: updates hardly change the weights, and the loss falls in a straight
line where it should fall fast at first.
"""

from __future__ import annotations

import math

import numpy as np

from workbench.coach._words import rate_change, rate_words
from workbench.core.coach import CoachSpec, Diagnosis, Evidence, RunRecord
from workbench.core.format import count, number_text, share

_FEWEST = 4
_NO_UPDATE = 1e-5
"""Relative update of a step below which the weights stay where they are."""

_USUAL_UPDATE = 1e-3
_LARGEST_FACTOR = 1000

_SMALL_UPDATE = 3e-4
_MOST_FALLEN = 0.25
"""Share of its first value that the loss has fallen by at most."""

_STRAIGHT = 0.6
"""The fall of the second half of the epochs as a share of that of the first: 1 is a line."""

_STEADY = 3.0
"""The largest fall of an epoch as a multiple of the smallest: a slow start is no line."""

_MUCH_LEFT = 0.5
"""Share of the loss of guessing above which there is still much to learn."""


def _look(record: RunRecord) -> Diagnosis | None:
    update = _update(record)
    if len(record.epochs) < _FEWEST or not np.isfinite(record.loss).all():
        return None
    has_no_update = update < _NO_UPDATE
    if not (has_no_update or (_is_straight(record) and not update > _SMALL_UPDATE)):
        return None
    factor = _factor(update)
    fallen = 1.0 - float(record.loss[-1] / record.loss[0])
    words = (
        f"Each step changes the weights by {update * 100:.2g}% only"
        if math.isfinite(update)
        else "The training loss falls in a straight line"
    )
    figures = [("Training loss, last epoch", number_text(float(record.loss[-1])))]
    if math.isfinite(update):
        figures.append(("Weight update per step, relative", f"{update:.1e}"))
    return Diagnosis(
        observation=f"{words}, and the training loss has {_fallen(fallen)} in "
        f"{len(record.epochs):,} epochs: the learning rate is too low.",
        recommendation=f"Train again at {count(factor)} times the learning rate, or let “Find "
        "learning rate” "
        "choose it.",
        evidence=Evidence(
            (*figures, ("Learning rate", rate_words(record))),
            curve="loss",
            first=1,
            last=int(record.epochs[-1]),
        ),
        change=rate_change(record, factor),
    )


def _fallen(part: float) -> str:
    return f"fallen by {share(part, 0)}" if part >= 0.005 else "not fallen"


def _factor(update: float) -> int:
    """The power of ten that brings the update of a step to the usual size."""
    if not 0.0 < update < _USUAL_UPDATE:
        return 10
    power: int = 10 ** round(math.log10(_USUAL_UPDATE / update))
    return min(max(10, power), _LARGEST_FACTOR)


def _update(record: RunRecord) -> float:
    """The largest of the measured relative updates at the full rate; NaN where there is none."""
    full = {int(epoch) for epoch in record.epochs[record.is_at_full_rate]}
    found = [each.update for each in record.measured if each.epoch in full]
    finite = [update for update in found if math.isfinite(update)]
    return max(finite, default=math.nan)


def _is_straight(record: RunRecord) -> bool:
    """Falls in every epoch, by nearly the same, and by little."""
    loss = record.loss[record.is_at_full_rate]
    if len(loss) < _FEWEST or loss[-1] < _MUCH_LEFT * record.guessing:
        return False
    middle = len(loss) // 2
    first, second = float(loss[0] - loss[middle]), float(loss[middle] - loss[-1])
    # Of an odd number of steps the second part may be one longer.
    second *= middle / (len(loss) - 1 - middle)
    is_small = first + second < _MOST_FALLEN * float(loss[0])
    falls = -np.diff(loss)
    # A measured update is evidence enough; without one, noise must not pass for a line.
    is_line = falls.min() > 0.0
    if math.isnan(_update(record)):
        is_line = is_line and falls.max() < _STEADY * falls.min()
    return bool(is_line) and is_small and second > _STRAIGHT * first


SPEC = CoachSpec(
    key="rate_too_low",
    title="Learning rate too low",
    order=40,
    watches="a learning rate too low",
    look=_look,
)
