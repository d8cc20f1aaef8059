"""The loss grows far above guessing, or is no number any more."""

from __future__ import annotations

import math

from workbench.coach._words import NOT_SCALED, SCALE, is_scaled, rate_change, rate_words
from workbench.core.coach import CoachSpec, Diagnosis, Evidence, RunRecord

_TIMES = 10.0
"""A loss so many times that of guessing has diverged."""


_FALLS = 0.5
"""Share of the loss three epochs before, or of the first: one that falls below it comes down."""


def _look(record: RunRecord) -> Diagnosis | None:
    loss = float(record.loss[-1]) if len(record.loss) else math.nan
    is_high = loss > _TIMES * record.guessing
    if not (record.has_failed or (is_high and not _comes_down(record))):
        return None
    value = f"{loss:.2g}" if math.isfinite(loss) else "not finite"
    last = int(record.epochs[-1]) if len(record.epochs) else 0
    has_scale = is_scaled(record)
    way = "Train again " if has_scale else SCALE
    return Diagnosis(
        observation=f"The training has diverged: {_what(record, value)}, while guessing has a "
        "loss of "
        f"{record.guessing:.2g}{'' if has_scale else f': {NOT_SCALED}'}.",
        recommendation=f"{way}at a tenth of the learning rate; gradient clipping helps against "
        "single large "
        "steps.",
        evidence=Evidence(
            (("Training loss", value), ("Learning rate", rate_words(record))),
            curve="loss",
            first=min(1, last),
            last=last,
        ),
        change=rate_change(record, 0.1),
        verdict=f"Diverged: the training loss is {value}; "
        + ("a lower learning rate may help" if has_scale else NOT_SCALED),
    )


def _what(record: RunRecord, value: str) -> str:
    if record.has_failed:
        return "a value is not finite"
    grows = len(record.loss) > 1 and record.loss[-1] > record.loss[0]
    return f"the loss {'grows to' if grows else 'is still'} {value}"


def _comes_down(record: RunRecord) -> bool:
    """Whether the loss may only have begun high, as on images that are not scaled: it falls, or
    there is one epoch alone.
    """
    before = record.loss[-4:-1]
    return not len(before) or bool(record.loss[-1] < _FALLS * before[0])


SPEC = CoachSpec(
    key="diverging",
    title="Diverged",
    order=10,
    watches="divergence",
    gives_verdict=True,
    look=_look,
)
