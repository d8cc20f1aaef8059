"""Classes with many times the images of others: rare classes are then hardly learned."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.core.data_check.findings import Action, DataCheckSpec, Finding, Survey, new_finding
from workbench.core.format import plural

_TIMES = 4
"""Times the images of the smallest class that the largest has."""


def _find(survey: Survey) -> Iterator[Finding]:
    sizes = np.bincount(survey.labels[survey.readable], minlength=len(survey.class_names))
    filled = np.flatnonzero(sizes)
    if len(filled) < 2:
        return
    rare, common = filled[sizes[filled].argmin()], filled[sizes[filled].argmax()]
    if sizes[common] < _TIMES * sizes[rare]:
        return
    names = survey.class_names
    yield new_finding(
        SPEC.key,
        "warning",
        f"“{names[common]}” has {sizes[common] / sizes[rare]:.0f} times the images of "
        f"“{names[rare]}”",
        f"“{names[common]}” has {plural(int(sizes[common]), 'image')}, “{names[rare]}” "
        f"{int(sizes[rare]):,}. More images of the rare classes help most. Balanced class weights "
        "make all classes count equally in the loss.",
        actions=[
            Action("balance", "Use balanced class weights", recipe={"class_weights": "balanced"})
        ],
        about=f"{names[common]}/{names[rare]}",
    )


SPEC = DataCheckSpec(key="imbalance", title="Class imbalance", order=110, find=_find)
