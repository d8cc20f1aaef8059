"""Gray or transparent images among others: where a class has more of them, that is learned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from workbench.core.data_check.findings import (
    DataCheckSpec,
    Finding,
    Mask,
    Survey,
    leave_out,
    new_finding,
)
from workbench.core.format import count, plural, share

_GRAY = frozenset({"1", "L", "LA", "La", "I", "F", "I;16", "I;16B", "I;16L", "I;16N"})
_TRANSPARENT = frozenset({"RGBA", "RGBa", "LA", "La", "PA"})


def _find(survey: Survey) -> Iterator[Finding]:
    modes = [survey.modes[row] for row in survey.readable.tolist()]
    yield from _odd_ones(survey, _is_in(modes, _GRAY), "gray", "in color")
    yield from _odd_ones(survey, _is_in(modes, _TRANSPARENT), "transparent", "opaque")


def _is_in(modes: Sequence[str], known: frozenset[str]) -> Mask:
    return np.array([mode in known for mode in modes], np.bool_)


def _odd_ones(survey: Survey, is_so: Mask, name: str, other: str) -> Iterator[Finding]:
    """The smaller of the two kinds, where there are both."""
    if not is_so.any() or is_so.all():
        return
    is_fewer = 2 * int(is_so.sum()) <= len(is_so)
    rows = survey.readable[is_so if is_fewer else ~is_so]
    few, many = (name, other) if is_fewer else (other, name)
    images = survey.found(rows)
    yield new_finding(
        SPEC.key,
        "hint",
        f"{plural(len(rows), 'image')} {few}, the others {many}",
        f"{count(len(rows))} of {plural(len(is_so), 'image')} are {few}. {_most(survey, rows)}"
        "All are trained on as color images, transparent ones on white.",
        images=images,
        actions=[leave_out(images)],
        about=name,
    )


def _most(survey: Survey, rows: np.ndarray[tuple[int], np.dtype[np.int64]]) -> str:
    """Sentence with the class of most of these images, which the kind then gives away; "" where no
    class has most of them.
    """
    sizes = np.bincount(survey.labels[rows], minlength=len(survey.class_names))
    largest = int(sizes.argmax())
    if 2 * sizes[largest] <= len(rows) or len(rows) < 2:
        return ""
    part = share(sizes[largest] / len(rows), 0)
    return f"{part} of them are in class “{survey.class_names[largest]}”. "


SPEC = DataCheckSpec(key="mixed_channels", title="Mixed channels", order=100, find=_find)
