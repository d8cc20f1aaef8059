"""Very dark images, in which little can be seen."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.core.data_check.findings import (
    DataCheckSpec,
    Finding,
    Survey,
    leave_out,
    new_finding,
)

_DARK = 30


def _find(survey: Survey) -> Iterator[Finding]:
    means = survey.looks.luminance.mean(axis=(1, 2))
    for row in survey.readable[np.flatnonzero(means[survey.readable] < _DARK)]:
        image = survey.image(int(row))
        yield new_finding(
            SPEC.key,
            "hint",
            "Nearly black",
            f"The mean brightness is {means[row]:.0f} of 255.",
            images=[image],
            actions=[leave_out([image])],
        )


SPEC = DataCheckSpec(key="dark", title="Dark images", order=120, find=_find)
