"""A result that is kept in the folder of a run: one JSON file, replaced as a whole.

The folder may come from elsewhere: nothing is written through a link, and what is read is of
limited size and checked before it is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from workbench.core.storage.foreign_file import open_foreign
from workbench.core.storage.json_file import DAMAGED, decode_json, encode_json, refuse_newer
from workbench.core.storage.own_file import refuse_link
from workbench.core.storage.save import save_bytes
from workbench.errors import RunFolderError, os_errors_as
from workbench.runs.folder import RunFolder
from workbench.runs.ownership import check_own

_MAX_COUNT = 2**53
"""Counts above are no whole numbers in JSON."""

_MAX_RECEIVED = 200
_END_OF_DATES = 253_402_214_400.0
"""The last day of the year 9999, in seconds since the epoch."""


class _Kept(Protocol):
    """What every kept value has.

    Attributes:
        created: Seconds since the epoch.
        version: Version of the format.
    """

    @property
    def created(self) -> float: ...

    @property
    def version(self) -> int: ...


K = TypeVar("K", bound=_Kept)


@dataclass(frozen=True)
class KeptFile(Generic[K]):
    """How one kind of result is kept.

    Attributes:
        name: The file's name.
        kind: The struct in it.
        version: The newest format that is understood.
        max_bytes: Size limit of the file.
        title: What it is, in messages: "evaluation".
        fix: How to make it again, a sentence.
    """

    name: str
    kind: type[K]
    version: int
    max_bytes: int
    title: str
    fix: str

    def write(self, run: RunFolder, kept: K) -> None:
        """Replaces what is kept.

        Raises:
            LinkFoundError: the folder, or the file, is a link.
            RunFolderError: it is no run folder, or the result is too large to be kept.
            SaveError: it cannot be written.
        """
        save_bytes(run.path / self.name, self.encoded(run, kept))

    def encoded(self, run: RunFolder, kept: K) -> bytes:
        """The bytes to be written, where they may be; raises as `write`."""
        if not run.request_path.is_file():
            raise RunFolderError("This is not a run folder.", where=str(run.path))
        check_own(run.path)
        refuse_link(run.path / self.name)
        data = encode_json(kept)
        if len(data) > self.max_bytes:
            raise RunFolderError(f"The {self.title} is too large to be kept.", where=str(run.path))
        return data

    def read(self, run: RunFolder, is_sound: Callable[[K], bool], received: str) -> K | None:
        """What is kept; None where nothing is.

        Args:
            run: The run.
            is_sound: Whether all of it can be shown.
            received: What a value that is not sound is called in the error.

        Raises:
            RunFolderError: the file is damaged, newer, or not sound.
        """
        path = run.path / self.name
        if not path.is_file():
            return None
        what = f"The kept {self.title} cannot be read."
        with os_errors_as(RunFolderError, what, path), open_foreign(path) as file:
            data = file.read(self.max_bytes + 1)
        try:
            kept: K = decode_json(data, self.kind)
        except DAMAGED as error:
            raise self.damaged(run, str(error)) from error
        what = f"The {self.title} was kept by a newer version of Workbench."
        refuse_newer(RunFolderError, what, path, kept.version, self.version)
        if len(data) > self.max_bytes or not is_date(kept.created) or not is_sound(kept):
            raise self.damaged(run, received)
        return kept

    def damaged(self, run: RunFolder, received: str) -> RunFolderError:
        """The error for a file with something else in it than a result of this kind."""
        return RunFolderError(
            f"The kept {self.title} is damaged.",
            where=str(run.path / self.name),
            received=received[:_MAX_RECEIVED],
            fix=self.fix,
        )


def is_share(value: float) -> bool:
    """Whether it is within 0..1, and a number."""
    return 0 <= value <= 1


def is_date(value: float) -> bool:
    """Whether it is a moment, in seconds since the epoch."""
    return 0 <= value < _END_OF_DATES


def is_count(value: int) -> bool:
    """Whether it can be a number of images, steps or epochs."""
    return 0 <= value <= _MAX_COUNT
