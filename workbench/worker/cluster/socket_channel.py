"""A channel between two machines of one training: messages with bytes, over TCP.

A message is a frame (host/wire.py): a JSON line, and as many bytes behind it as it says. What
the chief sends to the others besides goes by TensorFlow; this connection brings them
together before there is one, and shows at once when a process has ended.
"""

from __future__ import annotations

import contextlib
import queue
import socket
import threading
from collections.abc import Callable
from typing import Any

import msgspec

from workbench.host import wire

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
