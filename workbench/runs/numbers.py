"""The numbers of a project's runs: 1, 2, 3, ... in the order in which they were made.

`.run-numbers` beside the runs holds the last number of each project, so that none is given
twice, also when its run was deleted. Lost or damaged, it is made again from the runs.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from workbench.core.storage.file_lock import take_lock
from workbench.core.storage.foreign_file import REQUEST_BYTES, read_foreign
from workbench.core.storage.json_file import DAMAGED, read_json, save_json
from workbench.core.storage.own_file import make_private
from workbench.errors import RunError, os_errors_as

NUMBERS_NAME = ".run-numbers"
_LOCK_NAME = ".run-numbers.lock"
_REQUEST = "request.json"


class _LastNumbers(msgspec.Struct, frozen=True):
    """The last number that was given, by project id."""

    last: dict[str, int] = {}
    version: int = 1


class _ProjectMark(msgspec.Struct, frozen=True):
    id: str = ""


class _Mark(msgspec.Struct, frozen=True):
    """The part of a request that names the project, decoded without the rest."""

    project: _ProjectMark
    number: int = 0


_decoder = msgspec.json.Decoder(_Mark)


def numbered_runs(home: Path, project_id: str) -> dict[int, Path]:
    """The folders of a project's runs by their number, in its order."""
    found: dict[int, Path] = {}
    for request in home.glob(f"*/{_REQUEST}"):
        try:
            mark = _decoder.decode(read_foreign(request, REQUEST_BYTES))
        except (OSError, *DAMAGED):
            continue
        if mark.number and mark.project.id == project_id:
            found[mark.number] = request.parent
    return dict(sorted(found.items()))


def take_number(home: Path, project_id: str, known: dict[int, Path]) -> int:
    """Gives the next number of a project whose runs are `known`; raises SaveError, RunError."""
    fix = "Make the folder of runs writable."
    with os_errors_as(RunError, "The folder of runs cannot be written.", home, fix=fix):
        make_private(home)
        lock = take_lock(home / _LOCK_NAME)
    try:
        path = home / NUMBERS_NAME
        numbers = read_json(path, _LastNumbers) or _LastNumbers()
        number = max(numbers.last.get(project_id, 0), *known, 0) + 1
        save_json(path, _LastNumbers(last={**numbers.last, project_id: number}))
    finally:
        if lock is not None:  # else: two runs with one number are better than none at all
            os.close(lock)
    return number
