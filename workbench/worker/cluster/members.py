"""Several machines that train together: what the chief and the others share.

The chief's trainer is the run's: it alone writes the run's events, checkpoints and weights.
A process on every other machine joins it (see socket_channel), receives what to train and from
which checkpoint, and then makes the very same calls into TensorFlow, each for its rows of
every batch. A process that has ended is noticed by its connection at once, a silent machine by
TensorFlow within SILENT_S.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import queue
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import msgspec

from workbench.core.projects.project import Project
from workbench.errors import RemoteError, WorkbenchError
from workbench.hardware.cluster import CLUSTER_VARIABLE, Address, Cluster
from workbench.host import wire
from workbench.runs.folder import RunFolder
from workbench.runs.store.checkpoint import DataMark, Machine, this_machine
from workbench.runs.trust import sealed_cluster
from workbench.targets.this_computer import computes_bfloat16
from workbench.worker.checkpoints.writer import KeptModel
from workbench.worker.execution.compiled import Connected, connect
from workbench.worker.input.pipeline import Shard
from workbench.worker.process.lazy_keras import tf
from workbench.worker.process.run_channel import StopSwitch
from workbench.worker.process.setup import versions

# peers ---------------------------------------------------------------------------------------
# The machines that train together; here a single one. Several: `members`, `chief`.


class Peers:
    """A training on one machine.

    Attributes:
        is_chief: It writes the run: events, checkpoints, weights.
        others: The other machines in their order; known to the chief alone.
    """

    is_chief = True
    others: Sequence[Machine] = ()

    def rendezvous(self, *, resume: bool) -> None:
        """Waits until all machines of the training are connected, and sends them the task.

        Raises:
            RunError: one did not come, or does not fit.
            StoppedError: stopped meanwhile.
        """

    def connect(self, project: Project, mark: DataMark) -> Connected:
        """Reaches the project's target, all machines at once. The fingerprint `mark` of this
        machine's data must be equal on all machines.

        Raises:
            RunError: a machine went away, or has other images.
        """
        del mark
        return connect(project)

    def send_model(self, model: KeptModel) -> None:
        """Sends the weights that the chief keeps to the others."""

    def receive_model(self) -> KeptModel:
        """Waits for the weights that the chief keeps; called by the others alone."""
        raise NotImplementedError

    def explained(self, error: BaseException) -> BaseException:
        """An error of a training, or the one that names which machine is the reason for it."""
        return error

    def close(self, error: BaseException | None) -> None:
        """Parts, at the end of the training; `error` is why it failed."""


# socket channel ------------------------------------------------------------------------------
# A channel between two machines of one training: messages with bytes, over TCP.
#
# A message is a frame (host/wire.py): a JSON line, and as many bytes behind it as it says. What
# the chief sends to the others besides goes by TensorFlow; this connection brings them
# together before there is one, and shows at once when a process has ended.

_MAX_HEAD = 1 << 20
MAX_BYTES = 1 << 40
"""Most that one message of a known machine carries."""

_SILENT_S = 60
"""After so long without an answer of the other computer, the connection counts as lost."""

_PROBE_INTERVAL_S = 15


class ChannelClosedError(ConnectionError):
    """The other end is gone."""


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """One message: what it is, small values, and the bytes that follow."""

    kind: str
    values: dict[str, Any] = {}
    data: bytes = b""


class Connection:
    """One end, of a connected socket; its messages are read by a thread of its own.

    Args:
        on_message: Called in that thread with each message; True where that was all there is
            to do with it, else `receive` hands it out.
        on_end: Called in that thread when the other end is gone.
        max_bytes: Most that a message may carry; 0 from a stranger, until it is known.
    """

    def __init__(
        self,
        connection: socket.socket,
        *,
        on_message: Callable[[Message], bool] = lambda _message: False,
        on_end: Callable[[], None] = lambda: None,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        connection.settimeout(None)
        _notice_silence(connection)
        self._connection = connection
        self._on_message = on_message
        self._on_end = on_end
        self.max_bytes = max_bytes
        self._sending = threading.Lock()
        self._messages: queue.Queue[Message | None] = queue.Queue()
        threading.Thread(target=self._read, name="line", daemon=True).start()

    def send(self, kind: str, data: bytes = b"", **values: Any) -> None:
        """Sends a message.

        Raises:
            ChannelClosedError: the other end is gone.
        """
        try:
            head = wire.head({"kind": kind, "values": values}, len(data), _MAX_HEAD)
            with self._sending:
                self._connection.sendall(head)
                self._connection.sendall(data)
        except (OSError, wire.FrameFault) as error:
            raise ChannelClosedError(str(error)) from error

    def receive(self, kind: str, *, timeout_s: float | None = None) -> Message | None:
        """The next message, which must be of a kind; None where none came in time.

        Raises:
            ChannelClosedError: the other end is gone, or has sent another kind.
        """
        try:
            message = self._messages.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if message is None:
            self._messages.put(None)  # for the next call
            raise ChannelClosedError("the connection was lost")
        if message.kind != kind:
            raise ChannelClosedError(f"received {message.kind[:40]} instead of {kind}")
        return message

    def close(self) -> None:
        """Hangs up."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._connection.close()

    def _read(self) -> None:
        try:
            with self._connection.makefile("rb") as file:
                while message := self._next(file):
                    if not self._on_message(message):
                        self._messages.put(message)
        except (OSError, ValueError, wire.FrameFault):
            pass  # as good as gone
        finally:  # whatever has ended it: who waits for a message must not do so for ever
            self._messages.put(None)
            self._on_end()

    def _next(self, file: Any) -> Message | None:
        """The next message of a stream; None at its end."""
        announced = wire.read_head(file, _MAX_HEAD)
        if announced is None:
            return None
        message = msgspec.convert(announced[0], Message)
        data = wire.read_exactly(file, announced[1], self.max_bytes)
        return msgspec.structs.replace(message, data=data)


def _notice_silence(connection: socket.socket) -> None:
    """Lets a connection end whose other end has become silent: by itself that takes two hours, or
    for ever where something is still to be sent.
    """
    tcp = socket.IPPROTO_TCP
    settings = [
        (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
        (tcp, "TCP_KEEPIDLE", _PROBE_INTERVAL_S),
        (tcp, "TCP_KEEPALIVE", _PROBE_INTERVAL_S),  # its name on macOS
        (tcp, "TCP_KEEPINTVL", _PROBE_INTERVAL_S),
        (tcp, "TCP_KEEPCNT", _SILENT_S // _PROBE_INTERVAL_S),
        (tcp, "TCP_USER_TIMEOUT", 1000 * _SILENT_S),  # Linux: also of what is being sent
    ]
    for level, name, value in settings:
        if hasattr(socket, name):
            with contextlib.suppress(OSError):  # each system has some of them
                connection.setsockopt(level, getattr(socket, name), value)


# members -------------------------------------------------------------------------------------

SILENT_S = 10.0
"""After this time without a sign of life a machine counts as gone."""

CONNECT_S = 60.0
"""Within which TensorFlow's own connections are made, once all machines are ready for it. A
process that still waits then ends: its log reports where it was.
"""

HANG_S = 40.0
"""After a machine has gone, TensorFlow gives its calls up; a process that still waits for it
after this time ends itself.
"""

_NEWS_S = 1.5
_TASK = re.compile(r"/task:([0-9]+)")
_TENSORFLOW = re.compile(r"^tensorflow\.")


class ClusterPeers(Peers):
    """What the chief and the others have in common.

    Args:
        cluster: The machines, and which of them this is.
        stop: Stop switch of this process; from `connect` on it agrees with the others'.
        on_hang: Called with an error in another thread where nothing else can end a call
            that waits for a machine; must end the process.
    """

    def __init__(
        self, cluster: Cluster, stop: StopSwitch, on_hang: Callable[[WorkbenchError], None]
    ) -> None:
        self.is_chief = cluster.index == 0
        self._cluster = cluster
        self.stop = stop
        self._on_hang = on_hang
        self._connections: dict[int, Connection] = {}
        self._gone: list[int] = []
        self._parted: set[int] = set()
        self._said: dict[int, str] = {}
        self._all_have_bfloat16 = False
        self._is_connected = False
        self._closed = threading.Event()

    # to be done by either ----------------------------------------------------------------

    def _exchange_fingerprints(self, mark: DataMark) -> None:
        """Returns on all machines at about the same time, once each has loaded its images."""
        raise NotImplementedError

    # together ----------------------------------------------------------------------------

    def connect(self, project: Project, mark: DataMark) -> Connected:
        self._exchange_fingerprints(mark)
        os.environ[CLUSTER_VARIABLE] = self._cluster.text()
        _limit_waiting(self._cluster)
        try:
            with ending_after(CONNECT_S):
                target = connect(project)
        finally:
            # Not for the run that this process starts when it has ended.
            del os.environ[CLUSTER_VARIABLE]
        self._is_connected = True
        self.stop.agree_by(summing(target.strategy, 3), is_chief=self.is_chief)
        limits = target.limits
        if limits.has_bfloat16 is None:
            limits = replace(limits, has_bfloat16=self._all_have_bfloat16)
        share = Shard(self._cluster.index, len(self._cluster.machines))
        return Connected(target.strategy, limits, share)

    def explained(self, error: BaseException) -> BaseException:
        is_cut = isinstance(error, ChannelClosedError)
        if not is_cut and not _TENSORFLOW.match(type(error).__module__):
            return error
        deadline = time.monotonic() + _NEWS_S
        while not self._gone and time.monotonic() < deadline:
            time.sleep(0.05)  # the connection may be a moment slower than TensorFlow
        gone = self._gone or self._named_in(str(error))
        if gone:
            return self._went_away(gone[0])
        if is_cut or "Collective ops is aborted" in str(error):
            return _lost("Another machine was lost.", "", str(error)[:300])
        return error

    def close(self, error: BaseException | None) -> None:
        self._closed.set()
        for connection in self._connections.values():
            try:
                if error is None:
                    connection.send("bye")
                else:
                    connection.send("failed", what=getattr(error, "what", "") or str(error)[:300])
            except ChannelClosedError:
                continue
            finally:
                connection.close()

    # the others' ends --------------------------------------------------------------------

    def _note_end(self, index: int, message: Message) -> bool:
        """Notes how a machine ends."""
        if message.kind == "failed":
            self._said[index] = str(message.values.get("what", ""))[:600]
        elif message.kind == "bye":
            self._parted.add(index)
        return message.kind in {"failed", "bye"}

    def _ended(self, index: int) -> None:
        if self._closed.is_set() or index in self._parted or self._connections.get(index) is None:
            return
        self._gone.append(index)
        error = self._went_away(index)
        if self._is_connected:
            _abort_calls(str(error))
        threading.Thread(target=self._watch, args=(error,), name="watch", daemon=True).start()

    def _watch(self, error: WorkbenchError) -> None:
        """Ends the process unless it has parted from the others in time."""
        if not self._closed.wait(HANG_S):
            self._on_hang(error)

    def _named_in(self, text: str) -> list[int]:
        """Other machines that an error of TensorFlow's names, the last named first."""
        own, count = self._cluster.index, len(self._cluster.machines)
        found = [int(number) for number in reversed(_TASK.findall(text))]
        return [index for index in found if index != own and index < count]

    def _went_away(self, index: int) -> WorkbenchError:
        name = "The chief" if index == 0 else f"Machine {index + 1}"
        where = self._cluster.machines[index]
        said = self._said.get(index)
        if said:
            return _lost(f"{name} failed: {said}", where, "")
        return _lost(f"{name} was lost.", where, self._how_it_ended(index))

    def _how_it_ended(self, index: int) -> str:
        return "its process has ended" if index in self._gone else "it does not respond"


def _lost(what: str, where: str, received: str) -> RemoteError:
    return RemoteError(
        what,
        where=where,
        received=received,
        expected="every machine until the end of the training",
        fix="Check that all machines are running, then resume the run: it continues from "
        "the last checkpoint.",
    )


def own_facts() -> dict[str, Any]:
    """What this machine sends to the others about itself."""
    ours = versions()
    machine = msgspec.to_builtins(this_machine(ours))
    return {"has_bfloat16": computes_bfloat16(), "versions": ours, "machine": machine}


def socket_address(address: Address) -> tuple[str, int]:
    """An address as sockets take it."""
    return address.host.strip("[]"), address.port


def mark_text(mark: DataMark) -> str:
    """A mark of images in a form that can be held against another machine's."""
    return msgspec.json.encode(mark).decode()


def handed_cluster(run: RunFolder) -> Cluster | None:
    """The machines as the environment names them, else as the run folder keeps them; RunError where
    those were not named by this user.
    """
    text = os.environ.pop(CLUSTER_VARIABLE, None)
    return Cluster.from_text(text) if text is not None else sealed_cluster(run)


def summing(strategy: Any, count: int) -> Callable[[Sequence[int]], list[int]]:
    """A function that adds `count` whole numbers up over all machines; each must call it. The
    `tf.distribute` strategy has one replica per machine.
    """

    def add(values: Any) -> Any:
        mine = strategy.run(tf.identity, args=(values,))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, mine, axis=None)

    signature = [tf.TensorSpec((count,), tf.int32)]
    traced = tf.function(add, input_signature=signature, autograph=False)

    def total(values: Sequence[int]) -> list[int]:
        return [int(value) for value in traced(tf.constant(values, tf.int32)).numpy()]

    return total


@contextlib.contextmanager
def ending_after(seconds: float) -> Iterator[None]:
    """Ends this process, with exit code 1, unless what is within comes to an end in time.

    While TensorFlow waits for machines, no other Python thread runs and SIGTERM is not
    handled; a machine that fails in that very second would be waited for for ever.
    """
    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def _limit_waiting(cluster: Cluster) -> None:
    """Gives TensorFlow's coordination its deadlines.

    There is no public way; a strategy that finds a service set up uses it as it is.
    """
    from tensorflow.compiler.xla.tsl.protobuf import coordination_config_pb2
    from tensorflow.python.eager import context

    job = coordination_config_pb2.CoordinatedJob(name="worker", num_tasks=len(cluster.machines))
    context.context().configure_coordination_service(
        service_type="standalone",
        service_leader="/job:worker/replica:0/task:0",
        cluster_register_timeout_in_ms=int(CONNECT_S * 1000),
        heartbeat_timeout_in_ms=int(SILENT_S * 1000),
        coordinated_jobs=[job],
    )


def _abort_calls(why: str) -> None:
    """Ends what waits in TensorFlow for a machine that is known to be gone."""
    from tensorflow.python.eager import context
    from tensorflow.python.framework import errors

    context.context().abort_collective_ops(errors.UNAVAILABLE, why)
