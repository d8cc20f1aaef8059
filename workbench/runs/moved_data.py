"""Present paths of images that runs were trained on, once their files or folders were moved: a
record of this user, beside the settings.

A run keeps the path that it was trained with, for ever. Where nothing is at a path, its images are
looked for at the place that this user has named for it, for every project and run. A run folder may
come from elsewhere: nothing that arrives with it adds to the record, and a path where something is,
is never another one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from workbench.core.params import Param, PathParam, PathsParam
from workbench.core.projects.project import Choice
from workbench.core.storage.json_file import read_json, save_json
from workbench.datasets import all_datasets
from workbench.runs.home import data_home, locked_record

_NAME = "moved-data.json"
_MOST = 1_000
"""Moves kept, the oldest go first."""
_MOST_STEPS = 8
"""Moves of the same folder, one after the other."""


class _Moves(msgspec.Struct, frozen=True):
    """Absolute path -> where its content is now, the latest last."""

    places: dict[str, str] = {}
    version: int = 1


def place_now(path: str) -> str:
    """Present path of a file or folder: the path itself where something is there, or where nothing
    is known of it. Looks at the disk.
    """
    moves = _moves()
    if not moves or not path or "://" in path or _is_there(path):
        return path
    found = os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111 - keeps odd text
    for _ in range(_MOST_STEPS):
        step = _step(found, moves)
        if not step:
            break
        found = step
        if _is_there(found):
            return found
    return path


def data_now(choice: Choice) -> Choice:
    """A data set with the places where its files and folders are now."""
    spec = all_datasets().get(choice.key)
    params = params_now(spec.params, choice.params) if spec is not None else choice.params
    return Choice(choice.key, params)


def params_now(params: tuple[Param, ...], values: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a data set's parameters with present paths, as `data_now` gives them."""
    found = dict(values)
    for param in params:
        value = values.get(param.key)
        if isinstance(param, PathParam) and isinstance(value, str):
            found[param.key] = place_now(value)
        elif isinstance(param, PathsParam) and isinstance(value, list | tuple):
            found[param.key] = tuple(place_now(each) for each in value)
    return found


def keep_place_of(old: str, new: str) -> None:
    """What was at a path is at another one now: this user says so. Raises SaveError."""
    before, after = (os.path.abspath(os.path.expanduser(each)) for each in (old, new))  # noqa: PTH100, PTH111
    with locked_record(_NAME, "Where the images are could not be saved.") as path:
        places = {key: value for key, value in _moves().items() if key not in {before, after}}
        places[before] = after
        kept = dict(list(places.items())[-_MOST:])
        save_json(path, _Moves(kept), is_private=True)


def _step(path: str, moves: Mapping[str, str]) -> str:
    """One move of a path, or of a folder above it; "" where none is known."""
    for folder in _upwards(path):
        if folder in moves:
            return moves[folder] + path[len(folder) :]
    return ""


def _upwards(path: str) -> Iterator[str]:
    """A path, then the folders above it."""
    yield path
    while (parent := os.path.dirname(path)) != path:  # noqa: PTH120 - a hundred thousand files
        yield parent
        path = parent


def _is_there(path: str) -> bool:
    try:
        return os.path.exists(os.path.expanduser(path))  # noqa: PTH110, PTH111 - as above
    except ValueError:
        return False


def _moves() -> Mapping[str, str]:
    path = data_home() / _NAME
    try:
        status = os.stat(path)  # noqa: PTH116 - as above
    except OSError:
        return {}
    return _read(path, status.st_mtime_ns, status.st_ino, status.st_size)


@lru_cache(maxsize=4)
def _read(path: Path, *_stamp: int) -> Mapping[str, str]:
    return (read_json(path, _Moves) or _Moves()).places
