"""The loss was far above guessing before it fell: large steps have thrown the weights away."""

from __future__ import annotations

import numpy as np

from workbench.coach._words import (
    NOT_SCALED,
    SCALE,
    epochs_words,
    is_scaled,
    rate_change,
    rate_words,
)
from workbench.core.coach import CoachSpec, Diagnosis, Evidence, RunRecord
from workbench.core.format import share

_TIMES = 150.0
"""A loss so many times that of guessing: networks that do without scaling may begin with 90 times,
unharmed."""

_STILL_HIGH = 10.0
"""Ratio of the loss to that of guessing above which another rule reports it, or it comes down."""


def _look(record: RunRecord) -> Diagnosis | None:
    losses = record.step_losses
    if not len(record.epochs) or record.has_failed or not np.isfinite(losses).any():
        return None
    known = np.where(np.isfinite(losses), losses, -np.inf)
    place = int(known.argmax())
    highest = float(known[place])
    is_over = float(record.loss[-1]) < _STILL_HIGH * record.guessing
    if highest < _TIMES * record.guessing or not is_over:
        return None
    after = int(np.searchsorted(record.epoch_steps, record.steps[place]))
    epoch = int(record.epochs[min(after, len(record.epochs) - 1)])
    has_scale = is_scaled(record)
    cause = "the first steps were too large" if has_scale else NOT_SCALED
    return Diagnosis(
        observation=f"The loss was up to {highest:.3g} in {epochs_words(epoch, epoch)}, where "
        "guessing "
        f"has {record.guessing:.2g}: {cause}, and less is learned since than could be.",
        recommendation=f"{'Train ' if has_scale else SCALE}at a tenth of the learning rate, or "
        "with warm-up or "
        "gradient clipping.",
        evidence=Evidence(
            (
                ("Highest loss of a step", f"{highest:.3g}"),
                ("Loss of guessing", f"{record.guessing:.2g}"),
                ("Training accuracy, last epoch", share(float(record.accuracy[-1]))),
                ("Learning rate", rate_words(record)),
            ),
            curve="loss",
            first=epoch,
            last=epoch,
        ),
        change=rate_change(record, 0.1),
    )


SPEC = CoachSpec(
    key="loss_peak",
    title="Loss far above guessing",
    order=32,
    watches="a loss far above guessing",
    look=_look,
)
