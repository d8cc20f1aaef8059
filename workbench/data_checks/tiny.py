"""Images with hardly any pixels among much larger ones: thumbnails, icons, failed downloads."""

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
from workbench.core.format import image_size_text

_SHORT_PX = 32
_TIMES = 2
"""A data set of small images has no tiny ones: the median's short side is this many times as
long."""


def _find(survey: Survey) -> Iterator[Finding]:
    if not len(survey.readable):
        return
    short = survey.sizes.min(axis=1)
    median = float(np.median(short[survey.readable]))
    limit = min(_SHORT_PX, median / _TIMES)
    rows = survey.readable[short[survey.readable] < limit]
    for row in rows[np.argsort(short[rows], kind="stable")].tolist():
        image = survey.image(row)
        size = image_size_text((image.height, image.width))
        yield new_finding(
            SPEC.key,
            "warning",
            f"Only {size} pixels",
            f"Half of the images have at least {median:,.0f} pixels on their short side. This one "
            "has little to learn from, and is enlarged to the size of the others.",
            images=[image],
            actions=[leave_out([image])],
        )


SPEC = DataCheckSpec(key="tiny", title="Tiny images", order=60, find=_find)
