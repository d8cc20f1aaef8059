"""Classifying in commands: in this process where it can, else by a worker; folders that are
watched.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path

import msgspec

from workbench.cli._options import refuse_existing
from workbench.cli._output import end_if_unread, print_csv, print_line
from workbench.cli._service import answers_of, open_service
from workbench.core.format import bytes_text, plural
from workbench.core.outside_text import csv_cells
from workbench.core.storage.own_file import refuse_link
from workbench.errors import NeedsTensorFlowError, SaveError, UsageError, os_errors_as
from workbench.inference.onnx_runner import LocalCall
from workbench.pictures.watching import FolderWatch
from workbench.protocol.classify import (
    Classified,
    ClassifiedRows,
    ClassifyMany,
    ImageSource,
    WarmUp,
)
from workbench.protocol.service_call import ServiceCall
from workbench.runs.export.tables import ClassifiedColumns
from workbench.runs.log.append_file import AppendFile

# watching ------------------------------------------------------------------------------------
# `workbench classify RUN --watch FOLDER`: images as they appear, until Ctrl+C.

MOST_AT_ONCE = 500
_STDOUT = "-"

Print = Callable[[Classified], None]


def add_watch_option(parser: argparse.ArgumentParser) -> None:
    """Adds --watch FOLDER."""
    parser.add_argument(
        "--watch",
        metavar="FOLDER",
        type=Path,
        help="classify the images that appear in this folder, until Ctrl+C; --csv - prints CSV",
    )


def watch_folder(arguments: argparse.Namespace, model: str, print_answer: Print) -> int:
    """Prints, or writes as CSV, a line for each image that appears, until Ctrl+C.

    Raises:
        UsageError: there are options that do not go with it.
        DatasetError: the folder cannot be listed, or is gone.
        SaveError: rows of the table could not be written until the end.
    """
    _refuse_options(arguments)
    watch = FolderWatch(arguments.watch)  # before the model is loaded: nothing is missed meanwhile
    counted: Counter[bool] = Counter()
    try:
        with _table(arguments) as table, open_service() as service:
            for _ in answers_of(service, WarmUp(id=1, model=model), is_quiet=arguments.json):
                pass
            print_line(_begun(watch))
            for row in _rows(service, watch, model):
                counted[row.error is None] += 1
                table.add(row)
                end_if_unread()
                if not table.is_stdout:
                    scores = row.scores[: arguments.top or None]
                    print_answer(msgspec.structs.replace(row, scores=scores))
    except KeyboardInterrupt:
        pass  # that is how it ends
    finally:
        bad = f"; {plural(counted[False], 'image')} could not be read" if counted[False] else ""
        print_line(f"{plural(counted[True], 'image')} classified{bad}.")
    return 0


def _refuse_options(arguments: argparse.Namespace) -> None:
    others = {
        "IMAGE": arguments.images,
        "--test": arguments.test,
        "--class-folders": arguments.class_folders,
        "--truth": arguments.truth,
        "--copy-into": arguments.copy_into,
        "--move-into": arguments.move_into,
    }
    given = [name for name, value in others.items() if value]
    if given:
        raise UsageError("--watch goes with none of these.", received=", ".join(given))
    table = arguments.table
    if table is None or str(table) == _STDOUT:
        return
    if table.suffix.lower() != ".csv":
        expected = "a file that ends with .csv, or - for the standard output"
        raise UsageError("A watched folder becomes a CSV table.", expected=expected)
    refuse_existing(table, force=arguments.force)


def _begun(watch: FolderWatch) -> str:
    left_out = f"; {plural(watch.num_before, 'file')} in it left out" if watch.num_before else ""
    return f"Watching {watch.folder}{left_out}. Ctrl+C ends it."


def _rows(service: ServiceCall, watch: FolderWatch, model: str) -> Iterator[Classified]:
    """The answers to the images that appear, for ever."""
    request_id = 1
    while True:
        files = iter(watch.scan())
        while some := list(islice(files, MOST_AT_ONCE)):
            request_id += 1
            sources = [ImageSource(path=file) for file in some]
            request = ClassifyMany(id=request_id, model=model, sources=sources, top=0)
            for answer in answers_of(service, request, is_quiet=True):
                if isinstance(answer, ClassifiedRows):
                    yield from _final(watch, answer.rows)
        time.sleep(watch.pause_s)


def _final(watch: FolderWatch, rows: Sequence[Classified]) -> Iterator[Classified]:
    return (row for row in rows if watch.is_final(row.file, is_readable=row.error is None))


class _Table:
    """CSV rows, each written at once. The columns are the classes of the first answer: rows of
    images that cannot be read wait for it.
    """

    def __init__(self, write: Callable[[str], None], *, is_stdout: bool) -> None:
        self.is_stdout = is_stdout
        self._write = write
        self._columns: ClassifiedColumns | None = None
        self._waiting: list[Classified] = []

    def add(self, row: Classified) -> None:
        self._waiting.append(row)
        columns = self._columns
        if columns is None and row.scores:
            columns = self._header(score.name for score in row.scores)
        if columns is not None:
            self._write_waiting(columns)

    def finish(self) -> None:
        """Writes the rows that still wait: no image was readable, so there are no columns for
        classes.
        """
        if self._waiting:
            self._write_waiting(self._header(()))

    def _header(self, class_names: Iterable[str]) -> ClassifiedColumns:
        columns = self._columns = ClassifiedColumns.of(class_names)
        self._write(f"{csv_cells(columns.header())}\n")
        return columns

    def _write_waiting(self, columns: ClassifiedColumns) -> None:
        waiting, self._waiting = self._waiting, []
        for each in waiting:
            self._write(f"{csv_cells(columns.cells(each))}\n")


@contextmanager
def _table(arguments: argparse.Namespace) -> Iterator[_Table]:
    """Opens the destination of rows: a file, the standard output, or nowhere."""
    path: Path | None = arguments.table
    with ExitStack() as stack:
        write: Callable[[str], None] = print_csv
        is_stdout = True
        if path is None:
            write, is_stdout = _ignore, False
        elif str(path) != _STDOUT:
            with os_errors_as(SaveError, "The table cannot be written.", path):
                refuse_link(path)
                path.unlink(missing_ok=True)
                file = AppendFile(path, has_reserve=False)
            stack.callback(_close, file, path)
            write, is_stdout = partial(_append, file, path), False
        table = _Table(write, is_stdout=is_stdout)
        stack.callback(table.finish)
        yield table


def _append(file: AppendFile, path: Path, line: str) -> None:
    """Writes a row. Where the disk has no room it waits in memory, which is reported once."""
    had_room = file.problem is None
    file.append(line.encode())
    if had_room and file.problem is not None:
        cause = file.problem.strerror
        print_line(f"{path.name} cannot be written ({cause}): rows wait in memory for room.")


def _close(file: AppendFile, path: Path) -> None:
    """Raises SaveError where some rows could not be written until now."""
    file.close()
    if file.waiting_bytes:
        raise SaveError(
            "The last rows of the table could not be written.",
            where=str(path),
            received=f"no room for {bytes_text(file.waiting_bytes)}",
            fix="Free some disk space and classify the folder again.",
        )


def _ignore(_line: str) -> None:
    """Discards a row: no table was requested."""


# classifier ----------------------------------------------------------------------------------
# What classifies images for a command: this process where it can, else a service worker.


def open_classifier(model: str) -> ServiceCall | LocalCall:
    """Answers ClassifyMany for this model; use as a context manager. See `load_onnx_runner` for
    errors.
    """
    try:
        return LocalCall(model)
    except NeedsTensorFlowError:
        return open_service()
