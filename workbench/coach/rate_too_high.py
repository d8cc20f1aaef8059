"""The learning rate is too high, though the training has not diverged: the loss has risen above
that of guessing, or rises again and again by more than its noise.
"""

from __future__ import annotations

import numpy as np

from workbench.coach._words import NOT_SCALED, SCALE, is_scaled, rate_change, rate_words
from workbench.core.coach import CoachSpec, Diagnosis, Evidence, RunRecord
from workbench.core.format import count, number_text, share

_FEWEST = 5
_RISES = 0.3
"""Share of the epochs in which the loss has risen, from which on it is no accident."""

_CERTAIN_RISE = 3.0
"""Standard errors of the epoch's mean loss."""

_CLEAR_RISE = 0.05
"""A rise by less than this share of the loss is small, however certain."""

_ABOVE_GUESSING = 1.2
_RISEN = 1.1
"""Penalties on the weights may keep a loss above that of guessing, but it falls then."""

_LEARNED = 0.1
"""Loss, as a share of that of guessing, below which ups and downs are of no matter."""


def _look(record: RunRecord) -> Diagnosis | None:
    if len(record.epochs) < _FEWEST or not np.isfinite(record.loss).all():
        return None
    return _above_guessing(record) or _oscillates(record)


def _above_guessing(record: RunRecord) -> Diagnosis | None:
    worst = float(record.loss[-3:].min())
    has_risen = worst > _RISEN * float(record.loss[0])
    if not (worst > _ABOVE_GUESSING * record.guessing and has_risen):
        return None
    words = (
        f"The training loss has risen to {worst:.2g} and more, above the {record.guessing:.2g} of "
        "guessing: the steps are too large."
    )
    return _diagnosis(record, words, (("Loss of guessing", number_text(record.guessing)),))


def _oscillates(record: RunRecord) -> Diagnosis | None:
    loss, errors = record.loss, np.nan_to_num(record.loss_errors)
    rises = np.diff(loss)
    noise = np.hypot(errors[1:], errors[:-1]) if len(errors) == len(loss) else 0.0
    is_clear = (rises > _CERTAIN_RISE * noise) & (rises > _CLEAR_RISE * loss[:-1])
    # A rate that is raised may raise the loss for a while.
    is_steady = ~(np.diff(np.nan_to_num(record.rates)) > 0.0)
    number = int((is_clear & is_steady & (loss[1:] > _LEARNED * record.guessing)).sum())
    if number < max(2, _RISES * len(rises)):
        return None
    words = (
        f"The training loss rises in {count(number)} of {count(len(rises))} epochs by more than its"
        " noise, where it should fall steadily."
    )
    return _diagnosis(record, words, (("Epochs with a rise", share(number / len(rises), 0)),))


def _diagnosis(record: RunRecord, words: str, figures: tuple[tuple[str, str], ...]) -> Diagnosis:
    last, has_scale = record.last, is_scaled(record)
    updates = () if last is None else (("Weight update per step, relative", share(last.update, 2)),)
    return Diagnosis(
        observation=words if has_scale else f"{words} One cause: {NOT_SCALED}.",
        recommendation=f"{'Train again ' if has_scale else SCALE}at a tenth of the learning "
        "rate, or let “Find "
        "learning rate” choose it.",
        evidence=Evidence(
            (
                ("Training loss, last epoch", number_text(float(record.loss[-1]))),
                *figures,
                *updates,
                ("Learning rate", rate_words(record)),
            ),
            curve="loss",
            first=1,
            last=int(record.epochs[-1]),
        ),
        change=rate_change(record, 0.1),
    )


SPEC = CoachSpec(
    key="rate_too_high",
    title="Learning rate too high",
    order=30,
    watches="a learning rate too high",
    look=_look,
)
