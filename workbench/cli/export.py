"""`workbench export`: a run's model, or a project without one, for the world outside."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli._options import RUN_WORDS, add_json_option, add_output, refuse_existing
from workbench.cli._output import report
from workbench.cli._service import ask_one
from workbench.core.projects.project_file import PROJECT_SUFFIX, project_text, read_project
from workbench.errors import UsageError
from workbench.exports import run_exports, untrained_exports
from workbench.protocol.export import Export, ExportProject
from workbench.protocol.messages import Done
from workbench.runs.library.find import find_model

NAME = "export"
HELP = "write a model as a Keras model, as weights, or as a Python script"

_NEEDS_RUN = "This format needs weights, and a project file has none."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """RUN, FORMAT, OUT, --force, --json."""
    words = f"{RUN_WORDS}; or a project file, trained or not: {', '.join(untrained_exports())}"
    parser.add_argument("model", metavar="RUN", help=words)
    parser.add_argument("format", metavar="FORMAT", help=", ".join(run_exports()))
    add_output(parser, "file to write")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Writes OUT; a file that was there before stays when it fails."""
    is_project = arguments.model.endswith(PROJECT_SUFFIX) and Path(arguments.model).is_file()
    formats = untrained_exports() if is_project else run_exports()
    if arguments.format not in formats:
        raise UsageError(
            _NEEDS_RUN if arguments.format in run_exports() else "Unknown export format.",
            received=arguments.format,
            expected="one of " + ", ".join(formats),
            fix="Train it, and export the run." if is_project else "",
        )
    refuse_existing(arguments.out, force=arguments.force)
    out = str(arguments.out.absolute())
    request: Export | ExportProject
    if is_project:
        project = project_text(read_project(Path(arguments.model)))
        request = ExportProject(id=1, project=project, format=arguments.format, path=out)
    else:
        model = find_model(arguments.model)
        request = Export(id=1, model=model, format=arguments.format, path=out)
    done = ask_one(request, Done, is_quiet=arguments.json)
    value = {"format": arguments.format, "path": out, "text": done.text}
    report(value, done.text or f"Wrote {out}.", as_json=arguments.json)
    return 0
