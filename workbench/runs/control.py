"""Commands to a trainer: one small file, written by any process, read by the trainer.

Of a run that another computer trains the run mirror reads it: it forwards the trainer's commands
and carries out its own.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from pathlib import Path
from typing import Literal

from workbench.core.storage.foreign_file import open_foreign
from workbench.core.storage.own_file import open_own
from workbench.core.storage.save import is_full_disk, save_bytes
from workbench.errors import LinkFoundError, RunError, SaveError
from workbench.runs.folder import RunFolder
from workbench.runs.home import check_own

Command = Literal["stop", "pause", "median"]
Request = Literal["skip", "skip_all", "again", "save"]
"""skip: leave out the present phase behind the last step; skip_all: and those that follow; again:
try to write the weights now; save: write them to another folder, whose path follows. Taken once,
and by such a phase alone.
"""

MirrorCommand = Literal[
    "stop", "pause", "median", "skip", "skip_all", "again", "terminate", "kill", "leave"
]
"""median: stop as hopeless, sent by the run mirror alone; terminate, kill: end the trainer there by
a signal; leave: end here, it goes on there.
"""

_COMMANDS: dict[bytes, Command] = {b"stop": "stop", b"pause": "pause", b"median": "median"}
_MIRROR_COMMANDS: dict[bytes, MirrorCommand] = {
    **_COMMANDS,
    b"skip": "skip",
    b"skip_all": "skip_all",
    b"again": "again",
    b"terminate": "terminate",
    b"kill": "kill",
    b"leave": "leave",
}
_REQUESTS: dict[bytes, Request] = {
    b"skip": "skip",
    b"skip_all": "skip_all",
    b"again": "again",
    b"save": "save",
}
_MAX_BYTES = 8192
_NOTHING = b"\0 \n"
_MAX_SENDER_BYTES = 200
_LOCK_TRIES, _LOCK_EVERY_S = 50, 0.02
_ROOM_BYTES = 4096
"""A block of the disk: a command that fits into it can be written on a full disk, too."""


def request_stop(run: RunFolder, *, sender: str = "") -> None:
    """Requests the trainer to finish its current steps, test and save the weights, and end.

    As all of these, raises SaveError where the run folder cannot be written.

    Args:
        run: The run.
        sender: What requests it, in words, for others that follow the run.
    """
    _keep_sender(run, sender)
    send_command(run, "stop")


def request_pause(run: RunFolder, *, sender: str = "") -> None:
    """Requests the trainer to finish its current steps, keep a checkpoint for `resume`, and end."""
    _keep_sender(run, sender)
    send_command(run, "pause")


def request_skip(run: RunFolder, *, is_all: bool = False) -> None:
    """Requests the trainer to leave out what it does behind the last step: the present phase, or
    `is_all` that is left.
    """
    send_command(run, "skip_all" if is_all else "skip")


def request_again(run: RunFolder) -> None:
    """Requests a trainer that waits for room to try to write the weights now."""
    send_command(run, "again")


def request_save(run: RunFolder, folder: Path) -> None:
    """Requests a trainer that waits for room to write the weights into a new folder elsewhere.

    Raises:
        RunError: the folder is no new one.
    """
    folder = folder.absolute()
    is_inside = run.path.absolute() in folder.parents
    if is_inside or folder.exists():
        raise RunError(
            "This folder is in the run's own." if is_inside else "This folder exists already.",
            where=str(folder),
            expected="a new folder, which gets the weights with a copy of the run",
            fix="Choose another name.",
        )
    _write(run, b"save " + os.fsencode(folder) + b"\n")


def request_words(run: RunFolder) -> str:
    """Who has requested a stop or a pause: "Stop requested by the window."; "" for no request.
    Cheap where there is none.
    """
    command = command_of(run)
    if command not in ("stop", "pause"):
        return ""
    try:
        with open_foreign(run.sender_path) as file:
            sender = file.read(_MAX_SENDER_BYTES).decode(errors="replace").strip()
    except OSError:
        sender = ""
    return f"{command.capitalize()} requested by {sender or 'another process'}."


def _keep_sender(run: RunFolder, sender: str) -> None:
    """In a file of its own: a trainer of an earlier version reads no more than a command. The
    command is what counts: without room for this it is sent all the same.
    """
    check_own(run.path)
    with contextlib.suppress(SaveError):
        save_bytes(run.sender_path, sender.encode() + b"\n")


def send_command(run: RunFolder, command: MirrorCommand) -> None:
    """Writes a command to the run mirror or trainer."""
    _write(run, command.encode() + b"\n")


def keep_control_room(run: RunFolder) -> None:
    """Makes an empty command, so that one can be written when the disk is full. Called by the
    trainer; a command that is there stays.
    """
    with contextlib.suppress(OSError, LinkFoundError):
        file = open_own(run.control_path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            os.write(file, bytes(_ROOM_BYTES))
        finally:
            os.close(file)


def _write(run: RunFolder, data: bytes) -> None:
    check_own(run.path)
    try:
        save_bytes(run.control_path, data)
    except SaveError as error:
        if not is_full_disk(error) or not _overwrite(run, data):
            raise


def _overwrite(run: RunFolder, data: bytes) -> bool:
    """Writes a command into the room that is kept for it; returns whether that was possible."""
    try:
        file = open_own(run.control_path, os.O_WRONLY)
    except (OSError, LinkFoundError):
        return False
    try:
        tries = _LOCK_TRIES
        while tries and not (is_locked := _is_locked(file)):
            time.sleep(_LOCK_EVERY_S)
            tries -= 1
        return is_locked and os.pwrite(file, data.ljust(_ROOM_BYTES, b"\0"), 0) >= len(data)
    except OSError:
        return False
    finally:
        os.close(file)


def command_of(run: RunFolder) -> Command | None:
    """The last command; None without one. Cheap: opens one file."""
    return _COMMANDS.get(_command_text(run))


def take_request(run: RunFolder) -> tuple[Request, Path] | None:
    """The last request, with the path that follows it; it is taken back. None without one."""
    try:
        file = open_own(run.control_path, os.O_RDWR)
    except (OSError, LinkFoundError):
        return None
    try:
        if not _is_locked(file):  # a command is being written into it: that is read next
            return None
        data = os.pread(file, _MAX_BYTES, 0)
        word, _, path = data.strip(_NOTHING).partition(b" ")
        request = _REQUESTS.get(word)
        if request is None:
            return None
        # In the file that was read: a command that comes meanwhile has one of its own.
        os.pwrite(file, bytes(len(data)), 0)
        return request, Path(os.fsdecode(path))
    except OSError:
        return None
    finally:
        os.close(file)


def _is_locked(file: int) -> bool:
    """Takes the open file: what is requested is not cleared once another command is in its place.
    Until it is closed; without waiting, as a run folder may be anybody's.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def mirror_command_of(run: RunFolder) -> MirrorCommand | None:
    """The last command to the run mirror; None without one."""
    return _MIRROR_COMMANDS.get(_command_text(run))


def _command_text(run: RunFolder) -> bytes:
    try:
        with open_foreign(run.control_path) as file:
            return file.read(_MAX_BYTES).strip(_NOTHING)
    except OSError:
        return b""


def request_retry(run: RunFolder) -> None:
    """Requests the mirror of a run whose connection is lost to try again now. A file of its own: it
    never takes the place of a command. Raises SaveError.
    """
    check_own(run.path)
    save_bytes(run.retry_path, b"")


def take_retry(run: RunFolder) -> bool:
    """Whether that was requested; the request is removed. Cheap: one call into the system."""
    try:
        run.retry_path.unlink()
    except OSError:  # none, or what cannot be removed: that would be a request without end
        return False
    return True


def clear_command(run: RunFolder) -> None:
    """Removes the command to an earlier trainer of this run; called before one is started."""
    run.control_path.unlink(missing_ok=True)
