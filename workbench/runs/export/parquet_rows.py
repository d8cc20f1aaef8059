"""A table of classified images as Parquet: read from CSV and written in row groups."""

from __future__ import annotations

import csv
import importlib
import io
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from workbench.core.storage.foreign_file import open_foreign_text
from workbench.core.storage.save import Sink, save_stream
from workbench.protocol.classify import Classified
from workbench.runs.export.image_tables import ClassifiedColumns, shown_label

_ROWS_PER_GROUP = 20_000


def write_parquet(rows: Path, path: Path, columns: ClassifiedColumns) -> None:
    """Makes a Parquet file of the same columns out of a complete CSV file, whole or not at all.

    Probabilities are float32, and null where an image could not be read. Raises SaveError.
    """
    arrow = importlib.import_module("pyarrow")
    parquet = importlib.import_module("pyarrow.parquet")
    num_texts = 3 if columns.has_truth else 2
    # file, class, label; behind the probability: error, unknown
    texts = {*range(num_texts), num_texts + 1, num_texts + 2}
    kinds = [arrow.string() if n in texts else arrow.float32() for n in range(_width(columns))]
    schema = arrow.schema(list(zip(columns.header(), kinds, strict=True)))

    def write(sink: Sink) -> None:
        with parquet.ParquetWriter(_File(sink), schema) as writer:
            for group in _groups(rows, columns):
                values = zip(*map(partial(_values, columns), group), strict=True)
                arrays = [arrow.array(v, kind) for v, kind in zip(values, kinds, strict=True)]
                writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))

    save_stream(path, write)


def _width(columns: ClassifiedColumns) -> int:
    return len(columns.header())


def _groups(rows: Path, columns: ClassifiedColumns) -> Iterator[list[Classified]]:
    with open_foreign_text(rows) as file:
        reader = csv.reader(file)
        next(reader)
        answers = map(columns.answer, reader)
        while group := list(islice(answers, _ROWS_PER_GROUP)):
            yield group


def _values(columns: ClassifiedColumns, answer: Classified) -> list[Any]:
    by_name = {score.name: score.probability for score in answer.scores}
    truth = [answer.truth] if columns.has_truth else []
    error = answer.error.what if answer.error is not None else ""
    first = max(by_name.values(), default=None)
    shares = [by_name.get(name) for name in columns.class_names]
    return [answer.file, *truth, shown_label(answer), first, error, answer.unknown, *shares]


class _File(io.RawIOBase):
    """A sink in the form of a file."""

    def __init__(self, sink: Sink) -> None:
        super().__init__()
        self._sink = sink
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        count = self._sink.write(bytes(data))
        self._size += count
        return count

    def tell(self) -> int:
        return self._size
