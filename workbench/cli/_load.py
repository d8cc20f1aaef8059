"""Makes a run of a project and a file: what `load` and `readback` share."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli._output import report
from workbench.cli._service import ask_one
from workbench.core.projects.project_file import project_text, read_project
from workbench.protocol.messages import Done, LoadWeights


def load_file(arguments: argparse.Namespace, file: Path, folder: Path | None = None) -> int:
    """Asks a worker to load a file, and prints the new run.

    Args:
        arguments: With `project` and `json`.
        file: The weights, or the result of a notebook.
        folder: The new run's folder; one among the user's runs where None.
    """
    request = LoadWeights(
        id=1,
        project=project_text(read_project(arguments.project)),
        weights=str(file.resolve()),
        run=str(folder.resolve()) if folder is not None else "",
    )
    done = ask_one(request, Done, is_quiet=arguments.json)
    value, words = {"run": done.path, "text": done.text}, f"{done.text} Run: {done.path}."
    report(value, words, as_json=arguments.json)
    return 0
