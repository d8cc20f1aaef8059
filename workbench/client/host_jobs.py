"""The window's requests to another computer, in threads of their own: its host key, what it
has, and its setup. QtCore only.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from workbench.errors import RunError
from workbench.remote.setup import Setup
from workbench.remote.ssh.command import RemoteHost
from workbench.remote.ssh.connection import Connection
from workbench.remote.ssh.host_keys import HostKey, accepted_keys, changed_key, offered_keys
from workbench.remote.ssh.saved_hosts import SavedHost, fitting_environment, save_host, seen_now


@dataclass(frozen=True)
class Identity:
    """Who answers at an address: the keys offered now, and whether one was accepted before."""

    keys: tuple[HostKey, ...]
    is_known: bool


@dataclass(frozen=True)
class FoundHost:
    """What another computer has.

    Attributes:
        host: As it is kept now.
        facts: What the probe found.
        environment: The one that fits it: worker, tpu or gpu.
        is_ready: An environment of ours, or the interpreter that was named, is there.
    """

    host: SavedHost
    facts: Mapping[str, Any]
    environment: str
    is_ready: bool


class HostJobs(QObject):
    """The jobs, which may be called off between two of their steps.

    Signals:
        progressed: What is being done, and its share from 0 to 1, below 0 where unknown; from
            another thread.
    """

    progressed = Signal(str, float)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._called_off = threading.Event()

    def call_off(self) -> None:
        """Ends the running job at its next step, with an error that says so."""
        self._called_off.set()

    def begin(self) -> None:
        """Begins another job: cancellation is reset."""
        self._called_off.clear()

    def identity(self, place: RemoteHost) -> Identity:
        """Reads the host key; raises RemoteError: no answer, or not the accepted key."""
        self._report(f"Reading the host key of {place.text()}", -1.0)
        keys, accepted = offered_keys(place), accepted_keys(place)
        is_known = any(key in accepted for key in keys)
        if accepted and not is_known:
            raise changed_key(place)
        return Identity(tuple(keys), is_known)

    def look(self, place: RemoteHost) -> FoundHost:
        """Connects, and looks at what is there. Raises RemoteError where it cannot be reached,
        rejects, or answers nonsense, SaveError where it could not be kept.
        """
        with Connection.to(place) as line:
            facts = Setup(line, self._report).probe(place.python)
        environment = fitting_environment(facts)
        made = {e.get("name") for e in facts.get("environments") or () if isinstance(e, dict)}
        is_ready = bool(place.python) or environment in made
        return FoundHost(seen_now(place, facts), facts, environment, is_ready)

    def set_up(self, place: RemoteHost, environment: str) -> FoundHost:
        """Makes the environment there, sends the program, and looks again. Raises RemoteError where
        there is no room or no fitting Python, or the connection was lost.
        """
        with Connection.to(place) as line:
            setup = Setup(line, self._report)
            facts = setup.probe(place.python)
            if not place.python:
                setup.environment(environment, facts)
            setup.code()
        save_host(place, environment="" if place.python else environment)
        return self.look(place)

    def _report(self, words: str, fraction: float) -> None:
        if self._called_off.is_set():
            raise RunError("Canceled. Completed steps are kept there.")
        self.progressed.emit(words, fraction)
