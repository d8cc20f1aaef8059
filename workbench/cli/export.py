"""`workbench export`: a run's model for the world outside."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli._options import add_json_option
from workbench.cli._output import report
from workbench.cli._service import ask_one
from workbench.errors import UsageError
from workbench.exports import run_exports
from workbench.protocol.messages import Done, Export
from workbench.runs.folder import find_model

NAME = "export"
HELP = "write a trained model as a Keras model, as weights, or as a Python script"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """RUN, FORMAT, OUT, --json."""
    parser.add_argument("model", metavar="RUN", help="run folder or run name")
    parser.add_argument("format", metavar="FORMAT", help=", ".join(run_exports()))
    parser.add_argument("out", metavar="OUT", type=Path)
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes OUT; a file that was there before stays when it fails."""
    formats = run_exports()
    if arguments.format not in formats:
        raise UsageError(
            "Unknown export format.",
            received=arguments.format,
            expected="one of " + ", ".join(formats),
        )
    out = str(arguments.out.absolute())
    request = Export(id=1, model=find_model(arguments.model), format=arguments.format, path=out)
    done = ask_one(request, Done, is_quiet=arguments.json)
    value = {"format": arguments.format, "path": out, "text": done.text}
    report(value, done.text or f"Wrote {out}.", as_json=arguments.json)
    return 0
