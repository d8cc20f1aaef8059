"""Very wide or very tall images: most of such an image is cut off, or squeezed."""

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

_RATIO = 4.0
"""The long side, in short sides, from which on a square shows at most a quarter of the image."""


def _find(survey: Survey) -> Iterator[Finding]:
    sizes = np.maximum(survey.sizes, 1)
    ratios = sizes.max(axis=1) / sizes.min(axis=1)
    rows = survey.readable[ratios[survey.readable] > _RATIO]
    for row in rows[np.argsort(-ratios[rows], kind="stable")].tolist():
        image = survey.image(row)
        size = image_size_text((image.height, image.width))
        yield new_finding(
            SPEC.key,
            "hint",
            f"{size}: {ratios[row]:.1f} times as long as wide",
            "Resizing to the network's input cuts off most of this image, or squeezes it.",
            images=[image],
            actions=[leave_out([image])],
        )


SPEC = DataCheckSpec(key="extreme_shape", title="Extreme shapes", order=70, find=_find)
