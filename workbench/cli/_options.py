"""The arguments that several commands share."""

from __future__ import annotations

import argparse
from pathlib import Path

RUN_WORDS = "number, title or name from `workbench runs`, or run folder"
SOURCE_WORDS = "fashion_mnist, folder:PATH, npz:PATH, ..."


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


def add_project(parser: argparse.ArgumentParser, words: str | None = None) -> None:
    """Adds PROJECT: the path of a project file."""
    parser.add_argument("project", metavar="PROJECT", type=Path, help=words)


def add_data_option(parser: argparse.ArgumentParser, words: str = SOURCE_WORDS) -> None:
    """Adds `--data SOURCE`."""
    parser.add_argument("--data", metavar="SOURCE", help=words)


def add_run_option(parser: argparse.ArgumentParser) -> None:
    """Adds `--run DIR`, as `folder`."""
    parser.add_argument("--run", type=Path, metavar="DIR", dest="folder", help="new run folder")
