"""`workbench export`: a run's model for the world outside."""

from __future__ import annotations

import argparse

from workbench.cli._options import RUN_WORDS, add_json_option, add_output, refuse_existing
from workbench.cli._output import report
from workbench.cli._service import ask_one
from workbench.errors import UsageError
from workbench.exports import run_exports
from workbench.protocol.messages import Done, Export
from workbench.runs.library.find import find_model

NAME = "export"
HELP = "write a trained model as a Keras model, as weights, or as a Python script"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """RUN, FORMAT, OUT, --force, --json."""
    parser.add_argument("model", metavar="RUN", help=RUN_WORDS)
    parser.add_argument("format", metavar="FORMAT", help=", ".join(run_exports()))
    add_output(parser, "file to write")
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
    refuse_existing(arguments.out, force=arguments.force)
    out = str(arguments.out.absolute())
    request = Export(id=1, model=find_model(arguments.model), format=arguments.format, path=out)
    done = ask_one(request, Done, is_quiet=arguments.json)
    value = {"format": arguments.format, "path": out, "text": done.text}
    report(value, done.text or f"Wrote {out}.", as_json=arguments.json)
    return 0
