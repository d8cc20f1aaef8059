"""`workbench data check`: what a source holds, and which of its files cannot be read."""

from __future__ import annotations

import argparse

from workbench.cli._options import SOURCE_WORDS, add_json_option
from workbench.cli._output import print_json, print_line, printable
from workbench.cli._service import ask_one
from workbench.core.projects.source import parse_source
from workbench.datasets import all_datasets
from workbench.protocol.messages import DataDescription, DescribeData

NAME = "data"
HELP = "inspect a data set"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """`check SOURCE`."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    check = commands.add_parser("check", help="image counts, and files that cannot be read")
    check.add_argument("source", metavar="SOURCE", help=SOURCE_WORDS)
    add_json_option(check)


def run(arguments: argparse.Namespace) -> int:
    """Prints the counts; 1 when there are unreadable files."""
    choice = parse_source(arguments.source, all_datasets())
    request = DescribeData(id=1, source=choice.key, params=dict(choice.params))
    answer = ask_one(request, DataDescription, is_quiet=arguments.json)
    if arguments.json:
        print_json(_as_json(answer))
    else:
        _print_table(answer)
    return 1 if answer.bad_files else 0


def _as_json(description: DataDescription) -> dict[str, object]:
    return {
        "ok": not description.bad_files,
        "title": description.title,
        "train": description.num_train,
        "test": description.num_test,
        "validation": description.num_validation,
        "shape": description.shape or None,
        "classes": [
            {
                "class": c.name,
                "train": c.num_train,
                "test": c.num_test,
                "validation": c.num_validation,
            }
            for c in description.classes
        ],
        "bad_files": [{"file": file, "reason": why} for file, why in description.bad_files],
        "notes": description.notes,
    }


def _print_table(description: DataDescription) -> None:
    has_validation = description.num_validation > 0
    for each in description.classes:
        numbers = (each.num_train, each.num_validation, each.num_test)
        print(printable(_line(each.name, numbers, has_validation=has_validation)))
    numbers = (description.num_train, description.num_validation, description.num_test)
    print(_line("total", numbers, has_validation=has_validation))
    for note in description.notes:
        print_line(note)
    for file, why in description.bad_files:
        print_line(f"cannot be read: {file}: {why}")


def _line(name: str, numbers: tuple[int, int, int], *, has_validation: bool) -> str:
    """Name and counts in columns; a validation part only where the source has one."""
    parts = zip(numbers, ("train", "validation", "test"), strict=True)
    shown = [part for part in parts if has_validation or part[1] != "validation"]
    return f"{name:28} " + " ".join(f"{number:>9,} {part}" for number, part in shown)
