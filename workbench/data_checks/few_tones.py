"""Images of a few tones: values from 0 to 1 that were rounded, masks among photos."""

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
from workbench.core.format import count, plural

_FEW = 4
_LEAST_PIXELS = 64
"""Pixels of the smallest image that is checked: a smaller one has room for few tones only."""

_STATED = frozenset({"1", "P", "PA"})
"""Modes of files whose few tones are meant: one bit, palettes."""


def _find(survey: Survey) -> Iterator[Finding]:
    tones = survey.tones[survey.readable]
    is_few = (tones.levels > 1) & (tones.levels <= _FEW)
    is_large = survey.sizes[survey.readable].prod(axis=1) >= _LEAST_PIXELS
    is_meant = np.array([survey.modes[row] in _STATED for row in survey.readable], np.bool_)
    rows = survey.readable[is_few & is_large & ~is_meant]
    if not len(rows):
        return
    images = survey.found(rows)
    most = int(survey.tones.levels[rows].max())
    yield new_finding(
        SPEC.key,
        "hint" if 2 * len(rows) > len(survey.readable) else "warning",
        f"{plural(len(rows), 'image')} of at most {most} tones",
        f"{count(len(rows))} of {plural(len(survey.readable), 'image')}: at most {most} tones in "
        "each channel. Drawings and masks are so; a photo has lost its detail, for example "
        "by rounding values from 0 to 1.",
        images=images,
        actions=[leave_out(images)],
    )


SPEC = DataCheckSpec(key="few_tones", title="Few tones", order=57, find=_find)
