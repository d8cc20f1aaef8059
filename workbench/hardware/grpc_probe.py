"""What answers at a TPU's old grpc address, asked without TensorFlow.

TensorFlow itself is not a way to find out: asked to connect to a closed, a silent or a wrong
port it never comes back and says nothing. So the port is asked step by step, each with its
deadline: does it take a connection, does it speak HTTP/2 (RFC 9113), and does TensorFlow's
worker service behind it (grpc over HTTP/2) name a TPU among its devices?
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

from workbench.errors import TpuError

PORT_DEADLINE_S = 5.0
"""Seconds for finding the host and connecting to its port."""

_GREETING_S = 2.0
_ANSWER_S = 2.0
_MAX_BYTES = 1 << 20

_ENDED = (
    "This way to a TPU ended on 2025-04-25: no TPU of today is reached by a grpc address. "
    "Train on a TPU VM over ssh, with ssh:HOST/tpu:local as the target."
)
_OTHERS = (
    (b"SSH-", "That is an ssh server, and not a TPU's grpc port."),
    (b"HTTP/1", "That is a web server, and not a TPU's grpc port."),
)
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_DATA, _HEADERS, _RESET, _SETTINGS, _PING, _AWAY = 0, 1, 3, 4, 6, 7
_END_STREAM, _END_HEADERS, _ACK = 1, 4, 1
_STATUS_CALL = b"/tensorflow.WorkerService/GetStatus"


def probe_grpc(host: str, port: int) -> TpuError:
    """Says what is there. Always an error: nothing trains this way any more.

    Args:
        host: A name or an address, IPv6 without brackets.
        port: 1 to 65,535.
    """
    where = f"grpc://{f'[{host}]' if ':' in host else host}:{port}"
    try:
        with _connected(host, port) as line:
            what, received = _asked(line, f"{host}:{port}".encode())
    except _NotThereError as error:
        what, received = error.args
    return TpuError(what, where=where, received=received, fix=_ENDED)


class _NotThereError(Exception):
    """No connection: what to say, and what was seen."""


def _connected(host: str, port: int) -> socket.socket:
    deadline = time.monotonic() + PORT_DEADLINE_S
    refused: OSError | None = None
    for family, address in _addresses(host, port):
        line = socket.socket(family, socket.SOCK_STREAM)
        line.settimeout(max(0.05, deadline - time.monotonic()))
        try:
            line.connect(address)
        except OSError as error:
            line.close()
            refused = refused or error
        else:
            return line
    if isinstance(refused, ConnectionRefusedError):
        raise _NotThereError("Nothing listens at that port.", "connection refused")
    if isinstance(refused, TimeoutError):
        raise _NotThereError(
            "That machine does not answer: it is off, or a firewall is before it.",
            f"no answer within {PORT_DEADLINE_S:.0f} s",
        )
    words = (refused.strerror or str(refused)) if refused else "no address"
    raise _NotThereError("That machine cannot be reached.", words)


def _addresses(host: str, port: int) -> list[tuple[socket.AddressFamily, Any]]:
    """Where a name leads. Asked in a thread: the system's own deadline is much longer."""
    found: list[tuple[socket.AddressFamily, Any]] = []

    def ask() -> None:
        with contextlib.suppress(OSError):
            infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.extend((info[0], info[4]) for info in infos)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(PORT_DEADLINE_S / 2)
    if not found:
        raise _NotThereError("There is no machine of that name.", host)
    return list(found)


def _asked(line: socket.socket, authority: bytes) -> tuple[str, str]:
    """What the other side of a connection is, in words, and what it sent."""
    try:
        line.settimeout(_GREETING_S)
        line.sendall(_PREFACE + _frame(_SETTINGS, 0, 0))
        greeting = line.recv(4096)
    except TimeoutError:
        words = "The port takes connections but says nothing: no TPU server is there."
        return words, f"silence for {_GREETING_S:.0f} s"
    except OSError as error:
        return "The port closes every connection.", error.strerror or str(error)
    if not greeting:
        return "The port closes every connection.", "closed without a word"
    if len(greeting) >= 9 and greeting[3] == _SETTINGS:
        return _devices_in_words(_status(line, greeting, authority))
    known = (words for start, words in _OTHERS if greeting.startswith(start))
    return next(known, "Something else than a TPU's server answers there."), _shown(greeting)


def _devices_in_words(status: bytes | None) -> tuple[str, str]:
    kinds = sorted(set(_device_kinds(status))) if status is not None else []
    if not kinds:
        return "A server answers there, but it is not TensorFlow's.", "an HTTP/2 server"
    seen = "devices: " + ", ".join(kinds)
    if any(kind.startswith("TPU") for kind in kinds):
        return "A TPU answers there, but TensorFlow of today cannot train on it.", seen
    return "That machine runs TensorFlow but has no TPU.", seen


def _status(line: socket.socket, received: bytes, authority: bytes) -> bytes | None:
    """TensorFlow's answer to "which devices have you?"; None where there is none."""
    body, deadline = bytearray(), time.monotonic() + _ANSWER_S
    with contextlib.suppress(OSError):
        line.sendall(_frame(_SETTINGS, _ACK, 0) + _call(authority))
        for kind, flags, payload in _frames(line, received, deadline):
            if kind == _DATA:
                body += payload
            elif kind == _PING and not flags & _ACK:
                line.sendall(_frame(_PING, _ACK, 0, payload))
            if kind in {_RESET, _AWAY} or (kind in {_DATA, _HEADERS} and flags & _END_STREAM):
                break
    # A message of grpc: one byte for "compressed", four for its length.
    is_message = len(body) >= 5 and not body[0] and int.from_bytes(body[1:5]) <= len(body) - 5
    return bytes(body[5:]) if is_message else None


def _call(authority: bytes) -> bytes:
    """Headers (RFC 7541, each as a literal, nothing indexed) and body of the question."""
    headers = (
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":path", _STATUS_CALL),
        (b":authority", authority),
        (b"content-type", b"application/grpc"),
        (b"te", b"trailers"),
    )
    block = b"".join(b"\0" + _literal(name) + _literal(value) for name, value in headers)
    return _frame(_HEADERS, _END_HEADERS, 1, block) + _frame(_DATA, _END_STREAM, 1, bytes(5))


def _literal(text: bytes) -> bytes:
    text = text[:126]  # its length is then one byte
    return bytes([len(text)]) + text


def _frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return len(payload).to_bytes(3) + bytes([kind, flags]) + stream.to_bytes(4) + payload


def _frames(
    line: socket.socket, received: bytes, deadline: float
) -> Iterator[tuple[int, int, bytes]]:
    """Frames as they come: kind, flags, payload; ends with the line or raises TimeoutError."""
    data, total = bytearray(received), len(received)
    while total < _MAX_BYTES:
        while len(data) >= 9 and len(data) >= (end := 9 + int.from_bytes(data[:3])):
            kind, flags, payload = data[3], data[4], bytes(data[9:end])
            del data[:end]
            yield kind, flags, payload
        line.settimeout(max(0.01, deadline - time.monotonic()))
        more = line.recv(65_536)
        if not more or time.monotonic() > deadline:
            return
        data += more
        total += len(more)


def _device_kinds(message: bytes) -> Iterator[str]:
    """The kinds ("CPU", "TPU", ...) of a GetStatusResponse's devices: field 2 of each of its
    fields 1 (DeviceAttributes), in the encoding of protocol buffers.
    """
    for field, device in _fields(message):
        if field == 1:
            for inner, value in _fields(device):
                if inner == 2:
                    yield _shown(value)


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and content of each length-delimited field; the others are passed over."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == 2:
            length, at = _varint(message, at)
            yield tag >> 3, message[at : at + length]
            at += length
        elif kind == 0:
            _, at = _varint(message, at)
        elif kind in {1, 5}:
            at += 8 if kind == 1 else 4
        else:
            return


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(message) and shift < 64:
        byte = message[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            break
    return value, at


def _shown(text: bytes) -> str:
    first = text[:80].decode("utf-8", "replace").splitlines() or [""]
    return "".join(char if char.isprintable() else "?" for char in first[0])
