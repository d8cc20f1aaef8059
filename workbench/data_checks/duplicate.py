"""The same image more than once in one part; under two labels, one of them is wrong."""

from __future__ import annotations

from collections.abc import Iterator

from workbench.core.data_check.findings import DataCheckSpec, Finding, Survey
from workbench.core.format import count
from workbench.data_checks._copies import copies_in_one_part, finding_of_copies, is_conflict


def _find(survey: Survey) -> Iterator[Finding]:
    for group in copies_in_one_part(survey, are_exact=True):
        if is_conflict(survey, group):
            names = dict.fromkeys(image.label for image in survey.found(group.rows))
            title = f"One image in {' and '.join(f'“{name}”' for name in names)}"
            effect = "At most one of the labels is right."
        else:
            title = f"The same image {count(len(group.rows))} times"
            effect = "It counts several times."
        text = f"are the same image. {effect}"
        yield finding_of_copies(SPEC.key, survey, group, title, text)


SPEC = DataCheckSpec(key="duplicate", title="Duplicates", order=20, find=_find)
