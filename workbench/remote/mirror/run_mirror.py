"""Mirrors a run on another computer: holds the run's lock here and copies its log.

The trainer there needs no connection to here. A run mirror that is killed, a lost connection and
a computer that sleeps are the same case: the next run mirror goes on from the bytes that are here.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import msgspec

from workbench.errors import RemoteError, RunFolderError, SaveError, WorkbenchError
from workbench.protocol.wire import error_parts
from workbench.remote.mirror.cluster_hosts import Members
from workbench.remote.mirror.session import LeftError, LogMirror, MirrorSession
from workbench.remote.ssh.connection import Connection
from workbench.runs.control import clear_command, mirror_command_of, take_retry
from workbench.runs.folder import RunFolder
from workbench.runs.link import Link, LinkState, Remote, read_remote, write_link, write_remote
from workbench.runs.state.queue import log_never_begun

# link status ---------------------------------------------------------------------------------
# Writes the state of the connection into a run's folder, at most twice a second.

_INTERVAL_S = 0.5
GONE_AFTER_S = 300.0
"""A connection that is lost for so long is reported as gone; it is still tried again."""


class LinkReporter:
    """Writes the state of the connection to `host`, the address as shown; `device` is what trains
    there, as the subject of a sentence.
    """

    def __init__(self, run: RunFolder, *, host: str, device: str) -> None:
        self._run = run
        self._reported_s = -_INTERVAL_S
        self._lost_since = 0.0
        self._lost_s = 0.0
        self.link = Link(
            state="connecting", host=host, device=device, since=time.time(), pid=os.getpid()
        )

    def connecting(self) -> None:
        """Records that a connection is being made; one that was lost is shown as lost until it is
        there.
        """
        if self.link.state not in ("lost", "gone"):
            self._state("connecting")

    def setting_up(self, words: str, fraction: float = -1.0) -> None:
        """Records what is being made ready there."""
        known = fraction if 0 <= fraction <= 1 else None
        self._state("setting_up", words=words, fraction=known)

    def attached(self, words: str = "") -> None:
        """Records that the log comes; `words` where there is something to wait for."""
        self._state("attached", words=words)

    def lost(self, error: WorkbenchError, wait_s: float) -> None:
        """Records that the connection was lost, or could not be made; it is tried again after
        `wait_s`.
        """
        now = time.time()
        if not self._lost_since:
            self._lost_since, self._lost_s = now, time.monotonic()
        # By the clock that is paused while this computer sleeps.
        is_gone = time.monotonic() - self._lost_s > GONE_AFTER_S
        self._report(
            msgspec.structs.replace(
                self.link,
                state="gone" if is_gone else "lost",
                words="",
                fraction=None,
                since=self._lost_since,
                tries=self.link.tries + 1 if self.link.state in ("lost", "gone") else 1,
                next_try=now + wait_s,
                error=error_parts(error),
            )
        )

    def retrying(self) -> None:
        """A line that is lost is tried again now, earlier than was reported."""
        self._report(msgspec.structs.replace(self.link, next_try=time.time()))

    def refused(self, error: WorkbenchError) -> None:
        """Records that trying again is of no use."""
        self._state("refused", error=error_parts(error))

    def ended(self) -> None:
        """Records that the run is over, and all of it is here."""
        self._state("ended")

    def _state(self, state: LinkState, **values: Any) -> None:
        self._lost_since = 0.0
        is_same = state == self.link.state
        if is_same and time.monotonic() - self._reported_s < _INTERVAL_S:
            return
        values = {"words": "", "fraction": None, "error": None, **values}
        link = msgspec.structs.replace(
            self.link,
            state=state,
            since=self.link.since if is_same else time.time(),
            tries=0,
            next_try=0.0,
            **values,
        )
        if link != self.link or self._reported_s < 0:
            self._report(link)

    def _report(self, link: Link) -> None:
        self.link, self._reported_s = link, time.monotonic()
        try:
            write_link(self._run, link)
        except SaveError as error:  # a full disk: the log says so too
            sys.stderr.write(f"{error}\n")


# run mirror ----------------------------------------------------------------------------------

_FIRST_WAIT_S, _LONGEST_WAIT_S = 1.0, 60.0
_DOUBLINGS = 10
"""More of them change nothing: a line may be lost for days."""

_CUT_TRIES = 2
"""A connection that was made and lost is tried again sooner than one that cannot be made."""

_LOOK_S = 0.2
_UNREACHED = frozenset({"no_name", "refused", "unreachable"})

Connect = Callable[[], Connection]
OnProgress = Callable[[str, float], None]
Prepare = Callable[[Connection, OnProgress], Remote]


class StoppedError(RemoteError):
    """The run was stopped before it was created there."""


class RunMirror:
    """Brings one run, whose lock is this process's; raises SaveError of its folder.

    Args:
        run: The run.
        connect: Opens a connection; raises RemoteError.
        prepare: Makes ready there what the run needs, and the run itself; reports where it is.
            Raises RemoteError; may be called again at any time.
        reporter: Gets the state of the connection.
        resume: The run is over there, and goes on from its checkpoint.
        members: The other computers that train with that one.
    """

    def __init__(
        self,
        run: RunFolder,
        connect: Connect,
        prepare: Prepare,
        reporter: LinkReporter,
        *,
        resume: bool = False,
        members: Members | None = None,
    ) -> None:
        self._run = run
        self._members = members or Members()
        self._connect = connect
        self._prepare = prepare
        self._reporter = reporter
        self._is_new = resume
        self._tries = 0

    def run(self) -> int:
        """0 when the run is over and all is here, or it was left; else the code of a refusal."""
        while True:
            try:
                self._try()
            except LeftError:
                return 0
            except StoppedError as error:
                return self._stopped(error)
            except WorkbenchError as error:
                if self._is_final(error):
                    sys.stderr.write(f"{error}\n")
                    self._reporter.refused(error)
                    return error.exit_code
                self._tries += 1
                try:
                    if not self._wait(self._wait_s(), error):
                        return 0
                except StoppedError as stopped:
                    return self._stopped(stopped)
            else:
                self._reporter.ended()
                return 0

    def _try(self) -> None:
        self._reporter.connecting()
        with self._connect() as line:
            self._tries = min(self._tries, _CUT_TRIES)
            take_retry(self._run)  # done, if it came during the try
            remote, cluster = self._arrive(line)
            with (
                contextlib.closing(LogMirror(self._run.events_path)) as mirror,
                self._members.coming(line, remote, cluster),
            ):
                MirrorSession(self._run, line, remote.run, mirror, self._on_alive).follow()

    def _on_alive(self, words: str) -> None:
        self._tries = 0
        self._reporter.attached(words)

    def _arrive(self, line: Connection) -> tuple[Remote, bytes]:
        """The run as it is there, with its trainer started; the cluster as that has received it."""
        remote = read_remote(self._run)
        if remote is None or self._is_new:
            prepared = self._prepare(line, self._on_setup_progress)
            self._members.prepare(self._run, prepared.run, self._on_setup_progress)
            if remote is not None:
                prepared = msgspec.structs.replace(
                    prepared, attempt=remote.attempt, is_resumed=remote.is_resumed
                )
            remote = prepared
            write_remote(self._run, remote)
            self._is_new = False
        answer = line.call(
            "start",
            self._members.cluster(),
            run=remote.run,
            attempt=remote.attempt,
            resume=remote.is_resumed,
            on_progress=self._reporter.setting_up,
        )
        return remote, answer.data

    def _on_setup_progress(self, words: str, fraction: float) -> None:
        self._refuse_if_stopped()
        self._reporter.setting_up(words, fraction)

    def _refuse_if_stopped(self) -> None:
        """Raises StoppedError on any command: no trainer to forward it to has been started."""
        if mirror_command_of(self._run) is not None:
            clear_command(self._run)
            raise StoppedError(
                "Stopped while the other computer was being set up.",
                key="stopped",
                where=str(self._run.path),
                fix="Resume the run: completed steps of the setup are kept.",
            )

    def _stopped(self, error: StoppedError) -> int:
        """Logs that it was stopped, as for a queued run, where it has logged nothing yet."""
        if self._run.events_path.exists() and self._run.events_path.stat().st_size:
            self._reporter.refused(error)
            return error.exit_code
        log_never_begun(self._run, error.what)
        self._reporter.ended()
        return 0

    def _is_final(self, error: WorkbenchError) -> bool:
        if isinstance(error, SaveError):
            return False  # the disk here may have room again
        if not isinstance(error, RemoteError):
            return True
        # An address that was never reached is more likely wrong than away for a while.
        is_new = read_remote(self._run) is None and not self._tries
        return not error.is_passing or (is_new and error.key in _UNREACHED)

    def _wait_s(self) -> float:
        """How long to wait for the next try: each time twice as long."""
        return min(_LONGEST_WAIT_S, _FIRST_WAIT_S * 2.0 ** min(self._tries - 1, _DOUBLINGS))

    def _wait(self, seconds: float, error: WorkbenchError) -> bool:
        """True when it is time to try again, or a person does not want to wait for that; False
        when the command to leave came meanwhile. Raises RunFolderError where the folder is gone.
        """
        self._reporter.lost(error, seconds)
        until = time.monotonic() + seconds
        gone_s = 0.0
        while time.monotonic() < until:
            time.sleep(_LOOK_S)
            if mirror_command_of(self._run) == "leave":
                clear_command(self._run)
                return False
            if read_remote(self._run) is None:
                self._refuse_if_stopped()
            if take_retry(self._run):
                self._reporter.retrying()
                return True
            gone_s = 0.0 if self._run.request_path.exists() else gone_s + _LOOK_S
        if not self._run.request_path.exists():
            raise RunFolderError("The run folder was removed.", where=str(self._run.path))
        return True


def note_attempt(run: RunFolder) -> None:
    """Keeps that a run shall go on from its checkpoint, before any request: the next run mirror
    requests the same attempt. Raises SaveError.
    """
    remote = read_remote(run)
    if remote is not None:
        again = msgspec.structs.replace(remote, attempt=remote.attempt + 1, is_resumed=True)
        write_remote(run, again)
