"""A run's curves as tables for other programs: CSV, or Parquet where pyarrow is installed.

FILE           a row a batch: run, step, epoch, loss, accuracy, learning_rate, seconds, images
FILE-epochs    a row an epoch: run, epoch, step, loss, accuracy, val_loss, val_accuracy,
               top_k_accuracy, learning_rate, seconds, images_per_second

Accuracies are shares from 0 to 1; seconds are those since the run began, pauses left out
(of an epoch: how long it took); an empty cell was not finite, or not measured.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from workbench.core.outside_text import csv_cells
from workbench.core.storage.save import save_bytes
from workbench.curves import CurveSpec, all_curves
from workbench.errors import RunFolderError, UsageError
from workbench.parts import PARQUET
from workbench.runs.folder import RunFolder
from workbench.runs.log.columns import Column
from workbench.runs.log.event_log import EventReader
from workbench.runs.log.history import MetricHistory
from workbench.runs.store.notes import read_notes

Table = Mapping[str, Column]

_ROWS_PER_PIECE = 50_000


def export_curves(run: RunFolder, path: Path) -> tuple[Path, ...]:
    """Writes both tables of a run, each whole or not at all; returns the files.

    Args:
        run: Any run that has begun; of one that still trains, what it has logged so far.
        path: File of the batch table; its suffix, .csv or .parquet, is the format.

    Raises:
        UsageError: another suffix, or Parquet without pyarrow.
        RunFolderError: the folder is no run, or nothing was trained yet.
        SaveError: a file could not be written.
    """
    encode = _encoder_for(path)
    title = read_notes(run).title or run.request().title
    history = _read(run)
    if not history.steps.size and not history.epochs:
        raise RunFolderError(
            "This run has no curves yet.", where=str(run.path), fix="Wait for its first batch."
        )
    epochs_path = path.with_name(f"{path.stem}-epochs{path.suffix}")
    save_bytes(path, encode(title, step_table(history)))
    save_bytes(epochs_path, encode(title, epoch_table(history)))
    return path, epochs_path


def can_write_parquet() -> bool:
    """Whether the optional package for Parquet files is installed; it is not imported."""
    return PARQUET.is_installed


def _encoder_for(path: Path) -> Callable[[str, Table], bytes]:
    suffix = path.suffix.lower()
    if suffix == ".csv":
        return csv_bytes
    if suffix != ".parquet":
        raise UsageError(
            "Curves can be exported as CSV or Parquet.",
            received=path.name,
            expected="a file name that ends with .csv or .parquet",
        )
    require_parquet(path)
    return parquet_bytes


def require_parquet(path: Path) -> None:
    """Raises UsageError where a Parquet file cannot be written."""
    try:
        importlib.import_module("pyarrow")
    except ImportError as error:
        raise UsageError(
            "Parquet files need the package pyarrow, which is not installed.",
            received=path.name,
            fix=f"{PARQUET.install_words}, or export a .csv file.",
        ) from error


def _read(run: RunFolder) -> MetricHistory:
    history, reader = MetricHistory(), EventReader(run.events_path)
    while events := reader.read_new():
        history.add_all(events)
    return history


def step_table(history: MetricHistory) -> Table:
    """A row a batch; `images` counts the images seen up to it."""
    steps = history.steps.astype(np.int64)
    steps_per_epoch = history.steps_per_epoch
    batch_size = history.started.batch_size if history.started else 0
    curves = [curve for curve in all_curves().values() if curve.steps or curve.batch]
    return {
        "step": steps,
        "epoch": (steps - 1) // steps_per_epoch + 1 if steps_per_epoch else np.zeros_like(steps),
        **{curve.key: history.curves.values(curve) for curve in curves},
        "seconds": history.times.astype(np.float64),
        "images": steps * batch_size,
    }


def epoch_table(history: MetricHistory) -> Table:
    """A row an epoch: the curves that are validated too, the others, and how long it took."""
    columns, epochs = history.curves, history.epochs
    curves = all_curves().values()
    validated = [curve for curve in curves if curve.validation]
    others = [curve for curve in curves if not curve.validation]

    def trained(chosen: list[CurveSpec]) -> dict[str, Column]:
        return {curve.key: columns.epoch_values(curve) for curve in chosen if curve.epoch}

    return {
        "epoch": columns.epochs.astype(np.int64),
        "step": columns.epoch_steps.astype(np.int64),
        **trained(validated),
        **{c.validation_column: columns.epoch_values(c, is_validation=True) for c in validated},
        **trained(others),
        "seconds": np.array([epoch.seconds for epoch in epochs], np.float64),
        "images_per_second": np.array([epoch.images_per_second for epoch in epochs], np.float64),
    }


def csv_bytes(title: str, table: Table) -> bytes:
    """The table as CSV (RFC 4180), UTF-8, the title as the first column."""
    first = csv_cells([title])
    pieces = [f"run,{','.join(table)}\r\n"]
    columns = list(table.values())
    for start in range(0, len(columns[0]), _ROWS_PER_PIECE):
        texts = [_texts(column[start : start + _ROWS_PER_PIECE]) for column in columns]
        pieces += [f"{first},{','.join(row)}\r\n" for row in zip(*texts, strict=True)]
    return "".join(pieces).encode()


def _texts(column: Column) -> list[str]:
    if column.dtype.kind == "i":
        return [str(value) for value in column.tolist()]
    # As many digits as the type holds: a float32 has seven.
    digits = 9 if column.dtype.itemsize > 4 else 7
    finite = np.isfinite(column).tolist()
    values = zip(column.tolist(), finite, strict=True)
    return [f"{value:.{digits}g}" if is_finite else "" for value, is_finite in values]


def parquet_bytes(title: str, table: Table) -> bytes:
    """The table as Parquet, the title as a dictionary column; not finite is null."""
    arrow = importlib.import_module("pyarrow")
    parquet = importlib.import_module("pyarrow.parquet")
    rows = len(next(iter(table.values())))
    indices = arrow.array(np.zeros(rows, np.int32))
    columns = {"run": arrow.DictionaryArray.from_arrays(indices, arrow.array([title]))}
    for key, column in table.items():
        mask = None if column.dtype.kind == "i" else ~np.isfinite(column)
        columns[key] = arrow.array(column, mask=mask)
    sink = arrow.BufferOutputStream()
    parquet.write_table(arrow.table(columns), sink)
    data: bytes = sink.getvalue().to_pybytes()
    return data
