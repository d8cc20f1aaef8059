"""Images of more than 8 bits with values beyond the value range: these are cut."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.data_check.findings import (
    DataCheckSpec,
    Finding,
    Survey,
    leave_out,
    new_finding,
)
from workbench.core.format import count, plural

_PER_MILLE = 10
"""A few hot pixels are no loss."""


def _find(survey: Survey) -> Iterator[Finding]:
    rows = survey.readable[survey.tones.cut[survey.readable] > _PER_MILLE]
    if not len(rows):
        return
    images = survey.found(rows)
    most = int(survey.tones.cut[rows].max()) / 10
    yield new_finding(
        SPEC.key,
        "warning",
        f"{plural(len(rows), 'image')} beyond the value range",
        f"{count(len(rows))} of {plural(len(survey.readable), 'image')} have values beyond black "
        f"or white, up to {most:g}% of an image: they are cut. A wider value range of the data "
        "set keeps them.",
        images=images,
        actions=[leave_out(images)],
    )


SPEC = DataCheckSpec(key="cut_tones", title="Values that are cut", order=58, find=_find)
