"""What answers at a grpc address: real sockets and servers of grpc on this computer."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.proofs.grpc_addresses import full, program
from workbench.hardware import grpc_child, grpc_probe
from workbench.hardware.grpc_child import device_kinds
from workbench.hardware.grpc_probe import probe_grpc
from workbench.targets import all_targets

_SERVICE = """
import grpc, time
from concurrent import futures
answer = grpc.unary_unary_rpc_method_handler(lambda request, context: {answer})
service = grpc.method_handlers_generic_handler("tensorflow.WorkerService", {{"GetStatus": answer}})
server = grpc.server(futures.ThreadPoolExecutor(1), handlers=[service])
print(server.add_insecure_port("127.0.0.1:0"), flush=True)
server.start()
time.sleep(600)
"""


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


def _frame(kind, payload=b""):
    """A frame of HTTP/2, of the connection as a whole."""
    return len(payload).to_bytes(3) + bytes([kind, 0]) + bytes(4) + payload


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (_silent, "does not respond"),
        (lambda connection: None, "closes every connection"),
        (_says(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"), "SSH server"),
        (_says(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "web server"),
        (_says(b"220 mail.example ESMTP\r\n"), "not a TPU server"),
        (_says(b"\0\0"), "not a TPU server"),
        (_says(_frame(4)), "not a TensorFlow server"),
        (_says(_frame(4), _frame(7, bytes(8))), "not a TensorFlow server"),
        (_says(_frame(4) + b"\xff\xff\xff" + bytes(60)), "not a TensorFlow server"),
    ],
)
def test_each_kind_of_port_has_its_words(answer, words):
    with answering(answer) as port:
        error = probe_grpc("127.0.0.1", port)
    assert words in error.what
    assert "2025-04-25" in error.fix
    assert "ssh:HOST/tpu:local" in error.fix
    assert error.where == f"grpc://127.0.0.1:{port}"


@pytest.mark.parametrize(
    ("answer", "words", "seen"),
    [
        (repr(_devices(b"CPU")), "has no TPU", "devices: CPU"),
        (
            repr(_devices(b"CPU", b"TPU_SYSTEM", b"TPU")),
            "A TPU responds",
            "devices: CPU, TPU, TPU_SYSTEM",
        ),
        (repr(_devices(b"\x1b[31m", b"\xff")), "has no TPU", "devices: ?[31m, \ufffd"),
        ("b''", "not a TensorFlow server", "an HTTP/2 server"),
        ("b'no such message'", "not a TensorFlow server", "an HTTP/2 server"),
        ("bytes(2 << 20)", "not a TensorFlow server", "an HTTP/2 server"),
    ],
)
def test_a_server_of_grpc_is_queried_for_its_devices(answer, words, seen, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with program(_SERVICE.format(answer=answer)) as port:
        error = probe_grpc("127.0.0.1", port)
    assert words in error.what
    assert error.received == seen


def test_a_closed_port_says_so():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert "No server listens" in probe_grpc("127.0.0.1", port).what


def test_a_name_that_leads_nowhere_says_so():
    assert "Unknown host name" in probe_grpc("no-such-host.invalid", 8470).what


def test_a_machine_that_is_off_is_waited_for_in_vain():
    """A full queue of connections: the kernel leaves the next one without an answer."""
    with full() as port:
        error = probe_grpc("127.0.0.1", port)
    assert "does not respond" in error.what
    assert error.received == "no response within 5 s"


def test_what_is_known_at_the_deadline_is_the_answer(monkeypatch):
    monkeypatch.setattr(grpc_probe, "DEADLINE_S", grpc_child._CONNECT_S - 1)
    with full() as port:
        assert "does not respond" in probe_grpc("127.0.0.1", port).what


def test_a_child_that_cannot_be_started_is_reported(monkeypatch):
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    error = probe_grpc("127.0.0.1", 1)
    assert "could not be checked" in error.what
    assert "No such file" in error.received


def test_the_deadlines_are_within_ten_seconds():
    assert grpc_probe.DEADLINE_S < 10
    parts = (grpc_child._CONNECT_S, grpc_child._GREETING_S, grpc_child._CALL_S)
    assert sum(parts) <= grpc_probe.DEADLINE_S


@given(st.binary(max_size=200))
@settings(deadline=None)
def test_any_answer_is_read_without_harm(message):
    assert all(isinstance(kind, str) for kind in device_kinds(message))


def test_the_target_probes_and_reports():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    error = all_targets()["tpu"].probe(
        {"address": f"grpc://127.0.0.1:{port}", "zone": "", "project": ""}
    )
    assert "No server listens" in error.what
