"""The same image, or nearly, in several parts of the source: the accuracy is then too high."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.data_check.findings import DataCheckSpec, Finding, Survey, new_finding
from workbench.core.format import count, list_text
from workbench.core.projects.data_edits import PART_NAMES
from workbench.data_checks._copies import (
    is_leak,
    keep_one,
    move_to_training,
    names_of,
    num_labels,
    part_words,
)


def _find(survey: Survey) -> Iterator[Finding]:
    for group in survey.groups:
        if not is_leak(survey, group):
            continue
        images = survey.found(group.rows)
        parts = [part for part in PART_NAMES if any(each.origin == part for each in images)]
        held_out = part_words(parts[-1])
        alike = "the same image" if group.is_exact else "nearly the same image"
        classes = num_labels(survey, group)
        conflict = f" They are in {count(classes)} classes." if classes > 1 else ""
        yield new_finding(
            SPEC.key,
            "error",
            f"In {list_text([part_words(part) for part in parts])}",
            f"{names_of(images)} are {alike}, in several parts of the data set.{conflict} What is "
            f"measured on the {held_out} images is then better than on new images.",
            images=images,
            actions=[*keep_one(images, wanted=parts[-1]), move_to_training(images)],
        )


SPEC = DataCheckSpec(key="leak", title="Leaks", order=10, find=_find)
