"""The pictures of a run as one file, made by a worker: a source may need Keras to load."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from workbench.errors import DatasetError, RunError
from workbench.processes.child import Child
from workbench.protocol.worker_command import worker_command, worker_environment
from workbench.runs.folder import RunFolder

Tell = Callable[[str, float], None]


@dataclass(frozen=True)
class Parcel:
    """A packed data set on this computer."""

    sha: str
    path: Path
    size: int


_made: dict[Path, Parcel] = {}
"""What this process has packed, by the run's folder: a line that is cut while they are sent asks
again, and packing may take longer than such a line stands."""


def make_parcel(run: RunFolder, tell: Tell) -> Parcel:
    """Packs what a run trains on, once in a process; the same pictures give the same file.

    Calls `tell` with words and a fraction (negative: unknown). Raises DatasetError where the
    pictures cannot be loaded, RunError where the worker ended without an answer.
    """
    known = _made.get(run.path)
    if known is not None and known.path.is_file():
        return known
    _made[run.path] = _packed(run, tell)
    return _made[run.path]


def _packed(run: RunFolder, tell: Tell) -> Parcel:
    progress = ("Loading the images", -1.0)
    with Child(
        worker_command("pack", str(run.path)),
        name="the worker that packs the images",
        environment=worker_environment(),
        order=b"",
        check=lambda: tell(*progress),  # again also while it is silent: it may be called off
    ) as child:
        for line in child.lines():
            said = msgspec.json.decode(line, type=dict[str, Any])
            if "error" in said:
                raise DatasetError(**said["error"])
            if "parcel" in said:
                return Parcel(said["parcel"], Path(said["path"]), said["bytes"])
            known = said.get("fraction")
            progress = said["progress"], -1.0 if known is None else known
            tell(*progress)
        death = child.death()
    raise RunError(
        "The images could not be packed for the other computer.",
        where=str(run.path),
        received=death.received or death.what,
    )
