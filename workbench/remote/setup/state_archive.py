"""A run's log and checkpoints as one file, for another computer that goes on with it."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from workbench.core.storage.foreign_file import open_foreign
from workbench.errors import SaveError, os_errors_as
from workbench.host.wire import CHUNK
from workbench.runs.folder import RunFolder
from workbench.runs.log.confusion_history import NAME as CONFUSIONS_NAME
from workbench.runs.model_card import CARD_NAME, WEIGHTS_NAME
from workbench.runs.store.provenance import ORIGIN_NAME
from workbench.runs.store.references import REFERENCES_NAME

_NAMES = (
    "events.jsonl",
    WEIGHTS_NAME,
    CARD_NAME,
    REFERENCES_NAME,
    CONFUSIONS_NAME,
    ORIGIN_NAME,
)
_DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class PackedState:
    """An archive while it is open."""

    file: IO[bytes]
    sha: str
    size: int


def piece_of(file: IO[bytes], offset: int) -> bytes:
    """The next bytes of a file from a place on."""
    file.seek(offset)
    return file.read(CHUNK)


@contextlib.contextmanager
def packed_state(run: RunFolder) -> Iterator[PackedState | None]:
    """The archive of a run that is not being written; None for one with an empty log.

    The same files give the same archive. It is on the disk while this is entered; SaveError.
    """
    if not run.events_path.exists() or not run.events_path.stat().st_size:
        yield None
        return
    with contextlib.ExitStack() as stack:
        what = "The checkpoints of the run cannot be packed for the other computer."
        with os_errors_as(SaveError, what, run.path, fix="Free some disk space."):
            packed = _pack(run, stack.enter_context(tempfile.TemporaryFile(dir=run.path)))
        yield packed


def _pack(run: RunFolder, file: IO[bytes]) -> PackedState:
    paths = [run.path / name for name in _NAMES] + sorted(run.checkpoints_path.glob("*.npz"))
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for path in paths:
            if path.is_file():
                _add(archive, path, path.relative_to(run.path).as_posix())
    size = file.seek(0, 2)
    file.seek(0)
    return PackedState(file, hashlib.file_digest(file, "sha256").hexdigest(), size)  # type: ignore[arg-type]


def _add(archive: zipfile.ZipFile, path: Path, name: str) -> None:
    info = zipfile.ZipInfo(name, _DATE)
    info.file_size = path.stat().st_size
    with archive.open(info, "w", force_zip64=True) as target, open_foreign(path) as source:
        while data := source.read(CHUNK):
            target.write(data)
