"""A run's curves as TensorBoard shows them: one folder for training, one for validation.

tensorboard/train/        batch_loss, batch_accuracy, learning_rate (a few a second),
                          epoch_loss, epoch_accuracy, images_per_second
tensorboard/validation/   epoch_loss, epoch_accuracy, epoch_top_k_accuracy

The tags are those of Keras's callback, so that old boards and new runs lie on top of each
other; the step is always the number of the batch, so that all curves share an axis.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from workbench.protocol.events import Batch, EpochFinished, RunEvent, RunStarted
from workbench.runs.export.tensorboard_file import EventFile

FOLDER_NAME = "tensorboard"

BATCH_INTERVAL_S = 0.2
"""At most so often a batch is written: more points than TensorBoard shows cost only time."""

_NAN = float("nan")


class TensorBoardLog:
    """Writes what a trainer tells. Feed it each event once, in order.

    Raises:
        OSError: from `add`: the disk is full or the folder is gone.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, EventFile] = {}
        self._batch_time = 0.0
        self._first_step = 1

    def add(self, event: RunEvent) -> None:
        """Writes the values of an event; most have none."""
        if isinstance(event, RunStarted):
            self._start(event)
        elif isinstance(event, Batch):
            self._add_batch(event)
        elif isinstance(event, EpochFinished):
            self._add_epoch(event)

    def close(self) -> None:
        """Closes the files."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _start(self, event: RunStarted) -> None:
        """Steps that an earlier trainer of this run did in vain are taken back at once."""
        self._first_step = (event.resumed_at_step or 0) + 1
        for part in ("train", "validation"):
            if any((self._folder / part).glob("*")):
                self._file(part)

    def _add_batch(self, event: Batch) -> None:
        if 0 <= event.time - self._batch_time < BATCH_INTERVAL_S:
            return
        self._batch_time = event.time
        values = {"batch_loss": event.loss, "batch_accuracy": event.accuracy}
        self._write("train", event, values, {"learning_rate": event.learning_rate})

    def _add_epoch(self, event: EpochFinished) -> None:
        known = {"images_per_second": event.images_per_second or None}
        values = {"epoch_loss": event.loss, "epoch_accuracy": event.accuracy}
        self._write("train", event, values, known)
        if event.val_loss is not None or event.val_accuracy is not None:
            values = {"epoch_loss": event.val_loss, "epoch_accuracy": event.val_accuracy}
            known = {"epoch_top_k_accuracy": event.top_k_accuracy}
            self._write("validation", event, values, known)

    def _write(
        self,
        part: str,
        event: Batch | EpochFinished,
        values: Mapping[str, float | None],
        known: Mapping[str, float | None],
    ) -> None:
        """Values that were not finite are NaN there too; those not known are left out."""
        told = {tag: _NAN if value is None else value for tag, value in values.items()}
        told |= {tag: value for tag, value in known.items() if value is not None}
        self._file(part).scalars(event.step, told, wall_time=event.time)

    def _file(self, part: str) -> EventFile:
        if part not in self._files:
            # Without parents: a run folder that was removed must not come back half.
            self._folder.mkdir(exist_ok=True)
            self._files[part] = EventFile(self._folder / part, first_step=self._first_step)
        return self._files[part]
