"""A run's curves as TensorBoard shows them: one folder for training, one for validation.

The step is always the number of the batch, so that all curves share an axis. The tags are those
of `worker.trainer.tensorboard`.

TensorFlow writes the records, but neither `tf.summary.scalar`, which needs the package of
TensorBoard, nor a `FileWriter`, whose thread and queue hide that the disk is full. Nothing
here disturbs a training: what goes wrong is logged once, and training goes on without.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from workbench.core.storage.own_file import make_own_folder, open_own
from workbench.curves import CurveSpec, all_curves
from workbench.errors import LinkFoundError
from workbench.protocol.events import Batch, EpochFinished, RunEvent, RunStarted
from workbench.runs.folder import RunFolder
from workbench.runs.home import data_home
from workbench.settings.options.writes_tensorboard import SPEC as WRITES_TENSORBOARD
from workbench.settings.store import read_settings
from workbench.worker.process.lazy_keras import tf

# scalars -------------------------------------------------------------------------------------
# What TensorBoard shows of an event: tags and values, as the files of `curves/` name them.
#
# train/        batch_loss, batch_accuracy, learning_rate, epoch_loss, epoch_accuracy,
#               images_per_second
# validation/   epoch_loss, epoch_accuracy, epoch_top_k_accuracy
#
# The tags are those of Keras's callback, so that old boards and new runs lie on top of each
# other.

Scalars = dict[str, float]


def batch_scalars(event: Batch) -> Scalars:
    """Values of training at a Batch event, by tag."""
    curves = [(curve, curve.batch) for curve in all_curves().values() if curve.batch_tag]
    return _known((curve, curve.batch_tag, of(event)) for curve, of in curves if of)


def epoch_scalars(event: EpochFinished) -> Scalars:
    """Values of an epoch's training, by tag."""
    curves = [(curve, curve.epoch) for curve in all_curves().values() if curve.epoch_tag]
    found = _known((curve, curve.epoch_tag, of(event)) for curve, of in curves if of)
    speed = event.images_per_second
    return found | ({"images_per_second": speed} if speed else {})


def validation_scalars(event: EpochFinished) -> Scalars:
    """Values of an epoch's validation, by tag; none where nothing was validated."""
    curves = [(curve, curve.validation) for curve in all_curves().values() if curve.epoch_tag]
    values = [(curve, curve.epoch_tag, of(event)) for curve, of in curves if of]
    is_validated = any(value is not None for curve, _, value in values if not curve.is_optional)
    return _known(values) if is_validated else {}


def _known(values: Iterable[tuple[CurveSpec, str, float | None]]) -> Scalars:
    """What was not finite is NaN; what was not measured is left out."""
    return {
        tag: float("nan") if value is None else value
        for curve, tag, value in values
        if value is not None or not curve.is_optional
    }


# tensorboard ---------------------------------------------------------------------------------

FOLDER_NAME = "tensorboard"

BATCH_INTERVAL_S = 0.2
"""At most so often a batch is written: more points than TensorBoard shows cost only time."""


def tensorboard_listener(
    run: RunFolder, warn: Callable[[str], None]
) -> Callable[[RunEvent], None] | None:
    """To be called with each event of the run's log; None where such files are turned off."""
    if not read_settings(data_home()).get(WRITES_TENSORBOARD):
        return None
    log: TensorBoardLog | None = TensorBoardLog(run.path / FOLDER_NAME)

    def on_event(event: RunEvent) -> None:
        nonlocal log
        try:
            if log is not None:
                log.add(event)
        except (OSError, LinkFoundError) as error:
            log = None  # first: the warning is an event too
            words = error.what if isinstance(error, LinkFoundError) else error.strerror or error
            warn(f"TensorBoard logging stopped: {str(words).rstrip('.')}.")

    return on_event


class TensorBoardLog:
    """Writes the events of a trainer. Feed it each event once, in order.

    Raises:
        OSError: from `add`: the disk is full or the folder is gone.
        LinkFoundError: from `add`: a link has the name of the folder.
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
        self._write("train", event, batch_scalars(event))

    def _add_epoch(self, event: EpochFinished) -> None:
        self._write("train", event, epoch_scalars(event))
        if values := validation_scalars(event):
            self._write("validation", event, values)

    def _write(self, part: str, event: Batch | EpochFinished, values: Scalars) -> None:
        self._file(part).scalars(event.step, values, wall_time=event.time)

    def _file(self, part: str) -> EventFile:
        if part not in self._files:
            # Without parents: a run folder that was removed must not come back half.
            make_own_folder(self._folder)
            self._files[part] = EventFile(self._folder / part, first_step=self._first_step)
        return self._files[part]


class EventFile:
    """One event file, in a folder that TensorBoard is pointed at.

    Each value is on its way to the disk as soon as it is written. A run that goes on after
    a kill gets another file in the same folder. Each file begins with a session start at its
    first step: TensorBoard drops points of earlier files from that step on, because these steps
    are trained again. (The first session start of a folder has no effect.) The folder is made
    where it is not there, in a folder that is.

    Raises:
        OSError: from every method: the disk is full or the folder is gone.
        LinkFoundError: a link has the name of the folder.
    """

    def __init__(self, folder: Path, *, first_step: int = 1) -> None:
        self._new_event = tf.compat.v1.Event
        make_own_folder(folder)
        number = len(list(folder.glob("events.out.tfevents.*")))
        # TensorBoard reads the files of a folder in the order of their names.
        name = f"events.out.tfevents.{int(time.time()):010d}.{number:04d}.{os.getpid()}"
        # TensorFlow would open whatever has this name.
        os.close(open_own(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        with self._os_errors():
            self._writer = tf.io.TFRecordWriter(str(folder / name))
        self._write(self._new_event(wall_time=time.time(), file_version="brain.Event:2"))
        start = tf.compat.v1.SessionLog(status=tf.compat.v1.SessionLog.START)
        self._write(self._new_event(wall_time=time.time(), step=first_step, session_log=start))

    def scalars(self, step: int, values: Mapping[str, float], *, wall_time: float) -> None:
        """Adds values by tag, in which a slash groups; NaN and infinity are kept. The wall time
        is in seconds since the epoch.
        """
        event = self._new_event(wall_time=wall_time, step=step)
        for tag, value in values.items():
            event.summary.value.add(tag=tag, simple_value=value)
        self._write(event)

    def _write(self, event: Any) -> None:
        with self._os_errors():
            self._writer.write(event.SerializeToString())
            self._writer.flush()

    @contextlib.contextmanager
    def _os_errors(self) -> Iterator[None]:
        """Rebuilds the system's error from TensorFlow's, whose text is "file; reason"."""
        try:
            yield
        except tf.errors.OpError as error:
            raise OSError(error.message.rpartition("; ")[2]) from error
