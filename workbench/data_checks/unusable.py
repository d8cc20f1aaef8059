"""What a source itself leaves out: lines of a table, records and members of an archive that give no
image with a label.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator

from workbench.core.data_check.findings import DataCheckSpec, Finding, Survey, new_finding
from workbench.core.format import list_text, path_text, plain_name

_NAMED = 4


def _find(survey: Survey) -> Iterator[Finding]:
    by_reason: dict[str, list[str]] = defaultdict(list)
    for name, reason in survey.bad_files:
        by_reason[reason.rstrip(".")].append(path_text(name).rpartition(os.sep)[2])
    for reason, names in sorted(by_reason.items(), key=lambda each: -len(each[1])):
        number, more = len(names), len(names) - _NAMED
        shown = [*map(plain_name, names[:_NAMED]), *([f"{more:,} more"] if more > 0 else [])]
        yield new_finding(
            SPEC.key,
            "warning",
            f"{number:,} cannot be used",
            f"{reason}: {list_text(shown)}. The data set is used without "
            f"{'it' if number == 1 else 'them'}.",
            about="\n".join((reason, *names)),
        )


SPEC = DataCheckSpec(
    key="unusable", title="Lines and files without an image or a label", order=45, find=_find
)
