"""The training loss no longer falls, beyond its noise, though there is much left to learn."""

from __future__ import annotations

import numpy as np

from workbench.coach._words import epochs_words, rate_change, rate_words
from workbench.core.coach import CERTAIN, Change, CoachSpec, Diagnosis, Evidence, RunRecord, slope
from workbench.core.format import number_text, share
from workbench.core.training.schedules import all_schedules

_FEWEST = 6
_MOST = 20
_PART = 3
"""The last third of the epochs is looked at: at least six, at most twenty."""

_FALL = 0.01
"""Share of the loss: less in all these epochs is no progress."""

_POSSIBLE_FALL = 0.05
"""Share of the loss that it may have fallen by, within its noise; more leaves the matter open."""

_LEARNED = 0.97
"""A training accuracy from which on little is left to learn."""

_STUCK = 0.97
"""Share of the loss of guessing above which nothing has been learned: another rule's finding."""


def _look(record: RunRecord) -> Diagnosis | None:
    window = min(_MOST, max(_FEWEST, len(record.epochs) // _PART))
    if len(record.epochs) < 2 * window or not np.isfinite(record.loss[-window:]).all():
        return None
    loss, accuracy = record.loss[-window:], float(np.nanmax(record.accuracy[-window:]))
    is_done = accuracy > _LEARNED or loss.min() > _STUCK * record.guessing
    # Behind a schedule's fall the loss is meant to settle.
    if is_done or not record.is_at_full_rate[-window:].all():
        return None
    falls, error = slope(loss)
    fall, noise = -falls * (window - 1), CERTAIN * error * (window - 1)
    is_falling = fall > _FALL * float(loss[0]) or fall + noise > _POSSIBLE_FALL * float(loss[0])
    if is_falling or _validation_improves(record, window):
        return None
    first, last = int(record.epochs[-window]), int(record.epochs[-1])
    return Diagnosis(
        observation=f"Plateau: in {epochs_words(first, last)} the training loss has fallen by less "
        f"than a hundredth, at {share(accuracy, 0)} training accuracy.",
        recommendation="Reduce the learning rate on plateaus, or use a larger network.",
        evidence=Evidence(
            (
                ("Training loss, change", f"{-fall:+.4f} ± {noise:.4f}"),
                ("Training loss, last epoch", number_text(float(loss[-1]))),
                ("Learning rate", rate_words(record)),
            ),
            curve="loss",
            first=first,
            last=last,
        ),
        change=_change(record),
    )


def _validation_improves(record: RunRecord, window: int) -> bool:
    """Whether the lowest validation loss is among the last epochs, well below those before."""
    values = record.val_loss
    if not np.isfinite(values).all():
        return False
    return bool(values[-window:].min() < (1.0 - _FALL) * values[:-window].min())


def _change(record: RunRecord) -> Change | None:
    """The schedule that follows the metric; a lower rate where the recipe has it already."""
    if record.recipe is None or record.recipe.schedule_spec.follows_metric:
        return rate_change(record, 0.1)
    key = next(spec.key for spec in all_schedules().values() if spec.follows_metric)
    return Change(recipe={"schedule": key})


SPEC = CoachSpec(
    key="no_progress",
    title="No more progress",
    order=70,
    watches="plateaus",
    look=_look,
)
