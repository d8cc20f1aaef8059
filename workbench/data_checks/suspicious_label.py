"""Images whose features resemble another class more than their own: perhaps mislabeled."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.core.data_check.findings import Action, Finding, leave_out, new_finding
from workbench.core.data_check.label_scores import NEIGHBORS, label_scores
from workbench.core.data_check.spec import DataCheckSpec
from workbench.core.data_check.survey import Survey

_LEAST_IMAGES = 20
"""Fewer have too few neighbors to know anything from."""

_MARGIN = 0.3
"""How much better another class must fit: of photos with 5% wrong labels, half of those above are
mislabeled, and nine tenths of the mislabeled ones are above."""


def _find(survey: Survey) -> Iterator[Finding]:
    rows = survey.readable
    if survey.features is None or len(rows) < _LEAST_IMAGES:
        return
    labels, names = survey.labels[rows], survey.class_names
    if len(np.unique(labels)) < 2:
        return
    scores = label_scores(survey.features[rows], labels, len(names))
    order = np.argsort(-scores.margin, kind="stable")
    for place in order[scores.margin[order] > _MARGIN].tolist():
        image = survey.image(int(rows[place]))
        other = int(scores.other[place])
        relabel = Action(
            "relabel",
            f"Relabel as “{names[other]}”",
            labels={image.content: survey.source_name(other)},
        )
        yield new_finding(
            SPEC.key,
            "warning",
            f"“{image.label}”, or “{names[other]}”?",
            f"It is labeled “{image.label}”, but its features resemble those of “{names[other]}” "
            f"more: {scores.votes[place]} of the {NEIGHBORS} most similar images are of that "
            "class. Look at it before you decide.",
            images=[image],
            actions=[relabel, leave_out([image])],
            score=float(scores.margin[place]),
        )


SPEC = DataCheckSpec(
    key="suspicious_label",
    title="Suspicious labels",
    order=40,
    needs_features=True,
    find=_find,
)
