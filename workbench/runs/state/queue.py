"""Runs that wait for their turn: one after another on each computer, with a window or without.

A waiting run is a run folder with a `waiting` marker. Each process that may find a computer free
calls `start_next`: a trainer or run mirror that has just ended, a window at its refresh, the
command line. What follows a training (calibration, test) is part of its turn: it takes all cores as
the next training does, so both at once would slow each other down, and the speeds that are measured
would be others. Who needs the next run first skips what is left of the one before
(`control.request_skip`). All changes are made under one lock of the home folder, so that a run is
started once, however many call it at the same moment.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from workbench.core.format import plural
from workbench.core.storage.foreign_file import SMALL_BYTES, is_folder, read_foreign
from workbench.core.storage.json_file import DAMAGED, read_json, save_json
from workbench.core.storage.own_file import make_private, take_lock
from workbench.core.storage.save import save_bytes
from workbench.errors import (
    InputError,
    RunError,
    RunFolderError,
    SaveError,
    WorkbenchError,
    os_errors_as,
)
from workbench.protocol.events import LogLine, RunFinished
from workbench.protocol.wire import error_parts
from workbench.runs.environment import is_remote
from workbench.runs.folder import Extension, RunFolder
from workbench.runs.home import check_own, data_home, is_own, locked_record, runs_home
from workbench.runs.link import has_mirror
from workbench.runs.log.event_log import EventWriter, read_all
from workbench.runs.log.history import MetricHistory
from workbench.runs.start import start_trainer
from workbench.runs.trust import (
    check_known,
    is_sealed,
    place_of,
    place_words,
    places_of,
    request_parts,
    seal,
)

# home lock -----------------------------------------------------------------------------------
# Locks of a home folder: what several processes change together is changed by one at a time.

QUEUE_LOCK = ".queue.lock"
SERIES_LOCK = ".series.lock"


@contextlib.contextmanager
def home_lock(home: Path, name: str, title: str, wait_s: float) -> Iterator[None]:
    """Holds a lock of a home folder, which is made where there is none.

    Args:
        home: The folder.
        name: The lock's file.
        title: What it protects, in messages: "queue".
        wait_s: How long another process or thread is waited for, in seconds.

    Raises:
        RunError: another one holds it all the time.
        SaveError: the folder cannot be written.
    """
    fix = "Choose a writable runs folder."
    with os_errors_as(SaveError, f"The {title} cannot be changed.", home, fix=fix):
        make_private(home)
        lock = take_lock(home / name, wait_s=wait_s)
    if lock is None:
        raise RunError(
            f"The {title} is locked by another process.",
            where=str(home / name),
            fix="Try again, or end other Workbench processes.",
        )
    try:
        yield
    finally:
        os.close(lock)


# outside -------------------------------------------------------------------------------------
# Runs outside of the runs folder: those that were made in a folder that a person has named.
#
# Their folders are kept in the state folder, not in the runs folder: what comes with a runs folder
# from elsewhere must not name any place of this computer.

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


# queue ---------------------------------------------------------------------------------------

MARKER_NAME = "waiting"

_LOCK_WAIT_S = 10.0
"""Long: a caller that gets no lock would have to try again, and a trainer's end tries once."""

_LAST = sys.maxsize


class _Marker(msgspec.Struct, frozen=True, kw_only=True):
    """The content of the marker: the place in the queue, the log's size when it was set, the
    epochs that it is to be extended to, the computer that it waits for ("" for this one), and the
    mark by which it is known to have been set here.
    """

    order: int = _LAST
    since: float = 0.0
    is_resumed: bool = False
    log_bytes: int = 0
    extension: Extension | None = None
    computer: str = ""
    seal: str = ""


def enqueue(run: RunFolder, *, resume: bool = False, extension: Extension | None = None) -> int:
    """Puts a run behind the ones that wait in its home, to start, or to `resume` from its
    checkpoint, for more epochs with an `extension`; one that waits keeps its place. Returns how
    many are before it.

    Nothing is started: call `start_next` afterwards.

    Raises:
        RunFolderError: a trainer works on it.
        LinkFoundError: the run is behind a link.
        UnknownPlaceError: addresses that it would connect to have not been confirmed.
        RunError: the queue is locked by something that hangs.
        SaveError: the marker cannot be written.
    """
    check_own(run.path)
    with contextlib.suppress(InputError):  # a damaged run is reported when it is its turn
        check_known(*places_of(run))
    with _locked(run.path.parent):
        if run.is_alive():
            raise RunFolderError("This run is already being trained.", where=str(run.path))
        entries = _entries(run.path.parent)
        placed = {entry.path: marker for entry, marker in entries}
        if run.path not in placed or not _is_sealed(run, placed[run.path]):
            last = max((marker.order for _, marker in entries), default=0)
            marker = _Marker(
                order=min(last, _LAST - 1) + 1,
                since=time.time(),
                is_resumed=resume,
                log_bytes=_size(run.events_path),
                extension=extension,
                computer=_computer_of(run),
                seal=seal(MARKER_NAME, *request_parts(run)),
            )
            _write(run, marker)
        return num_before(run)


def waiting(home: Path | None = None) -> list[RunFolder]:
    """The waiting runs of a home folder, the next one first."""
    return [run for run, _ in _entries(home or runs_home())]


def is_waiting(run: RunFolder) -> bool:
    """True while a run waits for its turn. Cheap where it does not: one look at a file."""
    return _marker_of(run) is not None and not run.is_alive()


def starts_by_itself(run: RunFolder) -> bool:
    """Whether a waiting run was queued here: one whose folder came from elsewhere is started by a
    person or not at all.
    """
    marker = _marker_of(run)
    return marker is not None and _is_sealed(run, marker)


def num_before(run: RunFolder) -> int:
    """How many waiting runs will be started before this one."""
    paths = [entry.path for entry, _ in _entries(run.path.parent)]
    return paths.index(run.path) if run.path in paths else len(paths)


def waiting_words(num_runs_before: int, *, starts_by_itself: bool = True) -> str:
    """What a waiting run waits for, as a sentence."""
    if not starts_by_itself:
        return "Queued elsewhere: it starts when you start it."
    return (
        f"Queued: {plural(num_runs_before, 'run')} before it."
        if num_runs_before
        else "Queued, next."
    )


def move(run: RunFolder, by: int) -> None:
    """Moves a waiting run some places, -1 one nearer to its turn; RunFolderError where it does not
    wait (any more), others as `enqueue`.
    """
    check_own(run.path)
    with _locked(run.path.parent):
        entries = _entries(run.path.parent)
        paths = [entry.path for entry, _ in entries]
        if run.path not in paths:
            raise _not_waiting(run)
        old = paths.index(run.path)
        entries.insert(max(0, old + by), entries.pop(old))
        for order, (entry, marker) in enumerate(entries, 1):
            if marker.order != order:
                _write(entry, msgspec.structs.replace(marker, order=order))


def cancel(run: RunFolder) -> None:
    """Removes a waiting run from the queue; it can be put in again. Errors as of `move`.

    One that never began is logged as stopped, one that was to be resumed stays as before.
    """
    check_own(run.path)
    with _locked(run.path.parent):
        if not is_waiting(run):
            raise _not_waiting(run)
        if not _size(run.events_path):
            log_never_begun(run, "Removed from the queue before it started.")
        _remove_marker(run)


def start_now(run: RunFolder) -> None:
    """Starts a waiting run although others train or wait before it; raises RunFolderError where it
    does not wait (any more), RunError where the trainer cannot be started.
    """
    check_own(run.path)
    with _locked(run.path.parent):
        marker = _marker_of(run)
        if marker is None or run.is_alive():
            raise _not_waiting(run)
        _start(run, marker)


def start_next(home: Path | None = None) -> RunFolder | None:
    """Starts, for each computer that trains none, the first waiting run of a home folder that was
    queued here; returns the first one that was started, None where there is none.

    A run that cannot be started is logged as failed, and the next one has its turn.
    One that the system rejects (folder, process) goes on waiting: that may pass. Where it rejects
    all, the first refusal is raised, a WorkbenchError, as it is when the queue's lock hangs.
    """
    home = home or runs_home()
    if not _entries(home):
        return None
    started: list[RunFolder] = []
    refused: list[WorkbenchError] = []
    with _locked(home):
        busy = {_computer_of(run) for run in _around(home) if run.is_alive()}
        for run, marker in _entries(home):
            if marker.computer in busy or not _is_sealed(run, marker):
                continue
            try:
                _start(run, marker)
            except WorkbenchError as error:
                if run.is_alive():
                    busy.add(marker.computer)  # the user has just started it
                elif isinstance(error.__cause__, OSError):
                    refused.append(error)
                else:
                    _log_failed(run, error)
                    _remove_marker(run)
            else:
                started.append(run)
                busy.add(marker.computer)
    if refused and not started:
        raise refused[0]
    return started[0] if started else None


def start_next_after(run: RunFolder) -> None:
    """What a trainer calls when it has ended and its lock is free; never raises."""
    outside = (Path(path).parent for path in outside_runs(runs_home()))
    for home in dict.fromkeys([run.path.parent, runs_home(), *outside]):
        try:
            start_next(home)
        except (WorkbenchError, OSError) as error:
            sys.stderr.write(f"The next queued run could not be started: {error}\n")


def _computer_of(run: RunFolder) -> str:
    """The other computer that trains a run or will; "" for this one."""
    if run.is_alive() and not has_mirror(run):
        return ""
    try:
        target = place_of(run)
        return place_words(target) if is_remote(target) else ""
    except WorkbenchError:
        return ""


def _around(home: Path) -> Iterator[RunFolder]:
    """The runs that share the computers with those of a home folder: those in it, in the user's
    one, and those outside, in folders that a person has named.
    """
    for folder in dict.fromkeys([home, runs_home()]):
        yield from _folders(folder)
    yield from (RunFolder(Path(path)) for path in outside_runs(runs_home()))


def _folders(home: Path) -> Iterator[RunFolder]:
    try:
        with os.scandir(home) as entries:
            for entry in entries:
                if is_folder(entry):
                    yield RunFolder(Path(entry.path))
    except OSError:
        return


def _entries(home: Path) -> list[tuple[RunFolder, _Marker]]:
    """The waiting runs in their order."""
    found: list[tuple[RunFolder, _Marker]] = []
    for run in _folders(home):
        marker = _marker_of(run)
        if marker is not None and not run.is_alive():
            found.append((run, marker))
    return sorted(found, key=lambda pair: (pair[1].order, pair[1].since, pair[0].name))


def _marker_of(run: RunFolder) -> _Marker | None:
    """The marker; None too for one left by a kill just after the run was started, and for one
    behind a link.
    """
    try:
        data = read_foreign(run.path / MARKER_NAME, SMALL_BYTES)
        marker = msgspec.json.decode(data, type=_Marker)
    except OSError:
        return None
    except DAMAGED:
        marker = _Marker()  # it still waits, behind all others, if it never began
    return marker if marker.log_bytes == _size(run.events_path) and is_own(run.path) else None


def _is_sealed(run: RunFolder, marker: _Marker) -> bool:
    return is_sealed(marker.seal, MARKER_NAME, *request_parts(run))


def _start(run: RunFolder, marker: _Marker) -> None:
    start_trainer(run, resume=marker.is_resumed, extension=marker.extension)
    # From here the running trainer, then its first event, shows that nothing waits: a kill
    # right now starts nothing twice.
    _remove_marker(run)


def _write(run: RunFolder, marker: _Marker) -> None:
    save_bytes(run.path / MARKER_NAME, msgspec.json.encode(marker))


def _remove_marker(run: RunFolder) -> None:
    with contextlib.suppress(OSError):  # its log has grown: the marker says nothing any more
        (run.path / MARKER_NAME).unlink()


def log_never_begun(run: RunFolder, why: str) -> None:
    """Logs, in an empty log, that a run was stopped before it began; raises SaveError."""
    check_own(run.path)
    with EventWriter(run.events_path) as writer:
        writer.write(LogLine(text=why))
        writer.write(
            RunFinished(
                outcome="stopped", run=str(run.path), seconds=0.0, epochs_done=0, can_resume=True
            )
        )


def _log_failed(run: RunFolder, error: WorkbenchError) -> None:
    history = MetricHistory()
    history.add_all(read_all(run.events_path))
    with contextlib.suppress(OSError, SaveError), EventWriter(run.events_path) as writer:
        writer.write(
            RunFinished(
                outcome="failed",
                run=str(run.path),
                seconds=history.elapsed_s,
                epochs_done=len(history.epochs),
                best=history.best,
                error=error_parts(error),
            )
        )


def _not_waiting(run: RunFolder) -> RunFolderError:
    return RunFolderError(
        "This run is not queued.",
        where=str(run.path),
        fix="The queued runs are listed in Train, in a terminal by `workbench queue`.",
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _locked(home: Path) -> contextlib.AbstractContextManager[None]:
    """Holds the queue of a home folder."""
    return home_lock(home, QUEUE_LOCK, "queue", _LOCK_WAIT_S)
