"""Writes the state of the connection into a run's folder, at most twice a second."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

import msgspec

from workbench.errors import SaveError, WorkbenchError
from workbench.protocol.wire import error_parts
from workbench.runs.folder import RunFolder
from workbench.runs.link import Link, LinkState, write_link

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
