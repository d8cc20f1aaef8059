"""Classes without an image that can be used, or without one in a part that has others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from workbench.core.data_check.findings import DataCheckSpec, Finding, Severity, Survey, new_finding
from workbench.core.format import list_text, plural
from workbench.core.projects.data_edits import PART_NAMES

_NAMED = 6
_CONSEQUENCES: dict[str, tuple[Severity, str]] = {
    "train": ("warning", "is never learned"),
    "test": ("warning", "is not tested: the accuracy is that of the other classes"),
    "validation": ("hint", "has no part in choosing the best epoch"),
}
"""Part -> severity of a class that is absent from it, and the consequence in words."""


def _find(survey: Survey) -> Iterator[Finding]:
    size = (len(survey.class_names), len(PART_NAMES))
    counts = np.zeros(size, np.int64)
    np.add.at(counts, (survey.labels[survey.readable], survey.parts[survey.readable]), 1)
    is_there = counts.sum(axis=1) > 0
    if not is_there.all():
        names = [survey.class_names[label] for label in np.flatnonzero(~is_there)]
        yield _finding(names, "data set", "warning", "is never learned")
    for part, (severity, why) in _CONSEQUENCES.items():
        of_part = counts[:, PART_NAMES.index(part)]
        absent = np.flatnonzero(is_there & (of_part == 0))
        if of_part.any() and len(absent):
            names = [survey.class_names[label] for label in absent]
            yield _finding(names, f"{part} part", severity, why)


def _finding(names: Sequence[str], where: str, severity: Severity, why: str) -> Finding:
    more = [f"{len(names) - _NAMED:,} more"] if len(names) > _NAMED else []
    shown = list_text([*(f"“{name}”" for name in names[:_NAMED]), *more])
    classes = plural(len(names), "class", "classes")
    return new_finding(
        SPEC.key,
        severity,
        f"No image of {shown if len(names) == 1 else classes} in the {where}",
        f"The {where} has no image of {shown} that can be used. Such a class {why}.",
        about="\n".join((where, *names)),
    )


SPEC = DataCheckSpec(key="absent_class", title="Absent classes", order=108, find=_find)
