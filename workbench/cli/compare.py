"""`workbench compare`: what differs between two runs, and by how much."""

from __future__ import annotations

import argparse

from rich.table import Table
from rich.text import Text

from workbench.cli._options import RUN_WORDS, add_json_option
from workbench.cli._output import console, print_json
from workbench.core.outside_text import one_line
from workbench.runs.library.compare import RunComparison, compare_runs
from workbench.runs.library.index import open_run

NAME = "compare"
HELP = "show what differs between two runs, and by how much"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds two runs."""
    for side in ("left", "right"):
        parser.add_argument(side, metavar="RUN", help=RUN_WORDS)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints what differs, section by section."""
    comparison = compare_runs(open_run(arguments.left), open_run(arguments.right))
    if arguments.json:
        print_json(comparison.to_dict())
    else:
        _print(comparison)
    return 0


def _print(comparison: RunComparison) -> None:
    table = Table(box=None, pad_edge=False)
    names = [summary.label or summary.name for summary in (comparison.left, comparison.right)]
    if names[0] == names[1]:
        names = [comparison.left.name, comparison.right.name]
    for heading in ("", *names, ""):
        table.add_column(_text(heading, "bold"), overflow="fold")
    for section in comparison.sections:
        if section.is_equal and section.key != "results":
            table.add_row(_text(section.title, "bold"), _text(section.note or "identical", "dim"))
            continue
        table.add_row(_text(section.title, "bold"))
        for row in section.rows:
            cells = (f"  {row.title}", row.left, row.right, row.difference)
            table.add_row(*(_text(cell) for cell in cells))
    terminal = console(is_result=True)
    terminal.print(table)
    if comparison.accuracy is not None:
        terminal.print(_text(comparison.accuracy.words))
    if comparison.edits.words:
        terminal.print(_text(f"{comparison.edits.words}.", "yellow"))


def _text(words: str, style: str = "") -> Text:
    """Words from files, without what could drive the terminal or rich's markup."""
    return Text(one_line(words), style=style)
