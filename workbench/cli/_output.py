"""What commands print: JSON on stdout for programs, text on stderr for people."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from workbench.errors import WorkbenchError


def open_closed_streams() -> None:
    """Gives a process that was started with a closed stdin, stdout or stderr (`>&-`) one that
    leads nowhere: the exit code reports how it went, and no other file takes its number.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is not None:
            continue
        descriptor = os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free
        if descriptor == number:
            os.set_inheritable(descriptor, True)
        setattr(sys, name, os.fdopen(descriptor, mode, encoding="utf-8"))


def print_json(value: Any) -> None:
    """Prints one JSON object on its line, at once."""
    sys.stdout.write(msgspec.json.encode(value).decode() + "\n")
    sys.stdout.flush()


def print_json_rows(value: Mapping[str, Any], key: str, rows: Iterable[Sequence[int]]) -> None:
    """Prints one JSON object on its line with a further field, a list of rows that need not be in
    memory together: a matrix of 10,000 classes has 200 MB.
    """
    sys.stdout.write(f"{msgspec.json.encode(value).decode()[:-1]},{json.dumps(key)}:[")
    for number, row in enumerate(rows):
        sys.stdout.write(("," if number else "") + msgspec.json.encode(row).decode())
    sys.stdout.write("]}\n")
    sys.stdout.flush()


def report(value: Any, words: str, *, as_json: bool) -> None:
    """Prints a result: the value for programs, or the words for people."""
    if as_json:
        print_json(value)
    else:
        print_line(words)


def print_line(text: str) -> None:
    """Prints a line for people, on stderr."""
    print(printable(text), file=sys.stderr, flush=True)


def printable(text: str) -> str:
    """Text from files without the control characters that could drive a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines that can be printed; each column is as wide as its widest cell."""
    shown = [[printable(cell) for cell in row] for row in rows]
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
