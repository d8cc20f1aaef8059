"""Brings a run's files from where it is trained: checkpoints, weights and the files beside them.

Each file comes into a folder of its own, goes on where a lost connection has left it, is checked
against its checksums, and only then gets the name that others read. Nothing is unpacked or run.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from workbench.core.storage.own_file import make_own_folder, open_own, refuse_link, replace_own
from workbench.errors import ProjectFileError, RemoteError, RunFolderError, SaveError, WeightsError
from workbench.host.wire import CHUNK
from workbench.pictures.rows import SPARE_BYTES
from workbench.remote.ssh.connection import Answer
from workbench.runs.folder import RunFolder
from workbench.runs.log.append_file import writing
from workbench.runs.log.confusion_history import NAME as CONFUSIONS_NAME
from workbench.runs.model_card import CARD_NAME, WEIGHTS_NAME, decode_card
from workbench.runs.store.checkpoint import (
    ORIGIN_NAME,
    best_name,
    checkpoint_path,
    read_state,
    remove_checkpoints,
    remove_old_best,
)
from workbench.runs.store.image_features import MAX_FILE_BYTES, REFERENCES_NAME, references_path
from workbench.runs.store.weights_file import check_arrays, checkpoint_room

PARTS_NAME = "fetching"
_GENERATIONS = (1, 2)
_MAX_SMALL_BYTES = 512 * 1024**2
_MAX_TEXT_BYTES = 1024 * 1024
_TRIES = 3

Check = Callable[[Path], None]


class Line(Protocol):
    """What is needed of a connection."""

    def call(self, verb: str, data: bytes = b"", **fields: Any) -> Answer:
        """Sends a request and waits for the answer; raises RemoteError."""


@dataclass
class Fetching:
    """Brings files of one run, whose lock is this process's, by its name at the other end."""

    run: RunFolder
    line: Line
    name: str

    def __post_init__(self) -> None:
        self._parts = self.run.path / PARTS_NAME

    def state(self) -> None:
        """Fetches the checkpoints; one that names the weights of its best epoch comes after them.
        Raises RemoteError where the connection was lost or the file is not as promised, SaveError
        of this disk.
        """
        for generation in _GENERATIONS:
            path = checkpoint_path(self.run, generation)
            self._bring(f"checkpoints/{path.name}", path, self._check_generation, self._room())
        with contextlib.suppress(SaveError):  # it only uses disk space
            remove_old_best(self.run)

    def final_state(self) -> None:
        """Fetches the checkpoint of the end of a completed run, and no other; errors as `state`."""
        self.state()
        paths = [checkpoint_path(self.run, generation) for generation in _GENERATIONS]
        kept = [path for path in paths if self._is_there(f"checkpoints/{path.name}")]
        if not kept:
            remove_checkpoints(self.run)
            return
        for path in paths:
            if path not in kept:
                path.unlink(missing_ok=True)
        with contextlib.suppress(SaveError):
            remove_old_best(self.run)

    def _is_there(self, name: str) -> bool:
        return self.line.call("stat", run=self.name, name=name).flag("is_there")

    def model(self) -> None:
        """Fetches the weights, then the card that belongs to them; errors as `state`."""
        for _ in range(_TRIES):
            self._bring(WEIGHTS_NAME, self.run.weights_path, check_arrays, self._room())
            # A missing or damaged one is no reason to have no model.
            self._bring(REFERENCES_NAME, references_path(self.run), limit=MAX_FILE_BYTES)
            with contextlib.suppress(_OtherWeightsError):  # others came in between
                self._bring(CARD_NAME, self.run.card_path, self._check_card, _MAX_SMALL_BYTES)
                return

    def small(self) -> None:
        """Fetches what is kept of each epoch, and its provenance; errors as `state`."""
        for name in (CONFUSIONS_NAME, ORIGIN_NAME):
            self._bring(name, self.run.path / name, limit=_MAX_SMALL_BYTES)

    def words(self) -> None:
        """Fetches the last of what the trainer printed, and the stack of its crash; as `state`."""
        for path in (self.run.log_path, self.run.crash_path):
            facts = self.line.call("stat", run=self.name, name=path.name)
            if facts.flag("is_there"):
                start = max(0, facts.number("size") - _MAX_TEXT_BYTES)
                data = b"".join(self._pieces(path.name, start, facts))
                with writing(path):
                    replace_own(path, data)

    def close(self) -> None:
        """All is here: removes what parts of files were left."""
        shutil.rmtree(self._parts, ignore_errors=True)

    def _bring(
        self, name: str, path: Path, check: Check | None = None, limit: int = _MAX_SMALL_BYTES
    ) -> None:
        """Fetches one file, unless it is here already."""
        facts = self.line.call("stat", run=self.name, name=name)
        size, digest = facts.number("size"), facts.text("sha256")
        if not facts.flag("is_there") or _is_here(path, size, digest):
            return
        if size > limit:
            raise _too_large(name, size, limit)
        if not (len(digest) == 64 and digest.isalnum()):
            raise _not_as_promised(name, f"{size:,} bytes, sha256 {digest[:80]}")
        part = self._part(name, digest)
        try:
            self._check_room(part, name, size)
            self._fill(part, name, facts)
        except SaveError:
            part.unlink(missing_ok=True)  # of no use on a full disk, and in the way there
            raise
        if _digest_of(part) != digest:
            part.unlink(missing_ok=True)
            raise _not_as_promised(name, "content that does not match its checksum")
        try:
            with writing(path):
                if check is not None:
                    check(part)
                refuse_link(path)
                if path.parent != self.run.path:
                    make_own_folder(path.parent)
                part.replace(path)
        except (WeightsError, RunFolderError) as error:
            part.unlink(missing_ok=True)
            raise _not_as_promised(name, error.received or error.what) from error

    def _part(self, name: str, digest: str) -> Path:
        """Path of a file being fetched; what is left of older ones of its name is removed."""
        stem = name.replace("/", "-")
        part = self._parts / f"{stem}.{digest}"
        with writing(self._parts):
            make_own_folder(self._parts)
            for old in self._parts.glob(f"{stem}.*"):
                if old != part:
                    old.unlink(missing_ok=True)
        return part

    def _check_room(self, part: Path, name: str, size: int) -> None:
        """Raises SaveError where this disk would be filled."""
        with writing(part):
            free = shutil.disk_usage(self._parts).free
            needed = size - (part.stat().st_size if part.exists() else 0)
        if needed + SPARE_BYTES > free:
            raise SaveError(
                "Not enough disk space for a file of the run.",
                where=str(self.run.path),
                received=f"{name}: {needed:,} bytes; there are {free:,}",
                expected=f"{SPARE_BYTES:,} bytes left",
                fix="Free some disk space. If the network is not that large, the other computer is "
                "not to be trusted: stop the run.",
            )

    def _fill(self, part: Path, name: str, facts: Answer) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        with writing(part), os.fdopen(open_own(part, flags), "ab") as file:
            for data in self._pieces(name, file.tell(), facts):
                file.write(data)
                file.flush()
            os.fsync(file.fileno())

    def _pieces(self, name: str, offset: int, facts: Answer) -> Any:
        while offset < facts.number("size"):
            limit = min(CHUNK, facts.number("size") - offset)
            data = self.line.call("read", run=self.name, name=name, offset=offset, limit=limit).data
            if not data or len(data) > limit:
                raise _not_as_promised(name, f"{len(data):,} bytes at {offset:,}")
            offset += len(data)
            yield data

    def _room(self) -> int:
        """The most bytes that arrays of this run can have, by the network that was sent there."""
        try:
            return checkpoint_room(self.run)
        except (RunFolderError, ProjectFileError) as error:
            raise RemoteError(
                "The run's own request cannot be read, so that what arrives cannot be judged.",
                key="request",
                where=str(self.run.request_path),
                received=error.received or error.what,
                fix="Restore the run folder from a copy.",
            ) from error

    def _check_generation(self, part: Path) -> None:
        check_arrays(part)
        state = read_state(part)
        if state is None:
            raise WeightsError("The checkpoint is damaged.", received="no state")
        if state.best_file and state.best is not None:
            # By its number: a name from elsewhere is no path here.
            best = best_name(state.best.epoch)
            self._bring(
                f"checkpoints/{best}", self.run.checkpoints_path / best, check_arrays, self._room()
            )

    def _check_card(self, part: Path) -> None:
        card = decode_card(part.read_bytes(), str(part))
        if not card.checksum:
            return  # it belongs to whatever weights are beside it
        try:
            check_arrays(self.run.weights_path, checksum=card.checksum)
        except WeightsError as error:
            raise _OtherWeightsError from error


class _OtherWeightsError(Exception):
    """The card is not of the weights that are here: new ones came in between."""


def _is_here(path: Path, size: int, digest: str) -> bool:
    try:
        return path.stat().st_size == size and _digest_of(path) == digest
    except OSError:
        return False


def _digest_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _too_large(name: str, size: int, limit: int) -> RemoteError:
    return RemoteError(
        "A file of the run on the other computer is too large.",
        key="file_size",
        where=name,
        received=f"{size:,} bytes",
        expected=f"at most {limit:,} bytes, by the network that is trained",
        fix="It is not downloaded. The other computer is not to be trusted: stop the run.",
    )


def _not_as_promised(name: str, received: str) -> RemoteError:
    return RemoteError(
        "A file of the run arrived damaged.",
        key="file",
        is_passing=True,
        where=name,
        received=received,
        fix="It is downloaded again.",
    )
