"""Makes a run of a project and a file: what `load` and `readback` share."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli._output import print_json, tell
from workbench.cli._service import ask
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
    for answer in ask(request, is_quiet=arguments.json):
        if isinstance(answer, Done):
            if arguments.json:
                print_json({"run": answer.path, "text": answer.text})
            else:
                tell(f"{answer.text} Run: {answer.path}.")
    return 0
