"""Last known path of each project's file: a project may be saved, or saved elsewhere, after its
runs.

`.run-projects` beside the runs holds the last known file of each project by its id.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from workbench.core.projects.project_file import PROJECT_SUFFIX
from workbench.core.storage.json_file import read_json, save_json
from workbench.core.storage.own_file import make_private
from workbench.runs.library.summary import RunSummary

PLACES_NAME = ".run-projects"
MAX_PLACES = 1000


class _Places(msgspec.Struct, frozen=True):
    files: dict[str, str] = {}
    version: int = 1


def read_places(home: Path) -> dict[str, str]:
    """The last known file of each project by its id; none where they cannot be read."""
    return (read_json(home / PLACES_NAME, _Places) or _Places()).files


def keep_place(home: Path, project_id: str, path: str) -> None:
    """Keeps where a project's file is; raises SaveError."""
    files = read_places(home)
    if files.get(project_id) == path:
        return
    files.pop(project_id, None)
    files[project_id] = path
    make_private(home)
    save_json(
        home / PLACES_NAME, _Places(files=dict(list(files.items())[-MAX_PLACES:])), is_private=True
    )


def as_called_now(runs: Iterable[RunSummary], home: Path) -> list[RunSummary]:
    """Runs with the present file of their project, by which it is called: it may have been saved,
    or saved elsewhere, after they were started.
    """
    files = read_places(home)
    return [_with_file(run, files.get(run.project_id, "")) for run in runs]


def _with_file(run: RunSummary, path: str) -> RunSummary:
    if path in {"", run.project_path}:
        return run
    name = Path(path).name.removesuffix(PROJECT_SUFFIX)
    return msgspec.structs.replace(run, project=name, project_path=path)


def file_of(run: RunSummary, places: dict[str, str]) -> Path | None:
    """The file of a run's project, as far as it is known and there."""
    candidates = (places.get(run.project_id, ""), run.project_path)
    return next((Path(path) for path in candidates if path and Path(path).is_file()), None)
