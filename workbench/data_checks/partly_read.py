"""Files of which a part alone is read: the first frame or page, or the channels of color."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.data_check.findings import (
    DataCheckSpec,
    Finding,
    Survey,
    leave_out,
    new_finding,
)
from workbench.core.format import plural

_READ = {
    "frames": ("several frames", "The first frame alone is used."),
    "pages": (
        "several pages",
        "The first page alone is used, which may be one channel or one slice of an image.",
    ),
    "channels": (
        "more channels than color",
        "Red, green and blue, or gray, alone are used: others, such as infrared, are not.",
    ),
}
"""What files have, and what is used of them."""


def _find(survey: Survey) -> Iterator[Finding]:
    for kind, (has, used) in _READ.items():
        rows = [row for row in survey.readable.tolist() if survey.unread[row] == kind]
        if rows:
            images = survey.found(rows)
            yield new_finding(
                SPEC.key,
                "hint",
                f"{plural(len(rows), 'file')} with {has}",
                f"{plural(len(rows), 'file')} with {has}. {used}",
                images=images,
                actions=[leave_out(images)],
                about=kind,
            )


SPEC = DataCheckSpec(key="partly_read", title="Partly read files", order=105, find=_find)
