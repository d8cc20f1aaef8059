"""An image of the project's data set large."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QWidget

from workbench.gui.data.state import DataState
from workbench.gui.images.sample_dialog import Sample, SampleDialog


def open_sample(state: DataState, samples: Sequence[Sample], at: int, parent: QWidget) -> None:
    """Opens the dialog; it closes when the data set is another one, or described again."""
    dialog = SampleDialog(state.context, state.image_source, samples, at, parent)
    state.source_changed.connect(dialog.reject)
    state.described.connect(dialog.reject)
    dialog.open()
