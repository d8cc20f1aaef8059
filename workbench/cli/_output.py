"""What commands print: JSON on stdout for programs, results on stdout and messages on stderr for
people. Names in them are made safe here, and trouble of these streams is handled here alone.
"""

from __future__ import annotations

import errno
import importlib
import io
import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from workbench.core.outside_text import decoded, one_line
from workbench.errors import SaveError, WorkbenchError

if TYPE_CHECKING:
    from rich.console import Console

_UTF8 = "utf-8"


class _Stream(io.TextIOBase):
    """A standard stream whose trouble ends no work: what cannot be written is left out.

    Attributes:
        problem: The first error of writing.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.problem: OSError | None = None

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def write(self, text: str) -> int:
        if self.problem is None:
            try:
                self._stream.write(text)
            except OSError as error:
                self._fail(error)
        return len(text)

    def flush(self) -> None:
        if self.problem is None:
            try:
                self._stream.flush()
            except OSError as error:
                self._fail(error)

    def _fail(self, error: OSError) -> None:
        self.problem = error
        # What is still in its buffer fails once more at the end of the process, else.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def writable(self) -> bool:
        return True


@contextmanager
def own_streams(*, is_json: bool) -> Iterator[None]:
    """For the time of a command: its output is written whatever is the encoding of the terminal,
    JSON as UTF-8, and a full disk or a closed pipe behind it does not end the command's work.
    """
    _open_closed_streams()
    kept = sys.stdout, sys.stderr
    for stream in kept:
        _set_encoding(stream, is_json=is_json and stream is sys.stdout)
    sys.stdout, sys.stderr = _Stream(sys.stdout), _Stream(sys.stderr)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        sys.stdout, sys.stderr = kept


def output_problem() -> SaveError | None:
    """Why what was printed has not arrived; None where it has, and where its reader went away."""
    sys.stdout.flush()
    problem = getattr(sys.stdout, "problem", None)
    if problem is None or isinstance(problem, BrokenPipeError):
        return None
    return SaveError(
        "The output cannot be written; what the command has done is done.",
        where="standard output",
        received=problem.strerror or str(problem),
        fix="Free some disk space." if problem.errno == errno.ENOSPC else "",
    )


def end_if_unread() -> None:
    """Ends a command that prints on and on (BrokenPipeError), once nobody reads it any more."""
    if (problem := getattr(sys.stdout, "problem", None)) is not None:
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE)) from problem


def _open_closed_streams() -> None:
    """Gives a process that was started with a closed stdin, stdout or stderr (`>&-`) one that
    leads nowhere: the exit code reports how it went, and no other file takes its number.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is not None:
            continue
        descriptor = os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
        if descriptor == number:
            os.set_inheritable(descriptor, True)
        setattr(sys, name, os.fdopen(descriptor, mode, encoding=_UTF8))


def _set_encoding(stream: TextIO, *, is_json: bool) -> None:
    if not isinstance(stream, io.TextIOWrapper):
        return
    is_plain = stream.encoding.lower() in ("ascii", "ansi_x3.4-1968", "us-ascii")
    encoding = _UTF8 if is_json or is_plain else stream.encoding  # as Python itself takes "C"
    stream.reconfigure(encoding=encoding, errors="backslashreplace")


def print_json(value: Any) -> None:
    """Prints one JSON object on its line, at once."""
    sys.stdout.write(_json(value) + "\n")
    sys.stdout.flush()


def _json(value: Any) -> str:
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:  # a path in it is no text
        return json.dumps(_decoded(msgspec.to_builtins(value)), ensure_ascii=False)


def _decoded(value: Any) -> Any:
    """A plain value whose texts can all be written."""
    if isinstance(value, str):
        return decoded(value)
    if isinstance(value, dict):
        return {_decoded(key): _decoded(each) for key, each in value.items()}
    return [_decoded(each) for each in value] if isinstance(value, list | tuple) else value


def print_json_rows(value: Mapping[str, Any], key: str, rows: Iterable[Sequence[int]]) -> None:
    """Prints one JSON object on its line with a further field, a list of rows that need not be in
    memory together: a matrix of 10,000 classes has 200 MB.
    """
    sys.stdout.write(f"{_json(value)[:-1]},{json.dumps(key)}:[")
    for number, row in enumerate(rows):
        sys.stdout.write(("," if number else "") + msgspec.json.encode(row).decode())
    sys.stdout.write("]}\n")
    sys.stdout.flush()


def report(value: Any, *lines: str, as_json: bool) -> None:
    """Prints a result: the value for programs, or lines for people."""
    if as_json:
        print_json(value)
        return
    for line in lines:
        print_line(line)


def print_text(*lines: str) -> None:
    """Prints lines of a result, on stdout; a line break within one is a space there."""
    for line in lines or ("",):
        sys.stdout.write(f"{one_line(line)}\n")
    sys.stdout.flush()


def print_csv(line: str) -> None:
    """Prints a line of a table that `csv_cells` has made, with its end, at once."""
    sys.stdout.write(line)
    sys.stdout.flush()


def print_line(text: str) -> None:
    """Prints a line for people, on stderr; what follows a line break in it is indented, so that
    it never looks like a line of its own.
    """
    _say("\n  ".join(map(one_line, text.split("\n"))) + "\n")


def prompt(question: str) -> str:
    """Asks on stderr; returns the line that is answered on stdin, "" at its end."""
    _say(f"{one_line(question)} [y/N] ")
    return sys.stdin.readline().strip()


def _say(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def console(*, is_result: bool, width: int | None = None) -> Console:
    """A console for tables and progress bars, of stdout for a result, else of stderr. Texts that
    it is given are to be `one_line`.
    """
    file: Any = sys.stdout if is_result else sys.stderr
    rich = importlib.import_module("rich.console")  # takes as long as a short command
    found: Console = rich.Console(file=file, width=width, highlight=False, markup=False)
    return found


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines; each column is as wide as its widest cell."""
    shown = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(len, cells)) for cells in zip(*shown, strict=True)]
    lines = ((cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in shown)
    return ["  ".join(cells).rstrip() for cells in lines]


def report_error(error: WorkbenchError, *, as_json: bool) -> None:
    """Prints what went wrong: an `error` object for programs, lines for people."""
    if as_json:
        print_json({"error": error.to_dict()})
        return
    print_line(f"workbench: {error.what}")
    for title, text in (
        ("Where", error.where),
        ("Received", error.received),
        ("Expected", error.expected),
    ):
        if text:
            print_line(f"  {title}: {text}")
    if error.fix:
        print_line(f"  {error.fix}")
