"""Images in which nothing can be seen: nearly black, nearly white, or of one color."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from workbench.core.data_check.findings import (
    DataCheckSpec,
    Finding,
    Mask,
    Survey,
    leave_out,
    new_finding,
)
from workbench.core.format import count, plural

_BLACK, _WHITE = 32, 223
"""Tones of 0 to 255: an eighth of the range at either end."""

_REASONS = {
    "of one color": "All pixels are the same.",
    "nearly black": f"No channel of them goes beyond {_BLACK} of 255.",
    "nearly white": f"No channel of them goes below {_WHITE} of 255.",
}


def _find(survey: Survey) -> Iterator[Finding]:
    tones = survey.tones[survey.readable]
    is_uniform = tones.levels == 1
    is_so: dict[str, Mask] = {
        "of one color": is_uniform,
        "nearly black": ~is_uniform & (tones.bright <= _BLACK),
        "nearly white": ~is_uniform & (tones.dark >= _WHITE),
    }
    for words, mask in is_so.items():
        if mask.any():
            yield _finding(survey, survey.readable[mask], words)


def _finding(
    survey: Survey, rows: np.ndarray[tuple[int], np.dtype[np.int64]], words: str
) -> Finding:
    images = survey.found(rows)
    of_all = f"{count(len(rows))} of {plural(len(survey.readable), 'image')}"
    hint = ""
    if 2 * len(rows) > len(survey.readable):
        hint = " So many are a sign that black and white were read wrongly: see the value range."
    return new_finding(
        SPEC.key,
        "warning",
        f"{plural(len(rows), 'image')} {words}",
        f"{of_all}: {words}. {_REASONS[words]} There is little to learn from.{hint}",
        images=images,
        actions=[leave_out(images)],
        about=words,
    )


SPEC = DataCheckSpec(key="blank", title="Blank images", order=55, find=_find)
