"""A real ssh server for proofs, in a network namespace of its own: another computer, nearly.

Nothing of the developer's ssh or network is seen or changed. Needs root, sshd and ip. Everything
is removed at the end, processes by their numbers.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Self

from tests import sshd

_IP = shutil.which("ip", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
_PATIENCE_S = 20.0


def why_not() -> str:
    """What is missing for it here; "" for nothing."""
    if reason := sshd.why_not():
        return reason
    if _IP is None:
        return "ip is not installed (Debian: iproute2)"
    name = f"wbtry{os.getpid()}"
    tried = _ip("netns", "add", name, check=False)
    if tried.returncode:
        return f"no network namespaces here: {tried.stderr.strip()}"
    _ip("netns", "del", name)
    return ""


class PrivateHost(sshd.Sshd):
    """A context manager: the server runs while it is entered.

    Args:
        folder: For its keys, its logs and the home of who logs in.
        is_fresh: Its python3 is the system's own, and its pip reaches the package index;
            else it has the Python of the tests, and no way out.
    """

    def __init__(self, folder: Path, *, is_fresh: bool = False) -> None:
        super().__init__(folder, python_folder="/usr/bin" if is_fresh else None)
        number = os.getpid() % 250 + 1
        self.here, self.address = f"10.77.{number}.1", f"10.77.{number}.2"
        self.prefix = (_IP, "netns", "exec", f"wb{os.getpid()}")
        self._space = f"wb{os.getpid()}"
        self._near, self._far = f"wbh{os.getpid()}", f"wbn{os.getpid()}"
        self._is_fresh = is_fresh
        self._proxy: ConnectProxy | None = None

    def start(self) -> Self:
        """Makes its network and starts it there."""
        try:
            self._make_network()
            if self._is_fresh:
                self._proxy = ConnectProxy(self.here)
                self.variables["HTTPS_PROXY"] = self._proxy.url
                self.variables["PATH"] = "/usr/local/bin:/usr/bin:/bin"
            return super().start()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends all that runs there, trainers too, and removes the network."""
        super().stop()
        deadline = time.monotonic() + _PATIENCE_S
        while (left := self.pids()) and time.monotonic() < deadline:
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)
        if self._proxy is not None:
            self._proxy.close()
        _ip("netns", "del", self._space, check=False)
        _ip("link", "del", self._near, check=False)

    def pids(self) -> list[int]:
        """Processes in its namespace: nothing else of this computer is in there."""
        return [int(pid) for pid in _ip("netns", "pids", self._space, check=False).stdout.split()]

    def accept_as(self, name: str, data_home: Path) -> None:
        """Writes its key into the application's file of accepted keys, under a name."""
        kind, blob = (self.folder / "host_key.pub").read_text().split()[:2]
        path = data_home / "remote" / "known_hosts"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write(f"{name} {kind} {blob}\n")

    def _make_network(self) -> None:
        _ip("netns", "add", self._space)
        _ip("link", "add", self._near, "type", "veth", "peer", "name", self._far)
        _ip("link", "set", self._far, "netns", self._space)
        _ip("addr", "add", f"{self.here}/24", "dev", self._near)
        _ip("link", "set", self._near, "up")
        _ip("-n", self._space, "addr", "add", f"{self.address}/24", "dev", self._far)
        _ip("-n", self._space, "link", "set", self._far, "up")
        _ip("-n", self._space, "link", "set", "lo", "up")


class ConnectProxy:
    """Passes HTTPS on for the namespace, which has no other way out. Only CONNECT.

    Args:
        address: Where it listens.
    """

    def __init__(self, address: str) -> None:
        self._server = socket.create_server((address, 0))
        self.url = f"http://{address}:{self._server.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._server.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._server.accept()
                threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near: socket.socket) -> None:
        with near, contextlib.suppress(OSError, ValueError, IndexError):
            head = b""
            while b"\r\n\r\n" not in head and len(head) < 8_192:
                head += near.recv(4_096)
            verb, target = head.split()[:2]
            host, _, port = target.decode().rpartition(":")
            if verb != b"CONNECT" or port != "443":
                return
            with socket.create_connection((host, 443), timeout=60) as far:
                near.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=_pump, args=(far, near), daemon=True)
                back.start()
                _pump(near, far)
                back.join()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _ip(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    result = subprocess.run([_IP or "ip", *words], capture_output=True, text=True, check=False)
    if check and result.returncode:
        raise RuntimeError(f"ip {' '.join(words)}: {result.stderr.strip()}")
    return result
