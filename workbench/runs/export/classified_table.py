"""A table of classified images that is written while they come, and continued after a kill.

Rows are appended to the CSV file in the order of the images. Beside it, until it is complete, is
NAME.unfinished: what the table is of (the model's weights, the images, the columns), locked while
it is being written. A table that has one is continued: the row that a kill has torn is cut off, the
others are read, and what they name is not classified again.

A Parquet file is made, in row groups, from such a CSV file (NAME.rows.csv) once that is complete:
Parquet has its index at the end, so that a file which was cut off cannot be read.
"""

from __future__ import annotations

import csv
import hashlib
import importlib
import io
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Self

import msgspec

from workbench.core.format import bytes_text
from workbench.core.outside_text import cell_text, csv_cells
from workbench.core.storage.foreign_file import open_foreign, open_foreign_text
from workbench.core.storage.own_file import refuse_link, take_lock
from workbench.core.storage.save import Sink, save_stream
from workbench.errors import SaveError, UsageError, os_errors_as
from workbench.protocol.classify import Classified, ImageSource
from workbench.runs.export.tables import ClassifiedColumns, require_parquet, shown_label
from workbench.runs.log.append_file import AppendFile

# parquet rows --------------------------------------------------------------------------------
# A table of classified images as Parquet: read from CSV and written in row groups.

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


# classified table ----------------------------------------------------------------------------

_MOST_WAITING_BYTES = 64 * 2**20
"""Rows that wait in memory while the disk is full, before classifying waits for room, too."""

_PATIENCE_S = 600.0
"""How long it then waits before it gives up. The rows that were written stay."""

_LOOK_S = 0.5

AGAIN = "Choose another name, or use --force to start again."


class TableOf(msgspec.Struct, frozen=True, kw_only=True):
    """What an unfinished table is of.

    Attributes:
        model: Identifies the weights, and how they are used.
        sources: The images.
        header: The columns.
    """

    model: str
    sources: list[ImageSource]
    header: list[str]
    version: int = 1


def is_unfinished(path: Path) -> bool:
    """Whether there is a table that can be continued."""
    with suppress(OSError):
        return _note_path(path).stat().st_size > 0
    return False


def _note_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.unfinished")


class ClassifiedTable:
    """The file that rows are appended to; use as a context manager. Unless `finish` was called it
    stays unfinished, to be continued.

    Args:
        path: File that ends with .csv or .parquet.
        columns: Its columns.
        what: What it is of.
        starts_over: Replace a table that is there, also an unfinished one.

    Attributes:
        num_earlier: Rows that an unfinished table had.

    Raises:
        UsageError: the table is there and complete, is of something else, was changed by another
            program, is being written by another process, or has another suffix.
        SaveError: it cannot be written.
    """

    def __init__(
        self, path: Path, columns: ClassifiedColumns, what: TableOf, *, starts_over: bool = False
    ) -> None:
        self._path = path
        self._columns = columns
        self._is_parquet = is_parquet(path)
        self._rows_path = path.with_name(f"{path.name}.rows.csv") if self._is_parquet else path
        self._note = _note_path(path)
        self._done: Counter[bytes] = Counter()
        self.num_earlier = 0
        with os_errors_as(SaveError, "The table cannot be written.", path):
            for each in (path, self._rows_path):
                refuse_link(each)
            self._lock = self._take_lock()
            try:
                self._open(what, starts_over=starts_over)
                self._file = AppendFile(self._rows_path, has_reserve=False)
            except BaseException:
                self._remove_if_empty()
                os.close(self._lock)
                raise
        if not self.num_earlier and not self._rows_path.stat().st_size:
            self._file.append(f"{csv_cells(columns.header())}\n".encode())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._file.close()
        self._remove_if_empty()
        os.close(self._lock)

    def _remove_if_empty(self) -> None:
        """Leaves no file behind where the disk had no room for a row, or none for the note."""
        with suppress(OSError):
            is_noted = os.fstat(self._lock).st_size > 0
            has_rows = self._rows_path.exists() and self._rows_path.stat().st_size > 0
            if not has_rows and self._rows_path.exists() and is_noted:
                self._rows_path.unlink()
            if not (has_rows and is_noted):
                self._note.unlink(missing_ok=True)

    def earlier(self) -> Iterator[Classified]:
        """What the rows of an unfinished table say, in their order."""
        if self.num_earlier:
            with open_foreign_text(self._rows_path) as file:
                reader = csv.reader(file)
                next(reader)
                for _, cells in zip(range(self.num_earlier), reader, strict=False):
                    yield self._columns.answer(cells)

    def take_earlier(self, file: str) -> bool:
        """Whether an image is in the table already; each row counts for one image."""
        if not self._done:
            return False
        key = _key(cell_text(file))
        if not self._done[key]:
            return False
        self._done[key] -= 1
        return True

    def append(self, answers: Sequence[Classified], wait: Callable[[str], None]) -> None:
        """Writes the rows of the next images.

        Args:
            answers: With the scores of all classes.
            wait: Called with words while the disk has no room: every time that rows had to be kept
                in memory, and again and again while too many are. May raise to stop.

        Raises:
            SaveError: there was no room for long.
        """
        lines = (f"{csv_cells(self._columns.cells(answer))}\n" for answer in answers)
        self._file.append("".join(lines).encode())
        if self._file.problem is not None:
            wait(self._trouble())
            self._wait_for_room(_MOST_WAITING_BYTES, wait)

    def finish(self, wait: Callable[[str], None]) -> None:
        """All rows are there: the table is complete. See `append`."""
        self._wait_for_room(0, wait)
        if not self._rows_path.exists():
            raise SaveError("The table was removed while it was written.", where=str(self._path))
        self._file.sync()
        if self._is_parquet:
            write_parquet(self._rows_path, self._path, self._columns)
            self._rows_path.unlink()
        self._note.unlink()

    def _wait_for_room(self, most_bytes: int, wait: Callable[[str], None]) -> None:
        until = time.monotonic() + _PATIENCE_S
        while self._file.waiting_bytes > most_bytes and not self._file.flush():
            wait(self._trouble())
            if time.monotonic() > until:
                raise SaveError(
                    f"{self._trouble()} The rows that were written are kept.",
                    where=str(self._rows_path),
                    fix="Free some disk space and classify the same images into the same file: it "
                    "goes on where it stopped.",
                )
            time.sleep(_LOOK_S)

    def _trouble(self) -> str:
        problem = self._file.problem
        cause = problem.strerror if problem is not None else "unknown"
        waiting = bytes_text(self._file.waiting_bytes)
        return f"{self._path.name} cannot be written ({cause}): {waiting} wait for room."

    # an unfinished table -----------------------------------------------------------------

    def _take_lock(self) -> int:
        lock = take_lock(self._note)
        if lock is None:
            raise UsageError(
                "Another classification is writing this table.",
                where=str(self._path),
                fix="Wait for it, or choose another name.",
            )
        return lock

    def _open(self, what: TableOf, *, starts_over: bool) -> None:
        note = os.pread(self._lock, os.fstat(self._lock).st_size, 0)
        if note and not starts_over:
            _check_same(self._path, note, what)
            self._repair()
            return
        if self._path.exists() and not starts_over:
            self._note.unlink()
            raise UsageError("This file already exists.", where=str(self._path), fix=AGAIN)
        for old in {self._path, self._rows_path}:
            old.unlink(missing_ok=True)
        os.ftruncate(self._lock, 0)
        os.pwrite(self._lock, msgspec.json.encode(what), 0)
        os.fsync(self._lock)

    def _repair(self) -> None:
        """Cuts a torn row off, and reads which images the others are of."""
        if not self._rows_path.exists():
            return
        whole = _whole_rows(self._rows_path)
        if whole < self._rows_path.stat().st_size:
            os.truncate(self._rows_path, whole)
        with open_foreign_text(self._rows_path) as file:
            reader = csv.reader(file)
            try:
                for number, cells in enumerate(reader):
                    if number == 0:
                        self._check_header(cells)
                    else:
                        self._done[_key(self._checked(cells)[0])] += 1
                        self.num_earlier = number
            except (ValueError, csv.Error) as error:
                raise UsageError(
                    "The unfinished table was changed by another program.",
                    where=str(self._rows_path),
                    received=f"line {reader.line_num}: {error}",
                    fix=AGAIN,
                ) from None

    def _check_header(self, cells: list[str]) -> None:
        if cells != [cell_text(name) for name in self._columns.header()]:
            raise ValueError("other columns")

    def _checked(self, cells: list[str]) -> list[str]:
        wanted = len(self._columns.header())
        if len(cells) != wanted:
            raise ValueError(f"{len(cells)} cells, not {wanted}")
        return cells


def is_parquet(path: Path) -> bool:
    """Whether a table of this name is a Parquet file; raises UsageError where it can be neither."""
    suffix = path.suffix.lower()
    if suffix not in {".csv", ".parquet"}:
        raise UsageError(
            "The table can be a CSV or Parquet file.",
            received=path.name,
            expected="a file name that ends with .csv or .parquet",
        )
    if suffix == ".parquet":
        require_parquet(path)
    return suffix == ".parquet"


def _check_same(path: Path, note: bytes, what: TableOf) -> None:
    """Raises UsageError where an unfinished table is not of what would be written now."""
    try:
        before = msgspec.json.decode(note, type=TableOf)
    except msgspec.MsgspecError:
        before = TableOf(model="", sources=[], header=[])
    differing = [
        words
        for words, is_other in (
            ("another model, or other weights", before.model != what.model),
            ("other images", before.sources != what.sources),
            ("other columns", before.header != what.header),
        )
        if is_other
    ]
    if differing:
        raise UsageError(
            "The table is unfinished and cannot be continued: it is of something else.",
            where=str(path),
            received=f"it was begun with {', '.join(differing)}",
            fix=AGAIN,
        )


def _whole_rows(path: Path) -> int:
    """The number of bytes up to the end of the last row that is whole: a cell in quotes may hold
    line breaks.
    """
    whole = size = quotes = 0
    with open_foreign(path) as file:
        for line in file:
            size += len(line)
            quotes += line.count(b'"')
            if line.endswith(b"\n") and quotes % 2 == 0:
                whole = size
    return whole


def _key(cell: str) -> bytes:
    """Stands for an image: the names of a million images take little memory."""
    return hashlib.blake2b(cell.encode(), digest_size=8).digest()


# save classified -----------------------------------------------------------------------------
# A complete table of classified images under another name, as CSV or as Parquet.


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
