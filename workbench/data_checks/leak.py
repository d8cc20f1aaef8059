"""The same image, or nearly, in both parts of the source: the accuracy is then too high."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.data_check.findings import Finding, new_finding
from workbench.core.data_check.spec import DataCheckSpec
from workbench.core.data_check.survey import Survey
from workbench.core.format import count
from workbench.data_checks._copies import is_leak, keep_one, move_all, names_of, num_labels


def _find(survey: Survey) -> Iterator[Finding]:
    for group in survey.groups:
        if not is_leak(survey, group):
            continue
        images = survey.found(group.rows)
        alike = "the same image" if group.is_exact else "nearly the same image"
        classes = num_labels(survey, group)
        conflict = f" They are in {count(classes)} classes." if classes > 1 else ""
        yield new_finding(
            SPEC.key,
            "error",
            "In training and test",
            f"{names_of(images)} are {alike}, but not all are held out.{conflict} What is measured "
            "on the test images is then better than on new images.",
            images=images,
            actions=[*keep_one(images, wanted="test"), move_all(images, "train")],
        )


SPEC = DataCheckSpec(key="leak", title="Leaks", order=10, find=_find)
