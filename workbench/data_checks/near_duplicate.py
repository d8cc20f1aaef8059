"""Copies in another size, format, brightness, or mirrored, in one part."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.data_check.findings import DataCheckSpec, Finding, Survey
from workbench.data_checks._copies import copies_in_one_part, finding_of_copies, is_conflict


def _find(survey: Survey) -> Iterator[Finding]:
    for group in copies_in_one_part(survey, are_exact=False):
        mirrored = " Some are mirrored." if group.is_mirrored else ""
        if is_conflict(survey, group):
            title = "Nearly the same, in two classes"
            effect = "One of the labels is probably wrong."
        else:
            title = "Nearly the same"
            effect = "Together they count as several images, but show one."
        text = f"differ hardly.{mirrored} {effect}"
        yield finding_of_copies(SPEC.key, survey, group, title, text)


SPEC = DataCheckSpec(key="near_duplicate", title="Near duplicates", order=30, find=_find)
