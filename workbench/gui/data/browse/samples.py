"""What the grid shows as a sequence for the dialog with one large image: made when looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from workbench.gui.data.browse.model import ImageRows
from workbench.gui.images.sample_dialog import Sample
from workbench.protocol.describe_data import Thumbnail


class GridSamples(Sequence[Sample]):
    """One sample for each row of a model."""

    def __init__(self, rows: ImageRows) -> None:
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
        number = self._rows.number(row)
        place, file = self._rows.images.place(number), self._rows.images.file(number)
        thumbnail = Thumbnail(
            path="", part=place.part, index=place.index, file=file, width=0, height=0
        )
        return Sample(self._rows.class_name(row), thumbnail)
