"""What is sent over the connection first: one constant command, then the bridge's sources as data.

Nothing that a person, a project or a file says is ever part of a command line: a shell on the
other computer always gets the same characters.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

import workbench.host

SOURCES = (
    "faults",
    "wire",
    "home",
    "request",
    "children",
    "state",
    "chips",
    "memory",
    "probe",
    "environment",
    "store",
    "run",
    "follow",
    "main",
)
"""The bridge's modules, each after those that it imports."""

BOOTSTRAP = (
    "import json,sys;r=sys.stdin.buffer;"
    "o=json.loads(r.read(int(r.readline())).decode());"
    'exec(compile(o["loader"],"loader","exec"),{"__name__":"__main__","order":o})'
)
"""Reads a length, then so many bytes of JSON. One line without single quotes, dollar signs,
backslashes and exclamation marks: every login shell passes it on as it is."""

COMMAND = f"exec python3 -I -u -c '{BOOTSTRAP}'"


@cache
def _sources() -> dict[str, object]:
    folder = Path(workbench.host.__file__).parent
    texts = [[name, (folder / f"{name}.py").read_text(encoding="utf-8")] for name in SOURCES]
    return {"loader": (folder / "loader.py").read_text(encoding="utf-8"), "sources": texts}


def opening(home: str) -> bytes:
    """What follows the command on its stdin; `home` is our folder there, e.g. "~/.workbench"."""
    order = msgspec.json.encode({**_sources(), "home": home})
    return b"%d\n" % len(order) + order
