"""The accuracy stays at chance, within the statistical error of that many images."""

from __future__ import annotations

import math

import numpy as np

from workbench.coach._words import rate_words
from workbench.core.coach import CoachSpec, Diagnosis, Evidence, RunRecord
from workbench.core.format import share

_CHANCE_EPOCHS = 4
"""Fewer epochs at chance are not worth a word: some networks take a few to begin."""

_STUCK_SHARE = 0.97
"""A training loss that has fallen below this share of its first value shows that it learns."""


def _look(record: RunRecord) -> Diagnosis | None:
    if len(record.epochs) < _CHANCE_EPOCHS:
        return None
    is_validated = bool(np.isfinite(record.val_accuracy).all())
    found = record.val_accuracy if is_validated else record.accuracy
    number = max(1, record.num_validation if is_validated else record.num_train)
    chance = 1.0 / record.num_classes
    limit = 1.05 * chance + 2.5 * math.sqrt(chance * (1.0 - chance) / number)
    losses = record.loss[np.isfinite(record.loss)]
    has_fallen = len(losses) > 1 and losses[1:].min() < _STUCK_SHARE * losses[0]
    is_above = not np.isfinite(found).any() or np.nanmax(found) > limit
    # A loss that falls from far above guessing to it has learned nothing yet.
    if is_above or (has_fallen and losses.min() < _STUCK_SHARE * record.guessing):
        return None
    return Diagnosis(
        observation=f"The accuracy stays at chance ({share(chance, 0)}) for {len(record.epochs):,} "
        "epochs: nothing is learned.",
        recommendation="Look at the labels and at the scale of the input first, then try “Find "
        "learning rate”.",
        evidence=Evidence(
            (
                ("Highest accuracy", share(float(np.nanmax(found)))),
                ("Chance", share(chance)),
                ("Learning rate", rate_words(record)),
            ),
            curve="accuracy",
            first=1,
            last=int(record.epochs[-1]),
        ),
        verdict=f"Did not learn: accuracy stays at chance ({share(chance, 0)})",
    )


SPEC = CoachSpec(
    key="not_learning",
    title="Nothing is learned",
    order=20,
    watches="accuracy at chance",
    gives_verdict=True,
    is_last_resort=True,
    look=_look,
)
