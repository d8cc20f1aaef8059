"""The other computers of a training on several: made ready, and started when the first one is.

The first one's trainer leads, and its log alone is brought here. The others are started each
over a line of its own; once joined they need no connection to here, as the first.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from workbench.core.params import Params
from workbench.errors import RemoteError, RunError, WorkbenchError
from workbench.hardware.cluster import Cluster, read_addresses, with_ports
from workbench.protocol.wire import error_parts
from workbench.remote.setup import OnProgress, prepare
from workbench.remote.ssh import saved_hosts
from workbench.remote.ssh.command import RemoteHost, plain
from workbench.remote.ssh.connection import Connection
from workbench.runs.folder import RunFolder
from workbench.runs.link import Remote
from workbench.targets.ssh import trains_on

_LOOK_S = 1.0
_AGAIN_S = 3.0
_LINES = 5
_END_S = 20.0


class Members:
    """The machines of a cluster other than the chief.

    Args:
        machines: "HOST:PORT" of all, the chief first; nothing where it trains alone.
        places: Where the others are reached over ssh, in that order.
        connect: Opens a connection to one of them.
    """

    def __init__(
        self,
        machines: tuple[str, ...] = (),
        places: Sequence[RemoteHost] = (),
        connect: Callable[[RemoteHost], Connection] = Connection.to,
    ) -> None:
        self._machines = machines
        self._places = dict(enumerate(places, 2))
        self._connect = connect

    def cluster(self) -> bytes:
        """The cluster as it is sent to the chief, with a new key; b"" where it is alone."""
        if not self._places:
            return b""
        return Cluster(self._machines, key=secrets.token_hex(16)).text().encode()

    def prepare(self, run: RunFolder, name: str, on_progress: OnProgress) -> None:
        """Makes ready on each of them what the run needs, which is `name` on the chief's computer.
        Raises RemoteError: one cannot do it, or its connection was lost; it names which.
        """
        for number, place in self._places.items():
            report = partial(_report, on_progress, number)
            try:
                with self._connect(place) as line:
                    prepare(run, line, report, python=place.python, name=member_name(name, number))
            except RemoteError as error:
                raise _named(number, place, error) from error

    @contextlib.contextmanager
    def coming(self, leader: Connection, remote: Remote, cluster: bytes) -> Iterator[None]:
        """Starts them while it is entered; left without an error, the run is over, and who has not
        joined by then is ended. Raises RemoteError where `cluster`, which the trainer of the run
        `remote` has received, is not what was sent to the chief.
        """
        if not self._places:
            yield
            return
        checked = self._checked(cluster, remote)
        comings = [
            _Coming(number, partial(self._connect, place), leader, remote, checked)
            for number, place in self._places.items()
        ]
        is_over = False
        try:
            yield
            is_over = True
        finally:
            for one in comings:
                one.end(is_over=is_over)
            for one in comings:
                one.join()

    def _checked(self, text: bytes, remote: Remote) -> Cluster:
        """What one computer sends is checked before it is forwarded to others."""
        try:
            cluster = Cluster.from_text(text.decode("utf-8", "replace"))
        except RunError:
            cluster = None
        if cluster is None or cluster.machines != self._machines:
            raise RemoteError(
                "The chief runs this training with other settings than requested.",
                key="protocol",
                where=remote.host,
                received=", ".join(map(plain, cluster.machines)) if cluster else "nothing",
                expected=", ".join(self._machines),
                fix="Stop the run there, and resume it.",
            )
        return cluster


@dataclass
class _Coming:
    """A thread that starts one of them, and waits until it joins or reports to the chief why not.

    Attributes:
        number: Number of the machine, from 2.
        connect: Opens a connection to it.
        leader: The connection to the chief.
        remote: The run there.
        cluster: The machines.
    """

    number: int
    connect: Callable[[], Connection]
    leader: Connection
    remote: Remote
    cluster: Cluster

    def __post_init__(self) -> None:
        self._is_left = threading.Event()
        self._is_over = False
        name = f"machine {self.number}"
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def end(self, *, is_over: bool) -> None:
        """Ends the thread: `is_over` where the run is, else only its connection is lost."""
        self._is_over = is_over
        self._is_left.set()

    def join(self) -> None:
        """Waits for the thread, not for a connection that hangs."""
        self._thread.join(_END_S)

    def _work(self) -> None:
        while not self._is_left.is_set():
            try:
                if not self._is_leader_waiting():
                    with self.connect() as line:
                        self._bring(line)
                    return
            except WorkbenchError as error:
                if not (isinstance(error, RemoteError) and error.is_passing):
                    self._refuse(error)
                    return
            self._is_left.wait(_AGAIN_S)

    def _is_leader_waiting(self) -> bool:
        return _facts(self.leader, self.remote.run).get("is_waiting") is True

    def _bring(self, line: Connection) -> None:
        """Returns when it has joined, or the run is over without it; raises RemoteError where it
        cannot be started, has ended, or the connection was lost.
        """
        name = member_name(self.remote.run, self.number)
        text = self.cluster.of(self.number - 1).text().encode()
        attempt = self.remote.attempt
        began = line.call("start", text, run=name, attempt=attempt, joins=True).number("log_bytes")
        while True:
            facts = _facts(line, name)
            size = facts.get("log_bytes")
            if isinstance(size, int) and size > began:
                return  # it has begun its own log: the chief has sent it what to train
            if facts.get("is_alive") is not True:
                raise RemoteError(
                    "Its process ended before it joined.",
                    where=line.name,
                    received=" / ".join(_last_lines(line, name)),
                    fix="Check that it can be started there, then resume the run.",
                )
            if self._is_left.wait(_LOOK_S):
                if self._is_over:
                    line.call("signal", run=name, signal="kill")
                return

    def _refuse(self, error: WorkbenchError) -> None:
        """Sends the error to the chief, which logs it as the reason of its end."""
        what = f"Machine {self.number} could not join: {error.what}"
        parts = msgspec.structs.replace(error_parts(error), what=what)
        with contextlib.suppress(WorkbenchError):  # it will miss it after a while, by itself
            self.leader.call("refuse", msgspec.json.encode(parts), run=self.remote.run)


def member_name(name: str, number: int) -> str:
    """The folder of a machine that joins a run. Its own even where computers share a disk."""
    return f"{name}.{number}"


def members_of(params: Params) -> Members:
    """The other computers that an `ssh` target names; raises UsageError where an address is not
    allowed, or the target is not one of all of them.
    """
    if not params.get("others"):
        return Members()
    machines = with_ports(read_addresses(trains_on(params).params["machines"]))
    return Members(machines, saved_hosts.places_for(params)[1:])


def _facts(line: Connection, name: str) -> dict[str, Any]:
    """The state of a run at the other end."""
    try:
        found = msgspec.json.decode(line.call("list", run=name).data, type=list[dict[str, Any]])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return found[0] if found else {}


def _last_lines(line: Connection, name: str) -> list[str]:
    """What a process has printed last."""
    size = line.call("stat", run=name, name="log.txt").number("size")
    offset = max(0, size - 4096)
    data = line.call("read", run=name, name="log.txt", offset=offset).data
    lines = data.decode("utf-8", "replace").splitlines()
    return [plain(one) for one in lines if one.strip()][-_LINES:]


def _report(on_progress: OnProgress, number: int, words: str, fraction: float) -> None:
    on_progress(f"{words} (machine {number})", fraction)


def _named(number: int, place: RemoteHost, error: RemoteError) -> RemoteError:
    parts = error.to_dict()
    what = f"Machine {number} ({place.text()}) could not be set up: {parts.pop('what')}"
    return RemoteError(what, key=error.key, is_passing=error.is_passing, **parts)
