"""Checks what a grpc address is, step by step: `python grpc_child.py HOST PORT`.

Is there such a machine, does its port take a connection, does it answer HTTP/2 (RFC 9113), and
does TensorFlow's worker service behind it name a TPU among its devices? Before each step a line
says what is known if that step never ends, so the last line is the answer whenever this process
ends: a JSON array of words for people and of what was seen. It is a process because the look-up
of a name has no deadline, and because grpc's threads and a fork do not mix.
"""

from __future__ import annotations

import json
import socket
import sys

_CONNECT_S = 5.0
_GREETING_S = 2.0
_CALL_S = 2.0
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
_SETTINGS = b"\0\0\0\x04\0\0\0\0\0"  # a frame of HTTP/2: nothing to set


def _check(host: str, port: int) -> None:
    _report("Unknown host name.", host)
    try:
        socket.getaddrinfo(host, port)
    except socket.gaierror:
        return
    words = "The machine does not respond: it is off, or behind a firewall."
    _report(words, f"no response within {_CONNECT_S:.0f} s")
    try:
        line = socket.create_connection((host, port), timeout=_CONNECT_S)
    except TimeoutError:
        return
    except ConnectionRefusedError:
        _report("No server listens on this port.", "connection refused")
    except OSError as error:
        _report("The machine cannot be reached.", error.strerror or str(error))
    else:
        with line:
            is_http2 = _greet(line)
        if is_http2:
            _query_tensorflow(f"[{host}]:{port}" if ":" in host else f"{host}:{port}")


def _report(what: str, received: str) -> None:
    first = (received.splitlines() or [""])[0][:80]
    seen = "".join(char if char.isprintable() else "?" for char in first)
    print(json.dumps([what, seen]), flush=True)  # noqa: T201 - its only way to answer


def _greet(line: socket.socket) -> bool:
    """Whether a server answers the first words of HTTP/2 with its own."""
    words = "The port accepts connections but does not respond: not a TPU server."
    _report(words, f"no response for {_GREETING_S:.0f} s")
    line.settimeout(_GREETING_S)
    try:
        line.sendall(_PREFACE + _SETTINGS)
        greeting = line.recv(4096)
    except TimeoutError:
        return False
    except OSError as error:
        _report("The port closes every connection.", error.strerror or str(error))
        return False
    if len(greeting) >= len(_SETTINGS) and greeting[3] == _SETTINGS[3]:
        return True
    words = "This is not a TPU server."
    if not greeting:
        words = "The port closes every connection."
    elif greeting.startswith(b"SSH-"):
        words = "This is an SSH server, not the grpc port of a TPU."
    elif greeting.startswith(b"HTTP/1"):
        words = "This is a web server, not the grpc port of a TPU."
    _report(words, greeting.decode("utf-8", "replace") or "closed without a response")
    return False


def _query_tensorflow(address: str) -> None:
    _report("This server is not a TensorFlow server.", "an HTTP/2 server")
    import grpc  # noqa: PLC0415 - comes with TensorFlow; most addresses are answered without

    options = (("grpc.enable_http_proxy", 0), ("grpc.max_receive_message_length", 1 << 20))
    with grpc.insecure_channel(address, options) as channel:
        call = channel.unary_unary("/tensorflow.WorkerService/GetStatus")
        try:
            kinds = device_kinds(call(b"", timeout=_CALL_S))
        except grpc.RpcError:
            return
    seen = "devices: " + ", ".join(kinds)
    if any(kind.startswith("TPU") for kind in kinds):
        _report("A TPU responds, but current TensorFlow cannot train on it.", seen)
    elif kinds:
        _report("The machine runs TensorFlow but has no TPU.", seen)


def device_kinds(status: bytes) -> list[str]:
    """The kinds ("CPU", "TPU", ...) of devices in a GetStatusResponse: field 2 of each of its
    fields 1 (DeviceAttributes). Importing its description from TensorFlow lasts seconds.
    """
    devices = _texts(status, 1)
    return sorted({kind.decode("utf-8", "replace") for one in devices for kind in _texts(one, 2)})


def _texts(data: bytes, number: int) -> list[bytes]:
    """The contents of a protocol buffer's text or message fields of some number."""
    from google.protobuf import empty_pb2, message, unknown_fields  # noqa: PLC0415 - as above

    try:
        fields = unknown_fields.UnknownFieldSet(empty_pb2.Empty.FromString(data))
    except message.DecodeError:
        return []
    return [bytes(one.data) for one in fields if (one.field_number, one.wire_type) == (number, 2)]


if __name__ == "__main__":
    _check(sys.argv[1], int(sys.argv[2]))
