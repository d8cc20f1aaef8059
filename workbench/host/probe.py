"""The facts of this computer: queried before anything is set up, changes nothing."""

import json
import os
import platform
import shutil
from typing import Any, Dict, List, Sequence

from workbench.host import children, chips, state
from workbench.host.faults import Fault
from workbench.host.home import read_json
from workbench.host.memory import memory_limit
from workbench.host.request import Answer, HostRequest

PYTHONS = ("python3.11", "python3.12", "python3.13", "python3")
_SILENCE_S = 20.0

_QUESTION = """
import json, sys
try:
    import ensurepip, venv
    has_venv = True
except ImportError:
    has_venv = False
versions = {}
try:
    from importlib.metadata import version
except ImportError:
    version = None
for name in %r:
    try:
        versions[name] = version(name)
    except Exception:
        continue
print(json.dumps({"path": sys.executable, "version": list(sys.version_info[:3]),
                  "has_venv": has_venv, "versions": versions}))
"""

PACKAGES = (
    "tensorflow",
    "tensorflow-cpu",
    "tensorflow-tpu",
    "libtpu",
    "keras",
    "numpy",
    "msgspec",
    "pillow",
    "platformdirs",
    "PySide6",
)
"""Packages whose versions are reported, from their metadata: nothing is imported."""


def probe(request: HostRequest) -> Answer:
    """The facts as JSON in the answer's bytes. Request: python (one to use, or "")."""
    named = request.text("python")
    facts = {
        "system": platform.system(),
        "machine": platform.machine(),
        "release": platform.release(),
        "name": platform.node(),
        "user": _user(),
        "home": request.home.path,
        "cores": len(os.sched_getaffinity(0)),
        "memory_bytes": memory_limit(),
        "free_bytes": shutil.disk_usage(request.home.path).free,
        "pythons": pythons((named,) if named else PYTHONS),
        "environments": _environments(request),
        "chips": chips.chips(),
        "gpus": chips.gpus(),
        "cloud": chips.cloud(),
        "runs_alive": _runs_alive(request),
    }
    return {}, json.dumps(facts).encode("ascii")


def pythons(names: Sequence[str]) -> List[Dict[str, Any]]:
    """The interpreters of these names or paths, each once: path, version, versions."""
    found: Dict[str, Dict[str, Any]] = {}
    for name in names:
        path = shutil.which(name)
        if path is None:
            continue
        try:
            ended = children.run(
                [path, "-I", "-c", _QUESTION % (PACKAGES,)],
                dict(os.environ),
                silence_s=_SILENCE_S,
            )
            facts = json.loads(ended.lines[-1]) if ended.code == 0 and ended.lines else None
        except (Fault, ValueError):
            continue
        if isinstance(facts, dict):
            found.setdefault(os.path.realpath(facts["path"]), facts)
    return list(found.values())


def _environments(request: HostRequest) -> List[Dict[str, Any]]:
    parent = os.path.join(request.home.path, "environments")
    made = []
    for name in sorted(os.listdir(parent)):
        ready = read_json(os.path.join(parent, name, "ready.json"))
        if ready is not None:
            made.append(ready)
    return made


def _runs_alive(request: HostRequest) -> List[str]:
    names = sorted(os.listdir(request.home.runs))
    return [name for name in names if state.is_alive(os.path.join(request.home.runs, name))]


def _user() -> str:
    import pwd  # noqa: PLC0415 - not everywhere

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return str(os.getuid())
