"""The training loss was still falling when the run ended."""

from __future__ import annotations

from workbench.core.coach import Change, CoachSpec, Diagnosis, Evidence, RunRecord
from workbench.core.format import number_text


def _look(record: RunRecord) -> Diagnosis | None:
    if len(record.epochs) < 2 or not record.loss[-1] < record.loss[-2]:
        return None
    before, last = int(record.epochs[-2]), int(record.epochs[-1])
    return Diagnosis(
        observation=f"The training loss still fell in epoch {last:,}, the last one.",
        recommendation="Train for more epochs.",
        evidence=Evidence(
            (("Training loss, last epoch", number_text(float(record.loss[-1]))),),
            curve="loss",
            first=before,
            last=last,
        ),
        change=Change(recipe={"epochs": 2 * last}),
    )


SPEC = CoachSpec(
    key="still_falling",
    title="Ended early",
    order=200,
    watches="runs that end while the loss falls",
    look=_look,
)
