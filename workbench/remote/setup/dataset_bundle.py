"""The images of a run as one file, made by a worker: a source may need Keras to load."""

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

OnProgress = Callable[[str, float], None]


@dataclass(frozen=True)
class Parcel:
    """A packed data set on this computer."""

    sha: str
    path: Path
    size: int


_made: dict[Path, Parcel] = {}
"""What this process has packed, by the run's folder: after a lost connection it is
requested again, and packing may take longer than a connection lasts."""


def make_parcel(run: RunFolder, on_progress: OnProgress) -> Parcel:
    """Packs what a run trains on, once in a process; the same images give the same file.

    Calls `on_progress` with words and a fraction (negative: unknown). Raises DatasetError where
    the images cannot be loaded, RunError where the worker ended without an answer.
    """
    known = _made.get(run.path)
    if known is not None and known.path.is_file():
        return known
    _made[run.path] = _packed(run, on_progress)
    return _made[run.path]


def _packed(run: RunFolder, on_progress: OnProgress) -> Parcel:
    progress = ("Loading the images", -1.0)
    with Child(
        worker_command("pack", str(run.path)),
        name="the worker that packs the images",
        environment=worker_environment(),
        order=b"",
        check=lambda: on_progress(*progress),  # again also while it is silent: it may be called off
    ) as child:
        for line in child.lines():
            said = msgspec.json.decode(line, type=dict[str, Any])
            if "error" in said:
                raise DatasetError(**said["error"])
            if "parcel" in said:
                return Parcel(said["parcel"], Path(said["path"]), said["bytes"])
            known = said.get("fraction")
            progress = said["progress"], -1.0 if known is None else known
            on_progress(*progress)
        death = child.death()
    raise RunError(
        "The images could not be packed for the other computer.",
        where=str(run.path),
        received=death.received or death.what,
    )
