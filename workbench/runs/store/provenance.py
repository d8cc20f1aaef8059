"""What a run was computed on and from, in `origin.json`: machine and pictures. It outlives
the checkpoints, which a completed run does not keep.
"""

from __future__ import annotations

import msgspec

from workbench.core.storage.save import save_bytes
from workbench.runs.folder import RunFolder
from workbench.runs.store.checkpoint import DataMark
from workbench.runs.store.machine import Machine

ORIGIN_NAME = "origin.json"


class Provenance(msgspec.Struct, frozen=True, kw_only=True):
    """Where a run's figures come from.

    Attributes:
        machine: What computed them last.
        data: Which pictures.
    """

    machine: Machine
    data: DataMark
    format: str = "workbench-origin"
    version: int = 1


def write_origin(run: RunFolder, machine: Machine, data: DataMark) -> None:
    """Keeps them; raises SaveError."""
    origin = Provenance(machine=machine, data=data)
    save_bytes(run.path / ORIGIN_NAME, msgspec.json.format(msgspec.json.encode(origin), indent=1))


def read_origin(run: RunFolder) -> Provenance | None:
    """What was kept; None where nothing was, or nothing that can be read."""
    try:
        return msgspec.json.decode((run.path / ORIGIN_NAME).read_bytes(), type=Provenance)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
