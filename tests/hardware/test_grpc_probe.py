"""What answers at a grpc address: real sockets of this computer."""

import contextlib
import socket
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.proofs.grpc_addresses import full
from workbench.hardware import grpc_probe as _grpc_probe
from workbench.hardware.grpc_probe import _device_kinds, _frame, probe_grpc
from workbench.targets import all_targets


@contextlib.contextmanager
def answering(answer):
    """A port of this computer; `answer(connection)` is called with each connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    with connection, contextlib.suppress(OSError):
                        answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def _silent(connection):
    while connection.recv(4096):
        pass


def _says(*texts):
    def answer(connection):
        for text in texts:
            connection.sendall(text)
        _silent(connection)

    return answer


def _devices(*kinds):
    """A GetStatusResponse: each device with its name and its kind."""
    message = b""
    for kind in kinds:
        device = b"\x0a\x01n\x12" + bytes([len(kind)]) + kind + b"\x20\x80\x01\x31" + bytes(8)
        message += b"\x0a" + bytes([len(device)]) + device
    return message


def _tensorflow(message, *, pieces=1):
    """HTTP/2 frames of a server that gives a grpc answer, as pieces on the line."""
    body = b"\0" + len(message).to_bytes(4) + message
    data = _frame(4, 0, 0) + _frame(6, 0, 0, bytes(8)) + _frame(1, 4, 1, b"\x88")
    data += _frame(0, 0, 1, body[:7]) + _frame(0, 0, 1, body[7:]) + _frame(1, 5, 1, b"\x88")
    size = max(9, len(data) // pieces + 1)
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (_silent, "does not respond"),
        (lambda connection: None, "closes every connection"),
        (_says(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"), "SSH server"),
        (_says(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "web server"),
        (_says(b"220 mail.example ESMTP\r\n"), "not a TPU server"),
        (_says(b"\0\0"), "not a TPU server"),
        (_says(_frame(4, 0, 0)), "not a TensorFlow server"),
        (_says(_frame(4, 0, 0), _frame(7, 0, 0, bytes(8))), "not a TensorFlow server"),
        (_says(*_tensorflow(_devices(b"CPU"))), "has no TPU"),
        (_says(*_tensorflow(_devices(b"CPU", b"TPU_SYSTEM", b"TPU"), pieces=4)), "A TPU responds"),
        (_says(_frame(4, 0, 0) + b"\xff\xff\xff" + bytes(60)), "not a TensorFlow server"),
    ],
)
def test_each_kind_of_port_has_its_words(answer, words):
    with answering(answer) as port:
        told = probe_grpc("127.0.0.1", port)
    assert words in told.what
    assert "2025-04-25" in told.fix
    assert "ssh:HOST/tpu:local" in told.fix
    assert told.where == f"grpc://127.0.0.1:{port}"


def test_a_closed_port_says_so():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert "No server listens" in probe_grpc("127.0.0.1", port).what


def test_a_name_that_leads_nowhere_says_so():
    assert "Unknown host name" in probe_grpc("no-such-host.invalid", 8470).what


def test_a_machine_that_is_off_is_waited_for_in_vain(monkeypatch):
    """A full queue of connections: the kernel leaves the next one without an answer."""
    monkeypatch.setattr(_grpc_probe, "PORT_DEADLINE_S", 0.5)
    with full() as port:
        assert "does not respond" in probe_grpc("127.0.0.1", port).what


def test_the_sum_of_the_deadlines_is_within_ten_seconds():
    parts = (_grpc_probe.PORT_DEADLINE_S, _grpc_probe._GREETING_S, _grpc_probe._ANSWER_S)
    assert sum(parts) < 10


@given(st.binary(max_size=200))
@settings(deadline=None)
def test_any_answer_is_read_without_harm(message):
    assert all(isinstance(kind, str) for kind in _device_kinds(message))


def test_the_target_asks_and_tells():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    told = all_targets()["tpu"].probe(
        {"address": f"grpc://127.0.0.1:{port}", "zone": "", "project": ""}
    )
    assert "No server listens" in told.what
