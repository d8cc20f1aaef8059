"""The list of all runs, fast: the figures of runs that are over are kept in one file.

The file is a cache: deleted, damaged or of another version, it is made again from the
folders. A run is read again when its log or its notes are not those of its line.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import msgspec

from workbench.core.storage.foreign_file import is_folder, read_foreign
from workbench.core.storage.json_file import DAMAGED
from workbench.core.storage.own_file import refuse_link
from workbench.core.storage.save import save_bytes
from workbench.errors import LinkFoundError, RunFolderError, SaveError, os_errors_as
from workbench.runs.folder import RunFolder
from workbench.runs.home import runs_home
from workbench.runs.library.filter import matches
from workbench.runs.library.places import as_called_now
from workbench.runs.library.summary import SUMMARY_VERSION, RunSummary, summarise
from workbench.runs.state.outside import outside_runs
from workbench.runs.state.queue import MARKER_NAME
from workbench.runs.store.notes import NOTES_NAME

__all__ = ["INDEX_NAME", "RunSummary", "index_problem", "list_runs", "matches", "summarise"]

INDEX_NAME = ".runs-index"
_MOST_BYTES = 64 * 1024 * 1024
"""Room for 20,000 runs with long notes."""

Stamp = tuple[int, int, int, int]
"""Size and time of the event log, time and file number of the notes; 0 where there is none."""


class _Line(msgspec.Struct, frozen=True, array_like=True):
    stamp: Stamp
    summary: RunSummary


class _Index(msgspec.Struct, frozen=True, array_like=True):
    version: int
    lines: dict[str, _Line]


_encoder = msgspec.msgpack.Encoder(enc_hook=str)  # a Path
_decoder = msgspec.msgpack.Decoder(_Index, dec_hook=lambda kind, value: kind(value))


def list_runs(home: Path | None = None) -> list[RunSummary]:
    """All runs, newest first; with the user's own ones those that were made outside of the runs
    folder. Folders that are no runs are passed over. Raises RunFolderError where the runs folder
    cannot be read.
    """
    home = home or runs_home()
    old = _read_index(home)
    new: dict[str, _Line] = {}
    found: list[RunSummary] = []
    for name in [*_folder_names(home), *outside_runs(home)]:
        run = RunFolder(home / name)  # an absolute path stays as it is
        stamp = _stamp(run)
        line = old.get(name)
        is_settled = True
        if line is None or line.stamp != stamp or _is_under_way(run):
            is_settled = not run.is_alive()  # a trainer that has just finished still tidies up
            summary = summarise(run)
            if summary is None:
                continue
            line = _Line(stamp, summary)
        elif line.summary.path != run.path:  # the home has been moved
            line = _Line(stamp, msgspec.structs.replace(line.summary, path=run.path, name=name))
        found.append(line.summary)
        if line.summary.is_over and line.summary.is_readable and is_settled:
            new[name] = line
    if new != old:
        _write_index(home, new)
    found.sort(key=lambda summary: (summary.created, summary.name), reverse=True)
    return as_called_now(found, home)


def index_problem(home: Path | None = None) -> LinkFoundError | None:
    """Why the list is not kept: a link has the name of its file. None otherwise."""
    try:
        refuse_link((home or runs_home()) / INDEX_NAME)
    except LinkFoundError as error:
        return error
    return None


def _folder_names(home: Path) -> list[str]:
    fix = "Make the folder readable, or choose another one."
    with os_errors_as(RunFolderError, "The runs cannot be listed.", home, fix=fix):
        try:
            with os.scandir(home) as entries:
                return [entry.name for entry in entries if is_folder(entry)]
        except FileNotFoundError:  # before the first run
            return []


def _stamp(run: RunFolder) -> Stamp:
    folder = os.fspath(run.path)
    log, notes = _stat(f"{folder}/events.jsonl"), _stat(f"{folder}/{NOTES_NAME}")
    return (
        log.st_size if log else 0,
        log.st_mtime_ns if log else 0,
        notes.st_mtime_ns if notes else 0,
        notes.st_ino if notes else 0,
    )


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - a thousand Paths would take longer than the rest
    except OSError:
        return None


def _is_under_way(run: RunFolder) -> bool:
    """Whether a run waits to be resumed, or its trainer runs and has logged nothing yet."""
    return _stat(f"{os.fspath(run.path)}/{MARKER_NAME}") is not None or run.is_alive()


def _read_index(home: Path) -> dict[str, _Line]:
    try:
        index = _decoder.decode(read_foreign(home / INDEX_NAME, _MOST_BYTES))
    except (OSError, *DAMAGED):
        return {}
    return index.lines if index.version == SUMMARY_VERSION else {}


def _write_index(home: Path, lines: dict[str, _Line]) -> None:
    # A read-only folder, or one with a link in that place, is listed all the same, only slower.
    with contextlib.suppress(SaveError):
        save_bytes(home / INDEX_NAME, _encoder.encode(_Index(SUMMARY_VERSION, lines)))
