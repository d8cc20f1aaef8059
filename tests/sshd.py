"""A private ssh server on loopback: its own port, host key and authorized key; no accounts of
this computer are used but the one that runs the tests, and its home folder is not seen.
"""

from __future__ import annotations

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROGRAM = shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
_START_S = 20.0


def why_not():
    """Why no server can be started here; "" when one can."""
    if PROGRAM is None:
        return "sshd is not installed (Debian: openssh-server)"
    if os.geteuid() != 0:
        return "a private sshd needs root"
    return ""


class Sshd:
    """A running server; a context manager.

    Args:
        folder: Its own, for keys, configuration and the home folder of who logs in.
        address: Where it listens.

    Attributes:
        prefix: Words before the program, of a command that runs it.
        variables: Of the account that logs in.
    """

    def __init__(self, folder: Path, *, address="127.0.0.1", python_folder=None):
        self.folder = folder
        self.address = address
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        self.user = getpass.getuser()
        self.key_file = folder / "client_key"
        # What the bridge finds as "python3", and what may be named as an interpreter.
        self.python_folder = Path(python_folder or Path(sys.executable).parent)
        make_key(self.key_file)
        self.new_host_key()
        shutil.copy(self.key_file.with_suffix(".pub"), folder / "authorized_keys")
        self.port = _free_port(address)
        self._child = None
        self.prefix = ()
        self.variables = {
            "HOME": str(self.home),
            "PATH": f"{self.python_folder}:{os.environ['PATH']}",
        }

    def new_host_key(self):
        """Another identity, as a reinstalled computer has."""
        for path in self.folder.glob("host_key*"):
            path.unlink()
        make_key(self.folder / "host_key")

    @property
    def fingerprint(self):
        """Of the host key, as OpenSSH itself says it."""
        words = ["ssh-keygen", "-l", "-f", str(self.folder / "host_key.pub")]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[1]

    def start(self):
        """Starts it and waits until it listens."""
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where sshd gives up its rights
        config = self.folder / "sshd_config"
        config.write_text(self._config())
        with (self.folder / "sshd.log").open("ab") as log:
            self._child = subprocess.Popen(
                [*self.prefix, PROGRAM, "-D", "-e", "-f", str(config)],
                stdin=subprocess.DEVNULL,
                stderr=log,
            )
        deadline = time.monotonic() + _START_S
        while not _listens(self.address, self.port):
            assert self._child.poll() is None, (self.folder / "sshd.log").read_text()
            assert time.monotonic() < deadline, "sshd does not listen"
            time.sleep(0.05)
        return self

    def stop(self):
        """Ends the server, and the lines that it serves."""
        if self._child is None:
            return
        for pid in _children(self._child.pid):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        self._child.kill()
        self._child.wait()
        self._child = None

    def end_lines(self):
        """Cuts every line, and goes on serving new ones."""
        for pid in _children(self._child.pid):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def __enter__(self):
        return self.start()

    def __exit__(self, *exception):
        self.stop()

    def _config(self):
        words = " ".join(f"{name}={value}" for name, value in self.variables.items())
        return "\n".join(
            [
                f"ListenAddress {self.address}",
                f"Port {self.port}",
                f"HostKey {self.folder}/host_key",
                f"AuthorizedKeysFile {self.folder}/authorized_keys",
                f"PidFile {self.folder}/sshd.pid",
                "UsePAM no",
                "PasswordAuthentication no",
                "KbdInteractiveAuthentication no",
                "PermitRootLogin prohibit-password",
                "StrictModes no",
                "LogLevel VERBOSE",
                f"AllowUsers {self.user}",
                # A home folder of its own; the shell reads the command as a login shell does.
                f'ForceCommand exec env {words} sh -c "$SSH_ORIGINAL_COMMAND"',
                "",
            ]
        )


def make_key(path):
    """An ed25519 key without a passphrase."""
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(path)]
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL)


def _free_port(address):
    with socket.socket() as sock:
        sock.bind((address, 0))
        return sock.getsockname()[1]


def _listens(address, port):
    try:
        socket.create_connection((address, port), 1).close()
    except OSError:
        return False
    return True


def _children(pid):
    """All processes below one, by their parents in /proc, but those in sessions of their own
    that no longer hang on it: trainers.
    """
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[1]) == pid:
                child = int(path.parent.name)
                found += [child, *_children(child)]
    return found


@pytest.fixture
def sshd(tmp_path):
    """A running private server, or a skipped test with the reason."""
    if reason := why_not():
        pytest.skip(reason)
    with Sshd(tmp_path / "sshd") as server:
        yield server
