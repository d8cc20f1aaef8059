"""Tables of the scores of an evaluation, as CSV."""

from __future__ import annotations

from collections.abc import Sequence

from workbench.runs.export.tables import csv_cells


def confusion_csv(classes: Sequence[str], confusion: Sequence[Sequence[int]]) -> str:
    """The confusion matrix: a row for each actual class, a column for each predicted one."""
    lines = [csv_cells(["actual \\ predicted", *classes])]
    lines += [
        csv_cells([name, *map(str, counts)])
        for name, counts in zip(classes, confusion, strict=True)
    ]
    return "".join(f"{line}\n" for line in lines)
