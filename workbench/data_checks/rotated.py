"""Images that EXIF says are to be turned: they are turned here, other programs may not do it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.core.data_check.findings import DataCheckSpec, Finding, Survey, new_finding
from workbench.core.format import plural


def _find(survey: Survey) -> Iterator[Finding]:
    rows = np.flatnonzero(survey.turned)
    if len(rows):
        yield new_finding(
            SPEC.key,
            "hint",
            "Turned by EXIF",
            f"{plural(len(rows), 'image')} stored sideways or upside down, with a note in EXIF how "
            "to turn them. They are turned here before training and classification; a program "
            "that ignores EXIF sees them as they are stored.",
            images=survey.found(rows),
        )


SPEC = DataCheckSpec(key="rotated", title="Rotated by EXIF", order=90, find=_find)
