"""What the grid shows as a sequence for the dialog with one large image: made when looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from workbench.gui.images.rows import GridRows
from workbench.gui.images.sample_dialog import Sample


class GridSamples(Sequence[Sample]):
    """One sample for each row of a grid."""

    def __init__(self, rows: GridRows) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return self._rows.rowCount()

    @overload
    def __getitem__(self, row: int) -> Sample: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[Sample]: ...
    def __getitem__(self, row: int | slice) -> Sample | Sequence[Sample]:
        if isinstance(row, slice):
            return [self[each] for each in range(*row.indices(len(self)))]
        return self._rows.sample(row)
