"""What a run was computed on and from, in `origin.json`: machine and images. It is
kept after the checkpoints, which a completed run removes.
"""

from __future__ import annotations

import msgspec

from workbench.core.storage.json_file import read_json, save_json
from workbench.runs.folder import RunFolder
from workbench.runs.store.checkpoint import DataMark
from workbench.runs.store.machine import Machine

ORIGIN_NAME = "origin.json"


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Origin of a run's figures: what computed them last, and which images."""

    machine: Machine
    data: DataMark
    format: str = "workbench-origin"
    version: int = 1


def write_origin(run: RunFolder, machine: Machine, data: DataMark) -> None:
    """Keeps them; raises SaveError."""
    save_json(run.path / ORIGIN_NAME, Provenance(machine=machine, data=data))


def read_origin(run: RunFolder) -> Provenance | None:
    """What was kept; None where nothing was, or nothing that can be read."""
    return read_json(run.path / ORIGIN_NAME, Provenance)
