"""Packs the images of a run for another computer: the source is loaded here, where it is.

`python -m workbench.worker pack RUN_FOLDER` prints one JSON object a line: {"progress",
"fraction"} now and then, in the end {"parcel": sha256, "path", "bytes"} or {"error": {...}}.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from typing import Any

import msgspec

from workbench.errors import WorkbenchError
from workbench.pictures.dataset_bundle import pack
from workbench.runs.folder import RunFolder
from workbench.runs.home import cache_home, made_cache
from workbench.worker.input.sources import load_data
from workbench.worker.process.lazy_keras import LazyKeras
from workbench.worker.process.run_channel import BaseLoadContext

KEPT_PARCELS = 8
"""Archives kept in the cache: the newest, so that the next run of the same images sends and
keeps none twice."""


def pack_run(folder: str, protocol: int) -> int:
    """Packs what the run in a folder trains on, with lines to the descriptor `protocol`; returns
    the exit code.
    """
    context = PackContext(protocol)
    try:
        project = RunFolder(Path(folder)).request().to_project()
        context.send(_pack(load_data(context, project), context))
    except WorkbenchError as error:
        context.send({"error": error.to_dict()})
        return error.exit_code
    return 0


def _pack(loaded: Any, context: PackContext) -> dict[str, Any]:
    parcels = Path(made_cache(cache_home() / "parcels"))
    temporary = parcels / f".new-{secrets.token_hex(8)}"
    try:
        sha = pack(loaded, temporary, context)
        path = parcels / f"{sha}.zip"
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    _forget_old(parcels)
    return {"parcel": sha, "path": str(path), "bytes": path.stat().st_size}


def _forget_old(parcels: Path) -> None:
    paths = sorted(parcels.glob("*.zip"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in paths[KEPT_PARCELS:]:
        with contextlib.suppress(OSError):
            path.unlink()


class PackContext(BaseLoadContext):
    """A LoadContext that prints progress as lines; to cancel, the parent ends this process."""

    def __init__(self, protocol: int) -> None:
        self._protocol = protocol

    def _report_progress(self, text: str, fraction: float | None) -> None:
        self.send({"progress": text, "fraction": fraction})

    def check_cancelled(self) -> None:
        """Does nothing: this process is canceled by a signal."""

    def keras(self) -> Any:
        """The keras module."""
        self.progress("Starting TensorFlow")
        return LazyKeras().keras()

    def send(self, value: dict[str, Any]) -> None:
        """Writes one line."""
        line = msgspec.json.encode(value) + b"\n"
        while line:
            line = line[os.write(self._protocol, line) :]
