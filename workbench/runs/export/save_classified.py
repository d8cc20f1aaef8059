"""A complete table of classified images under another name, as CSV or as Parquet."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

from workbench.core.storage.foreign_file import open_foreign, open_foreign_text
from workbench.core.storage.save import Sink, save_stream
from workbench.errors import SaveError, os_errors_as
from workbench.runs.export.classified_table import is_parquet
from workbench.runs.export.image_tables import ClassifiedColumns
from workbench.runs.export.parquet_rows import write_parquet


def save_classified(rows: Path, path: Path) -> None:
    """Writes what a CSV table of classified images has into a file that ends with .csv or .parquet,
    whole or not at all.

    Raises:
        UsageError: the file has another suffix, or Parquet cannot be written here.
        SaveError: it cannot be written, or the rows are not there any more.
    """
    as_parquet = is_parquet(path)
    with os_errors_as(SaveError, "The predictions cannot be read.", rows):
        rows.stat()
    if as_parquet:
        with open_foreign_text(rows) as file:
            columns = ClassifiedColumns.of_header(next(csv.reader(file)))
        write_parquet(rows, path, columns)
        return

    def write(sink: Sink) -> None:
        with open_foreign(rows) as file:
            shutil.copyfileobj(file, sink)

    save_stream(path, write)
