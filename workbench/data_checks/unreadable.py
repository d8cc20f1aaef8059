"""Files that cannot be read: training does not use them. Leaving one out ends the reports of it."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.data_check.findings import (
    DataCheckSpec,
    Finding,
    Survey,
    leave_out,
    new_finding,
)


def _find(survey: Survey) -> Iterator[Finding]:
    for row, reason in sorted(survey.reasons.items()):
        image = survey.image(row)
        yield new_finding(
            SPEC.key,
            "warning",
            "Cannot be read",
            f"{reason.rstrip('.')}. The file is not used; it stays where it is.",
            images=[image],
            actions=[leave_out([image])],
            about=image.file,
            can_be_kept=False,
        )


SPEC = DataCheckSpec(key="unreadable", title="Unreadable files", order=50, find=_find)
