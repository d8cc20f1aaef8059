"""The Python environment that trains here, made once from a lock file with checksums."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from typing import Any, Dict, Iterator, List, Optional

from workbench.host import children, probe, state
from workbench.host.faults import Fault, system_faults
from workbench.host.home import read_json, write_file, write_json
from workbench.host.request import Answer, HostRequest

SILENCE_S = 120.0
"""So long pip may neither say nor write anything."""

_WAIT_S = 1800.0
"""So long one waits for another connection that makes the same environment."""


def make(request: HostRequest) -> Answer:
    """Makes an environment, or finds it made.

    Request: name (for messages), sha (sha256 of the lock file), python (path); bytes: that file.
    Answer: python (of the environment), versions, is_new.
    """
    sha, python = request.text("sha"), request.text("python")
    folder = request.home.environment(sha)
    if hashlib.sha256(request.data).hexdigest() != sha:
        raise Fault("sum", "The package list does not match its checksum.", received=sha)
    with _alone(request, folder):
        ready = _ready(folder)
        is_new = ready is None
        if ready is None:
            ready = _build(request, folder, python, sha)
    return {"python": ready["python"], "versions": ready["versions"], "is_new": is_new}, b""


def _ready(folder: str) -> Optional[Dict[str, Any]]:
    ready = read_json(os.path.join(folder, "ready.json"))
    if ready is None or not os.access(str(ready.get("python")), os.X_OK):
        return None
    return ready


@contextlib.contextmanager
def _alone(request: HostRequest, folder: str) -> Iterator[None]:
    """Holds the making of an environment: another line may be at it."""
    path = folder + ".lock"
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + _WAIT_S
    try:
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise Fault(
                        "busy", "Another setup on that computer does not finish.", where=path
                    ) from None
                request.progress("Waiting for another setup of the same environment")
                time.sleep(2.0)
        yield
    finally:
        os.close(descriptor)


def _build(request: HostRequest, folder: str, python: str, sha: str) -> Dict[str, Any]:
    parent = os.path.dirname(folder)
    _sweep(parent)
    shutil.rmtree(folder, ignore_errors=True)
    with system_faults(parent):
        temporary = tempfile.mkdtemp(prefix=".new-" + sha[:16] + "-", dir=parent)
        os.mkdir(os.path.join(temporary, "tmp"))
    try:
        with system_faults(folder):
            lock = os.path.join(temporary, "requirements.lock")
            write_file(lock, request.data)
            _run(request, temporary, [python, "-I", "-m", "venv", temporary], "venv")
            own = os.path.join(temporary, "bin", "python")
            # Only whole wheels with the right checksums; nothing is built, no code of theirs runs.
            pip = [own, "-I", "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
            pip += ["--progress-bar", "off", "--only-binary", ":all:", "--require-hashes"]
            pip += ["-r", lock]
            _run(request, temporary, pip, "pip")
            shutil.rmtree(os.path.join(temporary, "tmp"), ignore_errors=True)
            found = probe.pythons((own,))
            if not found:
                what = "The environment was created, but its Python does not run."
                raise Fault("pip", what, where=own)
            ready = {
                "sha": sha,
                "name": request.text("name"),
                "python": os.path.join(folder, "bin", "python"),
                "version": found[0]["version"],
                "versions": found[0]["versions"],
            }
            write_json(os.path.join(temporary, "ready.json"), ready)
            os.rename(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return ready


def _sweep(parent: str) -> None:
    """Removes what a making that was killed left behind, where no lock says that it goes on."""
    for name in os.listdir(parent):
        if not name.startswith(".new-"):
            continue
        lock = os.path.join(parent, name[len(".new-") :][:16] + ".lock")
        if not state.is_held(lock):
            shutil.rmtree(os.path.join(parent, name), ignore_errors=True)


def _run(request: HostRequest, folder: str, argv: List[str], step: str) -> None:
    sizes = [0]

    def has_grown() -> bool:
        size = _bytes_in(folder)
        is_more, sizes[0] = size > sizes[0], max(size, sizes[0])
        if is_more:
            request.progress("%d MB so far" % (size // 1_000_000))
        return is_more

    variables = dict(os.environ, TMPDIR=os.path.join(folder, "tmp"))
    for name in ("PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_USER", "PIP_PREFIX"):
        variables.pop(name, None)
    ended = children.run(
        argv, variables, silence_s=SILENCE_S, on_line=request.progress, has_grown=has_grown
    )
    if ended.code:
        raise _failed(step, ended.lines, argv[0])


def _bytes_in(folder: str) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(parent, name)).st_size
    return total


def _failed(step: str, lines: List[str], python: str) -> Fault:
    text = "\n".join(lines[-30:])
    if step == "venv":
        name = os.path.basename(os.path.realpath(python))
        return Fault(
            "no_venv",
            "Python there cannot create environments.",
            where=python,
            received=text[-800:],
            fix="Install the venv package there: sudo apt-get install -y %s-venv" % name,
        )
    if "No space left" in text:
        return Fault(
            "disk_full",
            "The disk of the other computer is full.",
            where=python,
            fix="Free some space there (the environment needs up to 2.5 GB) and set it up again.",
        )
    return Fault(
        "pip",
        "The packages could not be installed on the other computer.",
        where=python,
        received=text[-1500:],
        fix="See the last lines of the output; fix the cause and set it up again.",
    )
