"""Copies in another size, format, brightness, or mirrored, in one part."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.data_check.findings import Finding, new_finding
from workbench.core.data_check.spec import DataCheckSpec
from workbench.core.data_check.survey import Survey
from workbench.data_checks._copies import (
    is_leak,
    keep_one,
    leave_all_out,
    move_all,
    names_of,
    num_labels,
    separated,
    separated_words,
    worst_first,
)


def _find(survey: Survey) -> Iterator[Finding]:
    found = [group for group in survey.groups if not group.is_exact and not is_leak(survey, group)]
    for group in worst_first(survey, found):
        images, leak = survey.found(group.rows), separated(survey, group)
        where = f", in training and {leak}" if leak else ""
        is_conflict = num_labels(survey, group) > 1
        mirrored = " Some are mirrored." if group.is_mirrored else ""
        yield new_finding(
            SPEC.key,
            "error" if is_conflict or leak else "warning",
            "Nearly the same, in two classes" if is_conflict else f"Nearly the same{where}",
            f"{names_of(images)} differ hardly.{mirrored} "
            + (
                "One of the labels is probably wrong."
                if is_conflict
                else "Together they count as several images, but show one."
            )
            + separated_words(leak),
            images=images,
            actions=[
                *keep_one(images),
                *([leave_all_out(images)] if is_conflict else []),
                *([move_all(images, "train")] if leak else []),
            ],
        )


SPEC = DataCheckSpec(key="near_duplicate", title="Near duplicates", order=30, find=_find)
