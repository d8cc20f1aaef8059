"""A Python environment made from one of our lock files, exactly as the bridge makes it on another
computer: hash-checked, kept in the cache folder, made again only when the lock has changed.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from workbench.assets import environment_lock
from workbench.host.environment import make
from workbench.host.home import Home
from workbench.host.request import HostRequest
from workbench.runs.home import cache_home, made_cache

NO_WINDOW = ("pyside", "shiboken", "pyqt")
"""What no environment of a trainer may hold, as beginnings of names."""


def locked_python(name: str) -> tuple[Path, dict[str, str], bool]:
    """The interpreter of an environment, made if it is not there; its packages; is it new.

    Args:
        name: Of the lock file: "worker", "tpu" or "gpu".

    Raises:
        Fault: it cannot be made.
    """
    lock = environment_lock(name).read_bytes()
    home = Home(made_cache(cache_home() / "proofs"))
    home.make()
    request = {
        "name": name,
        "sha": hashlib.sha256(lock).hexdigest(),
        "python": str(Path(sys._base_executable).resolve()),
    }
    answer, _ = make(HostRequest(home, request, lock, lambda fields, data: _print_progress(fields)))
    python = Path(answer["python"])
    return python, installed(python), bool(answer["is_new"])


def _print_progress(fields: dict[str, object]) -> None:
    print(f"  {fields.get('progress')}", file=sys.stderr, flush=True)


def installed(python: Path) -> dict[str, str]:
    """Name -> version of all that an interpreter can import; it imports none of it."""
    code = (
        "from importlib import metadata\n"
        "for one in metadata.distributions(): print(one.metadata['Name'].lower().replace('_', '-'), one.version)"
    )
    answer = subprocess.run(
        [str(python), "-I", "-c", code], capture_output=True, text=True, check=True
    )
    return dict(line.split(" ", 1) for line in answer.stdout.splitlines())


def of_a_window(packages: dict[str, str]) -> list[str]:
    """Which of these are Qt's."""
    return sorted(name for name in packages if name.startswith(NO_WINDOW))
