"""The same image more than once in one part; under two labels, one of them is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.data_check.findings import Finding, new_finding
from workbench.core.data_check.spec import DataCheckSpec
from workbench.core.data_check.survey import Survey
from workbench.core.format import count
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
    found = [group for group in survey.groups if group.is_exact and not is_leak(survey, group)]
    for group in worst_first(survey, found):
        images, leak = survey.found(group.rows), separated(survey, group)
        where = f", in training and {leak}" if leak else ""
        is_conflict = num_labels(survey, group) > 1
        labels = " and ".join(f"“{label}”" for label in dict.fromkeys(i.label for i in images))
        yield new_finding(
            SPEC.key,
            "error" if is_conflict or leak else "warning",
            f"One image in {labels}"
            if is_conflict
            else f"The same image {count(len(images))} times{where}",
            f"{names_of(images)} are the same image. "
            + ("At most one of the labels is right." if is_conflict else "It counts several times.")
            + separated_words(leak),
            images=images,
            actions=[
                *keep_one(images),
                *([leave_all_out(images)] if is_conflict else []),
                *([move_all(images, "train")] if leak else []),
            ],
        )


SPEC = DataCheckSpec(key="duplicate", title="Duplicates", order=20, find=_find)
