"""The arguments that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from workbench.core.params import read_value
from workbench.core.training.recipe import RECIPE_PARAMS
from workbench.errors import ParamError, UsageError

RUN_WORDS = "number, title or name from `workbench runs`, or run folder"
PROJECT_WORDS = "project file (.workbench)"


def add_json_option(parser: argparse.ArgumentParser, *, is_repeated: bool = False) -> None:
    """Adds `--json`.

    Args:
        parser: Parser of a command.
        is_repeated: The command before this one takes it too: its value is kept.
    """
    parser.add_argument(
        "--json",
        action="store_true",
        default=argparse.SUPPRESS if is_repeated else False,
        help="print JSON, one object per line",
    )


def add_run(parser: argparse.ArgumentParser) -> None:
    """Adds RUN, as `run_name`: a folder or a name that `workbench runs` lists."""
    parser.add_argument("run_name", metavar="RUN", help=RUN_WORDS)


def add_project(parser: argparse.ArgumentParser, words: str = PROJECT_WORDS) -> None:
    """Adds PROJECT: the path of a project file."""
    parser.add_argument("project", metavar="PROJECT", type=Path, help=words)


def add_output(parser: argparse.ArgumentParser, words: str, *, name: str = "OUT") -> None:
    """Adds the path of a file to write, as the last word or behind `-o`, and `--force`."""
    parser.add_argument("out", metavar=name, nargs="?", type=Path, help=words)
    parser.add_argument(
        "-o", "--out", dest="named_out", metavar=name, type=Path, help=f"the same as {name}"
    )
    add_force(parser, name)


def needed_output(arguments: argparse.Namespace) -> Path:
    """The file to write, however it was given; raises UsageError where there is none, or two."""
    out = output_of(arguments)
    if out is None:
        raise UsageError("The file to write is missing.", expected="OUT, or -o OUT")
    return out


def output_of(arguments: argparse.Namespace) -> Path | None:
    """The file to write, if there is one; raises UsageError where there are two."""
    given = [path for path in (arguments.out, arguments.named_out) if path is not None]
    if len(given) > 1:
        raise UsageError(
            "Two files to write are given.", received=" and ".join(map(str, given)), expected="one"
        )
    return given[0] if given else None


def add_force(parser: argparse.ArgumentParser, name: str) -> None:
    """Adds `--force` to a command that writes a file, `name` in its usage."""
    parser.add_argument("--force", action="store_true", help=f"overwrite {name} if it exists")


def refuse_existing(path: Path, *, force: bool) -> None:
    """Keeps a file that is there already.

    Raises:
        UsageError: it exists, and may not be overwritten.
    """
    if path.exists() and not force:
        raise UsageError(
            "This file already exists.",
            where=str(path),
            fix="Choose another name, or use --force to overwrite it.",
        )


def add_run_option(parser: argparse.ArgumentParser) -> None:
    """Adds `--run DIR`, as `folder`."""
    parser.add_argument(
        "--run", type=Path, metavar="DIR", dest="folder", help="new folder for the run"
    )


def whole_number(text: str, least: int = 1) -> int:
    """A number from `least` on; raises UsageError."""
    with suppress(ValueError):
        if (number := int(text)) >= least:
            return number
    raise UsageError(
        "This number cannot be used.", received=text, expected=f"a whole number from {least}"
    )


def recipe_value(key: str) -> Callable[[str], Any]:
    """Reads the value of a setting of the recipe; raises UsageError with its bounds."""
    (param,) = (each for each in RECIPE_PARAMS if each.key == key)

    def read(text: str) -> Any:
        try:
            return read_value(param, text)
        except ParamError as error:
            raise UsageError(**error.to_dict()) from error

    return read
