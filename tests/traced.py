"""A command under strace: what it sends, and which files it makes outside of its own folders.

`python -m tests.traced SECONDS MODULE_OR_FILE WORDS...` runs a program and lets its process live at
least that long, as telemetry is sent some time after it has been started.
"""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

CALLS = "connect,sendto,sendmsg,sendmmsg,openat,creat,mkdir,mkdirat,rename,renameat,renameat2"

_SENDS = re.compile(r"(connect|sendto|sendmsg|sendmmsg)\(.*AF_INET")
_RESOLVER = re.compile(r'connect\(.*"/run/(systemd/resolve|dbus)')
_ROUTE_ONLY = re.compile(r'inet_addr\("192\.0\.2\.1"\)|inet_pton\(AF_INET6, "2001:db8::1"')
"""The kernel is asked for a route, nothing is sent: `workbench.downloads.download`."""

_MADE = re.compile(
    r"(?:openat|mkdirat)\((?P<at>[^,]*), \"(?P<name>[^\"]*)\"(?P<rest>.*)\) += (?P<done>\d+)"
    r"|(?:creat|mkdir)\(\"(?P<plain>[^\"]*)\".*\) += \d+"
    r"|rename\w*\(.*\"(?P<new>[^\"]*)\"[^\"]*\) += 0"
)
_PLACE = re.compile(r"<(.*)>")


@dataclass(frozen=True)
class Trace:
    """What a command did.

    Attributes:
        code: Its exit code.
        said: What it printed last.
        sent: Calls that reach the network.
        made: Files and folders made outside of the allowed folders.
        num_calls: How many were seen in all; 0 where the trace shows nothing.
    """

    code: int
    said: str
    sent: tuple[str, ...]
    made: tuple[str, ...]
    num_calls: int


@dataclass(frozen=True)
class Sandbox:
    """A computer of its own for a command: home, temporary folder, Workbench's folder, and where it
    works and is told to write.
    """

    root: Path

    def __post_init__(self) -> None:
        for name in ("home", "tmp", "ours", "work"):
            (self.root / name).mkdir(parents=True, exist_ok=True)

    @property
    def work(self) -> Path:
        """The folder in which commands run."""
        return self.root / "work"

    def environment(self, **more: str) -> dict[str, str]:
        """The variables of its commands."""
        home = self.root / "home"
        left = {key: value for key, value in os.environ.items() if not key.startswith("ORT_")}
        return {
            **left,
            "HOME": str(home),
            "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_DATA_HOME": str(home / ".local" / "share"),
            "XDG_CACHE_HOME": str(home / ".cache"),
            "XDG_STATE_HOME": str(home / ".local" / "state"),
            "TMPDIR": str(self.root / "tmp"),
            "WORKBENCH_HOME": str(self.root / "ours"),
            "QT_QPA_PLATFORM": "offscreen",
            "PYTHONDONTWRITEBYTECODE": "1",
            **more,
            "PYTHONPATH": os.pathsep.join([*filter(None, [more.get("PYTHONPATH")]), str(_TOP)]),
        }

    def traced(
        self,
        seconds: float,
        *words: str,
        allowed: Sequence[str] = (),
        longest_s: float | None = None,
        **more: str,
    ) -> Trace:
        """Runs a module or file with its words, for at least some seconds.

        Args:
            seconds: How long the process lives.
            words: Module or file of Python, and what follows it.
            allowed: Patterns (of `re`) of further paths, below the sandbox, that may be made.
            longest_s: How long before it is killed; None for as long as it takes.
            more: Environment variables.
        """
        log = self.root / f"trace-{threading.get_ident()}-{time.monotonic_ns()}"
        limit = [] if longest_s is None else ["timeout", "-s", "KILL", f"{longest_s:g}"]
        command = [*limit, sys.executable, "-m", "tests.traced", str(seconds), *words]
        strace = ["strace", "-f", "--seccomp-bpf", "-y", "-qq", "-s", "300", "-e", f"trace={CALLS}"]
        strace += ["-o", str(log)]
        done = subprocess.run(
            [*strace, *command], cwd=self.work, env=self.environment(**more),
            capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        lines = log.read_text(errors="replace").splitlines()
        log.unlink()
        ours = [re.escape(str(self.root / name)) + "(/.*)?" for name in ("ours", "work")]
        others = [re.escape(str(self.root)) + "/" + pattern for pattern in allowed]
        may = re.compile("|".join([*ours, *others, "/dev/.*", "/proc/.*"]))
        made = {path for path in _made(lines, self.work) if not may.fullmatch(path)}
        sent = [line for line in lines if _SENDS.search(line) or _RESOLVER.search(line)]
        sent = [line for line in sent if not _ROUTE_ONLY.search(line)]
        said = (done.stdout + done.stderr)[-2000:]
        return Trace(done.returncode, said, tuple(sent), tuple(sorted(made)), len(lines))


_TOP = Path(__file__).resolve().parents[1]


def can_trace() -> bool:
    """Whether strace is installed."""
    return shutil.which("strace") is not None


def _made(lines: Sequence[str], folder: Path) -> Iterator[str]:
    for line in lines:
        found = _MADE.search(line)
        if found is None:
            continue
        name = found["plain"] or found["new"] or found["name"] or ""
        is_open = "openat(" in line
        if is_open and "O_CREAT" not in (found["rest"] or "") and "O_TMPFILE" not in line:
            continue
        place = _PLACE.search(found["at"] or "")
        yield os.path.normpath(Path(place[1] if place else folder) / name)


def main(words: Sequence[str]) -> None:
    """Runs what the words say; ends as it does, but not sooner than that."""
    until, end = time.monotonic() + float(words[0]), os._exit

    def late(code: int) -> NoReturn:
        time.sleep(max(0.0, until - time.monotonic()))
        end(code)

    os._exit = late  # type: ignore[assignment]
    sys.argv = list(words[1:])
    try:
        if Path(words[1]).is_file():
            runpy.run_path(words[1], run_name="__main__")
        else:
            runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    finally:
        time.sleep(max(0.0, until - time.monotonic()))


if __name__ == "__main__":
    main(sys.argv[1:])
