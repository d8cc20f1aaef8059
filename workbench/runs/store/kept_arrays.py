"""Arrays that are kept in the folder of a run: of limited size, for it may come from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.errors import RunFolderError, WeightsError
from workbench.runs.store.weights_file import Arrays, read_arrays

_MAX_RECEIVED = 200


@dataclass(frozen=True)
class KeptArrays:
    """How one kind of arrays is kept, in a file of weights_file.py.

    Attributes:
        max_bytes: Size limit of the file.
        damage: That it is damaged, a sentence.
        fix: How to make it again, a sentence.
    """

    max_bytes: int
    damage: str
    fix: str

    def read(self, path: Path) -> Arrays | None:
        """What is kept; None where nothing is. Raises RunFolderError where it is damaged."""
        if not path.is_file():
            return None
        try:
            return read_arrays(path, max_bytes=self.max_bytes)
        except WeightsError as error:
            raise self.damaged(path, error.received) from error

    def damaged(self, path: Path, received: str) -> RunFolderError:
        """The error for a file with something else in it."""
        return RunFolderError(
            self.damage, where=str(path), received=received[:_MAX_RECEIVED], fix=self.fix
        )
