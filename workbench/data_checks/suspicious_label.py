"""Images whose features resemble another class more than their own: perhaps mislabeled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from workbench.core.data_check.findings import (
    Action,
    DataCheckSpec,
    Finding,
    LabelEvidence,
    Survey,
    leave_out,
    new_finding,
)
from workbench.core.data_check.label_scores import LEAST_IMAGES
from workbench.core.format import count, list_text, plural, share

_MOST_NAMES = 5

_ENOUGH_IMAGES = 400
"""With fewer the list is as often wrong as right: `prove.sh label_errors --sizes 120,400`."""


def _find(survey: Survey) -> Iterator[Finding]:
    judged = survey.judged
    if judged is None or judged.scores is None:
        return
    scores, classes = judged.scores, judged.classes
    pairs = [(int(scores.labels[at]), int(scores.other[at])) for at in scores.listed]
    sizes = Counter(pairs)
    for at, pair in zip(scores.listed.tolist(), pairs, strict=True):
        image, other = survey.image(int(judged.rows[at])), int(classes[pair[1]])
        name = survey.class_names[other]
        near = [int(judged.rows[place]) for place in scores.nearest[at] if place >= 0]
        evidence = LabelEvidence(
            float(scores.given[at]),
            name,
            float(scores.other_probability[at]),
            tuple(survey.found(near)),
        )
        relabel = Action(
            "relabel",
            f"Relabel as “{name}”",
            labels={image.content: survey.source_name(other)},
        )
        finding = new_finding(
            SPEC.key,
            "warning",
            f"“{image.label}”, or “{name}”?",
            _message(image.label, evidence, float(scores.error[at])),
            images=[image],
            actions=[relabel, leave_out([image])],
            score=float(scores.error[at]),
        )
        group = f"“{image.label}” → “{name}”" if sizes[pair] > 1 else ""
        yield replace(finding, group=group, evidence=evidence)


def _message(label: str, evidence: LabelEvidence, error: float) -> str:
    near = list_text([f"“{image.label}”" for image in evidence.nearest])
    return (
        f"A classifier trained on the other images gives “{evidence.suggested_label}” "
        f"{share(evidence.suggested)} and its label “{label}” {share(evidence.given)}. "
        f"The label is wrong with an estimated probability of {share(error, 0)}. The most similar "
        f"images are labeled {near}. Look at it before you decide."
    )


def _notes(survey: Survey) -> Iterator[str]:
    judged = survey.judged
    if judged is None:
        return
    if judged.scores is None:
        yield (
            f"Labels were not checked: that takes {LEAST_IMAGES} images, and two classes with two "
            "different images each."
        )
        return
    if len(judged.single):
        names = [f"“{survey.class_names[label]}”" for label in judged.single[:_MOST_NAMES]]
        more = len(judged.single) - len(names)
        shown = list_text([*names, f"{count(more)} more"] if more else names)
        yield f"Labels of classes with one image were not checked: {shown}."
    scores = judged.scores
    yield (
        f"Estimated share of wrong labels: {share(scores.noise)} of {count(len(judged.rows))}. "
        f"{plural(len(scores.listed), 'label')} listed, the most probably wrong first."
    )
    if len(judged.rows) < _ENOUGH_IMAGES:
        yield (
            f"{plural(len(judged.rows), 'image')} are few to judge labels by: some wrong ones are "
            "not listed, and many of those that are listed may be right."
        )


SPEC = DataCheckSpec(
    key="suspicious_label",
    title="Suspicious labels",
    order=40,
    needs_features=True,
    find=_find,
    notes=_notes,
)
