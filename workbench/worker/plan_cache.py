"""What was measured, kept for the next run of the same network on the same machine.

One small file for each network. It is a cache: lost or damaged, the ways are measured again.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from workbench.core.project import Project
from workbench.core.project_file import graph_to_plain
from workbench.core.save import save_with_folder
from workbench.errors import SaveError
from workbench.runs.home import cache_home
from workbench.targets.this_computer import cpu_flags, cpu_model, num_cores
from workbench.worker.precision import computes_bfloat16
from workbench.worker.versions import versions
from workbench.worker.ways import Timing, Way

_MOST_FILES = 500

_COUNTING = (
    "optimizer",
    "loss",
    "clip_norm",
    "ema_decay",
    "mixing",
    "weight_decay",
    "threads",
)
"""What of a recipe changes the time of a step; the batch is told apart, as it is run."""


class _Measured(msgspec.Struct, frozen=True):
    precision: str
    xla: bool
    step_s: float
    start_s: float


_decoder = msgspec.json.Decoder(list[_Measured])


def plan_key(project: Project, batch_size: int) -> str:
    """A name for everything that the time of a step depends on: graph, batch, recipe, machine,
    versions.
    """
    values: dict[str, Any] = {
        "graph": graph_to_plain(project.graph),
        "batch_size": batch_size,
        "recipe": {key: getattr(project.recipe, key) for key in _COUNTING},
        "target": [project.target.key, dict(project.target.params)],
        "machine": [platform.machine(), cpu_model(), num_cores(), sorted(cpu_flags())],
        "bfloat16": computes_bfloat16(),
        "versions": versions(),
    }
    return hashlib.sha256(msgspec.json.encode(values, order="sorted")).hexdigest()[:32]


def plans_home() -> Path:
    """The folder of the measurements."""
    return cache_home() / "plans"


def read_timings(key: str, home: Path | None = None) -> dict[Way, Timing]:
    """What was measured; {} where nothing was, or nothing that can be read."""
    path = (home or plans_home()) / f"{key}.json"
    try:
        rows = _decoder.decode(path.read_bytes())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return {Way(row.precision, row.xla): Timing(row.step_s, row.start_s) for row in rows}


def keep_timings(key: str, timings: Mapping[Way, Timing], home: Path | None = None) -> None:
    """Keeps measurements beside those of other ways of the same key; forgets the oldest files.

    A full disk is no reason to stop a training: then nothing is kept.
    """
    home = home or plans_home()
    together = {**read_timings(key, home), **timings}
    rows = [_Measured(way.precision, way.xla, t.step_s, t.start_s) for way, t in together.items()]
    try:
        save_with_folder(home / f"{key}.json", msgspec.json.encode(rows))
        _forget_oldest(home)
    except (OSError, SaveError):
        return


def _forget_oldest(home: Path) -> None:
    files = sorted(home.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files[_MOST_FILES:]:
        path.unlink(missing_ok=True)
