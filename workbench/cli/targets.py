"""`workbench targets`: what can train here, what the environment names, and the computers that
were connected before.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from workbench.checkup.doctor import OfferedTarget, offered_targets
from workbench.cli._options import add_json_option
from workbench.cli._output import print_json, printable
from workbench.core.projects.target_text import target_text
from workbench.remote.ssh.saved_targets import saved_choices
from workbench.targets import all_targets

NAME = "targets"
HELP = "list the targets that can train"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """No arguments but --json."""
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Prints what there is, one line each, with what keeps it from training."""
    lines = [_plain(offered) for offered in (*offered_targets(os.environ), *_saved())]
    if arguments.json:
        for line in lines:
            print_json(line)
    else:
        _print(lines)
    return 0


def _saved() -> Iterator[OfferedTarget]:
    for choice, words in saved_choices():
        why = f"connected before: {words}" if words else "saved by `workbench host add`"
        yield OfferedTarget(all_targets()[choice.key], choice, why)


def _plain(offered: OfferedTarget) -> dict[str, Any]:
    spec, params = offered.spec, offered.choice.params
    problem = spec.probe(params)
    return {
        "key": spec.key,
        "text": target_text(offered.choice, all_targets()),
        "title": spec.title,
        "description": spec.describe(params),
        "replicas": spec.replicas(params),
        "is_remote": spec.is_remote(params),
        "is_ready": problem is None,
        "problem": problem.to_dict() if problem is not None else None,
        "found_by": offered.why,
    }


def _print(lines: list[dict[str, Any]]) -> None:
    table = Table(box=None, pad_edge=False)
    for heading in ("Target", "Description", "Replicas", "State"):
        table.add_column(heading, header_style="bold", overflow="fold")
    for line in lines:
        words = [f"{line['title']}: {line['description']}"]
        words += [line["found_by"]] if line["found_by"] else []
        state = "ready" if line["is_ready"] else line["problem"]["what"]
        replicas = f"{line['replicas']:,}" if line["is_ready"] else ""
        cells = (line["text"], "; ".join(words), replicas, state)
        table.add_row(*(Text(printable(cell)) for cell in cells))
    Console().print(table)
