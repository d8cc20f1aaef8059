"""Old grpc addresses: each kind of port has its message, and no command waits for long.

A real `tf.distribute.Server` without a TPU, a server of grpc without TensorFlow's service, a
closed and a silent port, an ssh banner, a web server, a full queue of connections (as a
machine that is off), and a name that leads nowhere; each is checked by `workbench doctor` and
by `workbench train`. Exit code 1 when a message is wrong or took longer than 10 s.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from workbench.cli import main as workbench

ROOT = Path(__file__).resolve().parents[2]
LIMIT_S = 10.0

_TENSORFLOW = """
import tensorflow as tf, time
server = tf.distribute.Server({"local": ["localhost:0"]}, job_name="local", task_index=0)
print(server.target.rpartition(":")[2], flush=True)
time.sleep(600)
"""
_GRPC = """
import grpc, time
from concurrent import futures
server = grpc.server(futures.ThreadPoolExecutor(1))
print(server.add_insecure_port("127.0.0.1:0"), flush=True)
server.start()
time.sleep(600)
"""


@contextlib.contextmanager
def program(source: str) -> Iterator[int]:
    """A server in a process of its own; the port that it prints. Killed by its number in the
    end: TensorFlow's ignores SIGTERM."""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    with subprocess.Popen(
        [sys.executable, "-c", source],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
    ) as process:  # fmt: skip
        try:
            yield int(process.stdout.readline())
        finally:
            process.kill()


@contextlib.contextmanager
def saying(text: bytes) -> Iterator[int]:
    """A port that says something to each connection, and then nothing more."""
    connections: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = server.accept()
                    connections.append(connection)
                    connection.sendall(text)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield server.getsockname()[1]
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in connections:
                connection.close()


@contextlib.contextmanager
def closed() -> Iterator[int]:
    """A port that nothing listens at."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    yield port


@contextlib.contextmanager
def full() -> Iterator[int]:
    """A port whose queue is full: the kernel answers no more."""
    with socket.socket() as server, contextlib.ExitStack() as waiting:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for _ in range(8):
            client = waiting.enter_context(socket.socket())
            client.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                client.connect(server.getsockname())
        yield server.getsockname()[1]


CASES = (
    ("tf.distribute.Server", lambda: program(_TENSORFLOW), "runs TensorFlow but has no TPU"),
    ("grpc without TensorFlow", lambda: program(_GRPC), "not a TensorFlow server"),
    ("closed port", closed, "No server listens"),
    ("silent port", lambda: saying(b""), "does not respond"),
    ("ssh banner", lambda: saying(b"SSH-2.0-OpenSSH_9.2p1\r\n"), "SSH server"),
    ("web server", lambda: saying(b"HTTP/1.1 400 Bad Request\r\n\r\n"), "web server"),
    ("machine that is off", full, "does not respond"),
)


def last_words(words: list[str], place: Path) -> tuple[str, float]:
    """What a command says last, as one text, and how long it took."""
    environment = {**os.environ, "WORKBENCH_HOME": str(place), "PYTHONPATH": str(ROOT)}
    begun = time.perf_counter()
    try:
        answer = subprocess.run(
            [sys.executable, "-m", "workbench", *words, "--json"],
            capture_output=True, text=True, check=False, timeout=60, env=environment, cwd=place,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return "it never came back", time.perf_counter() - begun
    seconds = time.perf_counter() - begun
    lines = answer.stdout.splitlines()
    last = json.loads(lines[-1]) if lines else {}
    said = last.get("error", last)
    return " ".join(map(str, said.values())) or answer.stderr[-300:], seconds


def check(address: str, expected: str, place: Path) -> Iterator[str]:
    """Runs both commands; yields what is wrong, and prints how long they took."""
    times = []
    for words in (["doctor", address], ["train", str(place / "p.workbench"), "--target", address]):
        said, seconds = last_words(words, place)
        times.append(seconds)
        if expected not in said or "2025-04-25" not in said or "ssh:HOST" not in said:
            yield f"{words[0]} {address}: {said}"
        if seconds > LIMIT_S:
            yield f"{words[0]} {address} took {seconds:.1f} s"
    print(f"  {expected}: {' and '.join(f'{seconds:.1f} s' for seconds in times)}", flush=True)


def main() -> int:
    """Runs the proof and prints one line."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    problems: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        workbench(["new", "fashion_convnet", str(place / "p.workbench")])
        for name, serve, expected in CASES:
            with serve() as port:
                found = list(check(f"tpu:grpc://127.0.0.1:{port}", expected, place))
            problems += [f"{name}: {words}" for words in found]
        nowhere = "tpu:grpc://no-such-host.invalid:8470"
        problems += check(nowhere, "Unknown host name", place)
    for problem in problems:
        print(problem)
    print(f"grpc addresses: {len(CASES) + 1} kinds checked by 2 commands, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
