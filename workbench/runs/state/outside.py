"""Runs outside of the runs folder: those that were made in a folder that a person has named.

Their folders are kept in the state folder, not in the runs folder: what comes with a runs folder
from elsewhere must not name any place of this computer.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from workbench.core.storage.json_file import read_json, save_json
from workbench.runs.folder import RunFolder
from workbench.runs.home import data_home, locked_record, runs_home

MAX_FOLDERS = 500
_NAME = "outside-runs.json"


class _OutsideRuns(msgspec.Struct, frozen=True):
    """Absolute paths, the latest last."""

    folders: list[str] = []
    version: int = 1


def remember_outside(run: RunFolder) -> None:
    """Keeps where a run is, for the list of runs; raises SaveError. One in the runs folder is
    found there.
    """
    path = run.path.absolute()
    if ".." in path.parts:
        path = path.resolve()  # it is listed once, whatever way led there
    if path.parent.resolve() == runs_home().resolve():
        return
    with locked_record(_NAME, "The run will not be listed.") as record:
        folders = dict.fromkeys([*_read(), str(path)])
        save_json(record, _OutsideRuns(list(folders)[-MAX_FOLDERS:]), is_private=True)


def outside_runs(home: Path) -> list[str]:
    """The absolute paths of the runs outside of a runs folder that is the user's; none for another.
    Some may be gone.
    """
    if home != runs_home():
        return []
    found = map(Path, _read())
    return [str(path) for path in found if path.is_absolute() and path.parent != home]


def place_text(path: Path, home: Path) -> str:
    """How a run's folder is named: by its name in the runs folder, else by its path."""
    return path.name if path.parent == home else str(path)


def _read() -> list[str]:
    return (read_json(data_home() / _NAME, _OutsideRuns) or _OutsideRuns()).folders
