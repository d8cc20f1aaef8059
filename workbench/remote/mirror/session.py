"""One connection of the run mirror: the log is copied, requests are forwarded, files are fetched.

Three threads share the line. What the log says of the run's end is held back until its files
are here, so that a reader of the log finds weights that can classify.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from workbench.core.storage.own_file import open_own
from workbench.errors import RemoteError, RunError, SaveError, WorkbenchError, os_errors_as
from workbench.remote.mirror.file_fetcher import Fetching
from workbench.remote.ssh.connection import Answer, Connection
from workbench.runs.control import clear_command, mirror_command_of, send_command
from workbench.runs.folder import RunFolder
from workbench.runs.library.series import MedianRule
from workbench.runs.log.append_file import cannot_write, writing
from workbench.runs.store.checkpoint import keeps_final, remove_checkpoints

# log copy ------------------------------------------------------------------------------------
# The copy of a log that another computer writes: always the first bytes of the one there.
#
# What arrives carries its place. Only what continues the copy is taken, so that no cut of the
# line, wherever it falls, loses or doubles a byte.

DIGEST_BYTES = 64 * 1024
"""How much before the end of the copy is held against the log there at each connection."""

MOST_BYTES = 4 * 1024**3
"""The largest log that is copied."""

_RESTART_SUFFIX = ".anew"


class LogMirror:
    """The local copy of a log, made where there is none (SaveError); only one process may write."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written = path
        with writing(path):
            self._file = open_own(path, os.O_RDWR | os.O_CREAT)
        self.offset = os.fstat(self._file).st_size

    @property
    def is_restarted(self) -> bool:
        """Whether a whole new copy is being made beside the old one."""
        return self._written != self._path

    def digest_before(self) -> str:
        """SHA-256 of the last bytes of the copy, at most DIGEST_BYTES, in hexadecimal."""
        start = max(0, self.offset - DIGEST_BYTES)
        return hashlib.sha256(os.pread(self._file, self.offset - start, start)).hexdigest()

    def append(self, offset: int, data: bytes) -> None:
        """Appends `data`, which begins at `offset` in the log there.

        Raises:
            RemoteError: it does not continue the copy, or is too large; nothing is written.
            SaveError: not all of it could be written; `offset` counts what was.
        """
        if offset != self.offset:
            raise RemoteError(
                "The received part of the run log does not continue the local log.",
                key="cut",
                is_passing=True,
                where=str(self._path),
                received=f"bytes from {offset:,} on",
                expected=f"bytes from {self.offset:,} on",
            )
        if self.offset + len(data) > MOST_BYTES:
            raise RemoteError(
                "The run's log on the other computer is too large.",
                key="log_size",
                where=str(self._path),
                received=f"more than {self.offset:,} bytes",
                expected=f"at most {MOST_BYTES:,} bytes",
                fix="Nothing more of it is copied. Stop the run there and train it again; look at "
                "what fills its log.",
            )
        rest = memoryview(data)
        with writing(self._path):
            while rest:
                count = os.pwrite(self._file, rest, self.offset)
                self.offset += count
                rest = rest[count:]

    def line_under_way(self) -> bytes:
        """The bytes behind the last line end: the start of a line still to come."""
        end, found = self.offset, b""
        while end:
            start = max(0, end - DIGEST_BYTES)
            block = os.pread(self._file, end - start, start)
            cut = block.rfind(b"\n") + 1
            found = block[cut:] + found
            if cut:
                break
            end = start
        return found

    def restart(self) -> None:
        """The log there is not the one that was copied: copies it from its start into a file
        beside, while the old copy stays readable. Raises SaveError.
        """
        written = self._path.with_name(self._path.name + _RESTART_SUFFIX)
        with writing(written):
            file = open_own(written, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.close(self._file)
        self._file, self._written, self.offset = file, written, 0

    def finish_restart(self) -> None:
        """Replaces the old copy by the new one; raises SaveError."""
        if not self.is_restarted:
            return
        with writing(self._path):
            os.fsync(self._file)
            self._written.replace(self._path)
        self._written = self._path

    def secure(self) -> None:
        """Waits until the disk has all of the copy; raises SaveError."""
        what = "The disk did not confirm the copy of the run's log."
        with os_errors_as(SaveError, what, self._path):
            os.fsync(self._file)

    def close(self) -> None:
        """Closes the file; a new copy that was not finished is removed."""
        os.close(self._file)
        if self.is_restarted:
            with contextlib.suppress(OSError):
                self._written.unlink()


# session -------------------------------------------------------------------------------------

_FINISHED = b'{"event":"run_finished"'
_COMPLETED = b'"outcome":"completed"'
_KEPT = b'{"event":"checkpoint_kept"'
_EPOCH = b'{"event":"epoch_finished"'
_LOOK_S = 0.2
_AGAIN_S = 5.0
_TRIES = 3


class LeftError(RemoteError):
    """The run mirror has left the run to itself, on command."""


class FileFetcher:
    """Fetches in a thread of its own what is requested; requested twice at once, once. `error` is
    why it has ended early.
    """

    def __init__(self, fetching: Fetching) -> None:
        self._fetching = fetching
        self._requested: set[str] = set()
        self._is_busy = False
        self._changed = threading.Condition()
        self._is_closed = False
        self.error: WorkbenchError | None = None
        self._thread = threading.Thread(target=self._work, name="fetcher", daemon=True)
        self._thread.start()

    def request(self, what: str) -> None:
        """One of: kept, epoch, stopped, completed, ended."""
        with self._changed:
            self._requested.add(what)
            self._changed.notify_all()

    @property
    def is_idle(self) -> bool:
        """Whether all that was requested is here, or it has failed."""
        with self._changed:
            return self.error is not None or not (self._requested or self._is_busy)

    def check(self) -> None:
        """Raises what has ended it."""
        if self.error is not None:
            raise self.error

    def wait(self) -> None:
        """Returns when it is idle; raises what has ended it."""
        with self._changed:
            self._changed.wait_for(lambda: self.is_idle)
        self.check()

    def close(self) -> None:
        """Ends it; the connection has to be closed before."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._thread.join()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._is_busy = False
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._requested or self._is_closed)
                if self._is_closed:
                    return
                requested, self._requested, self._is_busy = self._requested, set(), True
            what = "Downloading the files of the run was interrupted."
            error: WorkbenchError | None = RunError(what)
            try:
                self._fetch(requested)
                error = None
            except WorkbenchError as refusal:
                error = refusal
            except OSError as refusal:
                error = cannot_write(self._fetching.run.path, refusal)
            finally:  # whatever ends this thread: nothing must wait for it for ever
                with self._changed:
                    self.error = error
                    self._changed.notify_all()
            if error is not None:
                return

    def _fetch(self, requested: set[str]) -> None:
        fetching = self._fetching
        if "completed" in requested:
            _patiently(fetching.small, fetching.model, fetching.words)
        elif "ended" in requested:
            self._fetch_end()
        elif "stopped" in requested:
            _patiently(fetching.small, fetching.model, fetching.state, fetching.words)
        elif "kept" in requested:
            _patiently(fetching.small, fetching.state, fetching.model)
        elif "epoch" in requested:
            _patiently(fetching.small)

    def _fetch_end(self) -> None:
        """Fetches what a completed run can be trained longer from, once its trainer is done."""
        if keeps_final():
            _patiently(self._fetching.final_state)
        else:
            remove_checkpoints(self._fetching.run)


def _patiently(*steps: Callable[[], None]) -> None:
    """Does each; of a damaged file some tries, then it is passed over: the log must go on."""
    for step in steps:
        for _ in range(_TRIES):
            try:
                step()
                break
            except RemoteError as error:
                if error.key != "file":
                    raise
                sys.stderr.write(f"{error}\n")
                time.sleep(_LOOK_S)


@dataclass
class ControlForwarder:
    """Forwards the commands of the run's control file, in a thread of its own.

    Attributes:
        name: The run's name at the other end of the connection.
        has_left: The command was to leave the run to itself; the connection is closed then.
    """

    run: RunFolder
    line: Connection
    name: str
    has_left: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._passed_on: tuple[int, int] | None = None
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._work, name="control", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Ends it; the connection has to be closed before."""
        self._is_closed.set()
        self._thread.join()

    def _work(self) -> None:
        while not self._is_closed.wait(_LOOK_S):
            try:
                self._look()
            except RemoteError as error:
                if error.is_passing:
                    return  # who reads the log sees the same
                self._put_off(error)
            except OSError as error:  # the folder here cannot be written for a while
                self._put_off(error)

    def _put_off(self, error: Exception) -> None:
        """Waits after an error: the request is passed on again, but not five times a second for
        hours.
        """
        sys.stderr.write(f"{error}\n")
        self._is_closed.wait(_AGAIN_S)

    def _look(self) -> None:
        mark = self._mark()
        if mark is None or mark == self._passed_on:
            return
        command = mirror_command_of(self.run)
        if command == "leave":
            clear_command(self.run)
            self.has_left = True
            self.line.close()
            self._is_closed.set()
        elif command in {"terminate", "kill"}:
            self.line.call("signal", run=self.name, signal=command)
            clear_command(self.run)
        elif command is not None:
            self.line.call("control", run=self.name, command=command)
            if command in {"skip", "skip_all", "again"}:  # meant once, for what goes on just now
                clear_command(self.run)
        self._passed_on = mark

    def _mark(self) -> tuple[int, int] | None:
        with contextlib.suppress(OSError):
            info = self.run.control_path.stat()
            return info.st_mtime_ns, info.st_ino
        return None


@dataclass
class MirrorSession:
    """One line's session with a run, whose lock is this process's.

    Attributes:
        name: The run's name at the other end of the connection.
        mirror: The copy of its log.
        on_alive: Called at each sign of life, with words where the run waits for something.
    """

    run: RunFolder
    line: Connection
    name: str
    mirror: LogMirror
    on_alive: Callable[[str], None]

    def __post_init__(self) -> None:
        self._rest = b""
        self._held: bytes | None = None
        self._fetching = Fetching(self.run, self.line, self.name)
        self._fetcher = FileFetcher(self._fetching)
        self._median = MedianRule(self.run)
        self._control = ControlForwarder(self.run, self.line, self.name)

    def follow(self) -> None:
        """Returns when the run is over and all of it is here.

        Raises:
            LeftError: the command was to leave.
            RemoteError: the connection was lost, or the request was rejected.
            SaveError: what comes cannot be written here.
        """
        try:
            while not self._attach():
                self.mirror.restart()
        except RemoteError as error:
            if self._control.has_left:
                raise LeftError("Disconnected. Training there continues.") from error
            raise
        finally:
            self.line.close()
            self._fetcher.close()
            self._control.close()

    def _attach(self) -> bool:
        """False where the other end has another log than the one that was copied."""
        self._rest, self._held = self.mirror.line_under_way(), None
        self._fetcher.request("kept")
        self._fetcher.request("epoch")
        digest = self.mirror.digest_before()
        frames = self.line.stream("attach", run=self.name, offset=self.mirror.offset, digest=digest)
        for frame in frames:
            if frame.flag("restart"):
                return False
            if frame.data:
                self._take(frame.number("offset"), frame.data)
            else:
                self.on_alive("is queued there" if frame.flag("is_waiting") else "")
            self._fetcher.check()
            if self._fetcher.is_idle:
                self._release()
            if self._has_caught_up(frame):
                self.mirror.finish_restart()
            if frame.is_last:
                self._end(frame)
        return True

    def _has_caught_up(self, frame: Answer) -> bool:
        """Only beats carry the size of the log there; pieces of it do not."""
        has_size = "size" in frame.fields and not frame.data
        return has_size and self._held is None and frame.number("size") <= self.mirror.offset

    def _take(self, offset: int, data: bytes) -> None:
        if self._held is not None:
            self._check_continues(offset)
            self._held += data
            return
        lines = (self._rest + data).split(b"\n")
        is_end = len(lines) > 1 and lines[-2].startswith(_FINISHED)
        begins = len(data) - len(lines[-1]) - 1 - len(lines[-2]) if is_end else len(data)
        self.mirror.append(offset, data[: max(0, begins)])
        self._rest = lines[-1]
        if is_end:
            self._held = data[max(0, begins) :]
            self._fetcher.request("completed" if _COMPLETED in lines[-2] else "stopped")
        elif any(line.startswith(_KEPT) for line in lines[:-1]):
            self._fetcher.request("kept")
        elif any(line.startswith(_EPOCH) for line in lines[:-1]):
            self._fetcher.request("epoch")
            self._stop_if_hopeless()

    def _stop_if_hopeless(self) -> None:
        """The other runs of a sweep are here, not where this one is trained."""
        if mirror_command_of(self.run) is None and self._median.stop_words():
            send_command(self.run, "median")

    def _check_continues(self, offset: int) -> None:
        expected = self.mirror.offset + len(self._held or b"")
        if offset != expected:
            raise RemoteError(
                "The received part of the run log does not continue the local log.",
                key="cut",
                is_passing=True,
                received=f"bytes from {offset:,} on",
                expected=f"bytes from {expected:,} on",
            )

    def _release(self) -> None:
        """Releases the log's end, as the files are here: now it may say that the run is over."""
        if self._held is not None:
            held, self._held = self._held, None
            self.mirror.append(self.mirror.offset, held)
            self._rest = held.rpartition(b"\n")[2]

    def _end(self, answer: Answer) -> None:
        if not answer.text("outcome"):  # it ended without a word: its last ones show why
            self._fetcher.request("stopped")
        self._fetcher.wait()
        if answer.text("outcome") == "completed":
            self._fetcher.request("ended")
            self._fetcher.wait()
        self._fetching.close()
        self._release()
        self.mirror.finish_restart()
        self.mirror.secure()
