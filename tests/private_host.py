"""A real ssh server for tests, in a network namespace of its own: another computer, nearly.

It has its own keys, port, network and home folder; nothing of the developer's ssh is seen or
changed. Needs root, sshd and ip. Everything is removed at the end, processes by their numbers.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Self

PORT = 2222
_PATIENCE_S = 20.0
_SSHD_FOLDERS = (Path("/usr/sbin"), Path("/usr/local/sbin"))


def why_not() -> str:
    """What is missing for it here; "" for nothing."""
    if os.getuid() != 0:
        return "a network namespace needs root"
    missing = [name for name in ("sshd", "ssh", "ssh-keygen", "ip") if _program(name) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    name = f"wbtry{os.getpid()}"
    tried = _ip("netns", "add", name, check=False)
    if tried.returncode:
        return f"no network namespaces here: {tried.stderr.strip()}"
    _ip("netns", "del", name)
    return ""


class PrivateHost:
    """A context manager: the ssh server runs while it is entered.

    Args:
        folder: For its keys, its logs and its home; must be there.
        python: Put first on its PATH as python3; the system's own where None.
        proxy: "http://HOST:PORT" by which its pip reaches the package index; "" for nothing.

    Attributes:
        home: HOME of whoever logs in.
        address: Where it is reached from here.
        key: Private key that it accepts.
        host_key: Its public key, "KIND BLOB".
    """

    def __init__(self, folder: Path, *, python: str | None = None, proxy: bool = False) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.key = folder / "user_key"
        self._python = python
        self._wants_proxy = proxy
        self._proxy: ConnectProxy | None = None
        number = os.getpid() % 250 + 1
        self._space = f"wb{os.getpid()}"
        self._near, self._far = f"wbh{os.getpid()}", f"wbn{os.getpid()}"
        self.here = f"10.77.{number}.1"
        self.address = f"10.77.{number}.2"
        self._sshd: subprocess.Popen[bytes] | None = None

    @property
    def host_key(self) -> str:
        kind, blob = (self.folder / "host_key.pub").read_text().split()[:2]
        return f"{kind} {blob}"

    def __enter__(self) -> Self:
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exception: object) -> None:
        if self._sshd is not None:
            self._end_all()
        if self._proxy is not None:
            self._proxy.close()
        _ip("netns", "del", self._space, check=False)
        _ip("link", "del", self._near, check=False)

    def accept_as(self, name: str, data_home: Path) -> None:
        """Writes its key into the application's file of accepted keys, under a name."""
        path = data_home / "remote" / "known_hosts"
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write(f"{name} {self.host_key}\n")

    def pids(self) -> list[int]:
        """Processes in its namespace, trainers too."""
        found = _ip("netns", "pids", self._space, check=False).stdout.split()
        return [int(pid) for pid in found]

    def _make(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        Path("/run/sshd").mkdir(exist_ok=True)  # sshd wants it, and starts nothing by it
        for name in ("host_key", "user_key"):
            if not (self.folder / name).exists():
                argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f"]
                subprocess.run([*argv, str(self.folder / name)], check=True)
        self._make_network()
        if self._wants_proxy:
            self._proxy = ConnectProxy(self.here)
        config = self.folder / "sshd.conf"
        config.write_text(self._config())
        program = _program("sshd") or "sshd"
        with (self.folder / "sshd.log").open("ab") as log:
            self._sshd = subprocess.Popen(
                ["ip", "netns", "exec", self._space, program, "-D", "-e", "-f", str(config)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + _PATIENCE_S
        while True:
            with contextlib.suppress(OSError):
                socket.create_connection((self.address, PORT), timeout=1).close()
                return
            if time.monotonic() > deadline or self._sshd.poll() is not None:
                raise RuntimeError((self.folder / "sshd.log").read_text())
            time.sleep(0.05)

    def _make_network(self) -> None:
        _ip("netns", "add", self._space)
        _ip("link", "add", self._near, "type", "veth", "peer", "name", self._far)
        _ip("link", "set", self._far, "netns", self._space)
        _ip("addr", "add", f"{self.here}/24", "dev", self._near)
        _ip("link", "set", self._near, "up")
        _ip("-n", self._space, "addr", "add", f"{self.address}/24", "dev", self._far)
        _ip("-n", self._space, "link", "set", self._far, "up")
        _ip("-n", self._space, "link", "set", "lo", "up")

    def _config(self) -> str:
        path = "/usr/local/bin:/usr/bin:/bin"
        if self._python is not None:
            tools = self.folder / "bin"
            tools.mkdir(exist_ok=True)
            link = tools / "python3"
            if not link.is_symlink():
                link.symlink_to(self._python)
            path = f"{tools}:{path}"
        words = [f"HOME={self.home}", f"PATH={path}", f"TMPDIR={self.home}"]
        if self._proxy is not None:
            words.append(f"HTTPS_PROXY={self._proxy.url}")
        authorized = self.folder / "user_key.pub"
        return "\n".join(
            (
                f"Port {PORT}",
                f"ListenAddress {self.address}",
                f"HostKey {self.folder / 'host_key'}",
                f"AuthorizedKeysFile {authorized}",
                f"PidFile {self.folder / 'sshd.pid'}",
                "UsePAM no",
                "PasswordAuthentication no",
                "KbdInteractiveAuthentication no",
                "PermitRootLogin yes",
                "StrictModes no",
                "MaxStartups 100",
                "PrintMotd no",
                f'ForceCommand exec env {" ".join(words)} sh -c "$SSH_ORIGINAL_COMMAND"',
                "",
            )
        )

    def _end_all(self) -> None:
        """Ends what runs in the namespace: nothing else of this computer is in there."""
        for _ in range(50):
            left = self.pids()
            if not left:
                break
            for pid in left:
                with contextlib.suppress(OSError):
                    os.kill(pid, 9)
            time.sleep(0.1)
        if self._sshd is not None:
            self._sshd.wait()


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


def _program(name: str) -> str | None:
    return shutil.which(name) or next(
        (str(folder / name) for folder in _SSHD_FOLDERS if (folder / name).exists()), None
    )


def _ip(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    program = _program("ip") or "ip"
    result = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    if check and result.returncode:
        raise RuntimeError(f"ip {' '.join(words)}: {result.stderr.strip()}")
    return result


if __name__ == "__main__":
    sys.exit(why_not() or 0)
