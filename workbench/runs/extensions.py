"""More epochs than a run's request plans: `extensions.json`, one entry each time it was extended.

An entry is in force once the trainer that was started for it holds the run's lock or has logged
something: one that never began changes nothing.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from workbench.core.storage.json_file import read_json, save_json
from workbench.protocol.bases import Whole

NAME = "extensions.json"


class Extension(msgspec.Struct, frozen=True, kw_only=True):
    """One time that a run was extended.

    Attributes:
        after: Epochs that were done.
        before: All epochs that were planned until then.
        epochs: All epochs planned from then on.
        restarts_patience: Early stopping had ended it; its patience is counted from there.
        log_bytes: Size of the event log at that time; set by `RunFolder.extend`.
    """

    after: Whole
    before: Whole
    epochs: Whole
    restarts_patience: bool = False
    log_bytes: Whole = 0


class Extensions(msgspec.Struct, frozen=True, kw_only=True):
    """What the file holds, oldest first."""

    entries: list[Extension] = []
    format: str = "workbench-extensions"
    version: Whole = 1

    @property
    def epochs(self) -> int:
        """All epochs planned now; 0 for those of the request."""
        return self.entries[-1].epochs if self.entries else 0

    @property
    def patience_from(self) -> int:
        """The epoch from which the patience of early stopping is counted, 0 for the best one."""
        return max((one.after for one in self.entries if one.restarts_patience), default=0)


def has_extensions(folder: Path) -> bool:
    """Whether a run was ever extended. Cheap: one look at a file."""
    return (folder / NAME).exists()


def read_extensions(folder: Path, *, log_bytes: int, is_alive: bool) -> Extensions:
    """The entries that are in force, of a run whose event log has this size now."""
    found = read_json(folder / NAME, Extensions) or Extensions()
    if is_alive:
        return found
    return Extensions(entries=[one for one in found.entries if one.log_bytes < log_bytes])


def write_extensions(folder: Path, extensions: Extensions) -> None:
    """Replaces the file; raises SaveError."""
    save_json(folder / NAME, extensions)
