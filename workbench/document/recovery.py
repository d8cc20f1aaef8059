"""What is left of unsaved work after a crash. Qt-free.

Each window has a slot: a lock file that it holds as long as it is open, and a snapshot beside
it. A snapshot whose lock is free belongs to a window that crashed: it is offered.
Taking an offer renames its snapshot into the own slot, so that only one window gets it, and
a crash while recovering leaves it to be offered again.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import time
from dataclasses import dataclass, replace
from pathlib import Path

from workbench.core.format import local_time, plural
from workbench.core.projects.project import Project
from workbench.core.projects.project_file import PROJECT_SUFFIX, parse_project, project_text
from workbench.core.storage.foreign_file import open_foreign
from workbench.core.storage.json_file import MAX_CHARACTERS
from workbench.core.storage.own_file import (
    is_locked,
    lock_descriptor,
    make_own_folder,
    make_private,
    refuse_link,
)
from workbench.core.storage.save import path_key, save_bytes, sweep_leftovers
from workbench.errors import InputError, LinkFoundError, ProjectFileError, SaveError

# open marks ----------------------------------------------------------------------------------
# Marks by which windows of this user know who has a project file open. Qt-free.
#
# Each window holds the lock of a small file named after the project's path. The kernel drops the
# lock with the window, so that a mark of a killed window counts no more; it is removed when seen.

_ENDING = ".open"


class OpenMarks:
    """The mark of one window, and a look at those of the others.

    Args:
        folder: Shared by all windows of this user. One that cannot be used only means that
            windows do not see each other.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._token = secrets.token_hex(8)
        self._mark: Path | None = None
        self._lock = -1

    def hold(self, path: Path) -> None:
        """Marks a project as open here, and no other one."""
        self.release()
        mark = self._folder / f"{path_key(path)}.{self._token}{_ENDING}"
        with contextlib.suppress(OSError):
            make_private(self._folder)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            self._lock, self._mark = os.open(mark, flags, 0o600), mark
            lock_descriptor(self._lock)

    def release(self) -> None:
        """Takes this window's mark back."""
        if self._mark is not None:
            with contextlib.suppress(OSError):
                self._mark.unlink()
            os.close(self._lock)
            self._mark, self._lock = None, -1

    def is_held_elsewhere(self, path: Path) -> bool:
        """Whether another window has a project open."""
        marks = [mark for mark in self._marks() if mark != self._mark]
        held = [mark for mark in marks if _is_held(mark)]
        for mark in set(marks) - set(held):
            with contextlib.suppress(OSError):
                mark.unlink()
        return any(mark.name.startswith(f"{path_key(path)}.") for mark in held)

    def _marks(self) -> list[Path]:
        try:
            return [path for path in self._folder.iterdir() if path.suffix == _ENDING]
        except OSError:
            return []


def _is_held(mark: Path) -> bool:
    """Without an answer it counts as held: a mark is not removed unseen."""
    try:
        return is_locked(mark)
    except OSError:
        return True


# recovery ------------------------------------------------------------------------------------

_SNAPSHOT = re.compile(r"[0-9a-f]{16}\.workbench")
_DISCARDED = "discarded"
_KEPT_S = 30 * 24 * 3600.0
_FIELD = "recovery"


@dataclass(frozen=True)
class RecoveryOffer:
    """Unsaved work of a window that crashed.

    Attributes:
        snapshot: Its file.
        project: The project as it was at most two seconds before; None where the snapshot
            is damaged, `problem` gives the reason.
        original: The file it had been opened from or saved to, if any.
        saved_at: When the snapshot was written, in seconds since the epoch.
        num_edits: Edits since the last save.
        is_original_newer: The file was changed after the snapshot.
    """

    snapshot: Path
    project: Project | None
    original: Path | None
    saved_at: float
    num_edits: int
    is_original_newer: bool
    problem: str = ""

    @property
    def title(self) -> str:
        """The name shown to people."""
        if self.original is not None:
            return self.original.name
        return (self.project.title if self.project else "") or "untitled"

    def sentence(self) -> str:
        """The offer in words."""
        then = local_time(self.saved_at)
        when = "an unknown time" if then is None else then.strftime("%d %B, %H:%M")
        if self.project is None:
            return f"Unsaved changes of {when} are damaged: {self.problem}"
        edits = plural(self.num_edits, "edit")
        newer = " The file itself has changed since." if self.is_original_newer else ""
        return f"{self.title}: {edits} not saved, {when}.{newer}"


class RecoverySlot:
    """One window's place in the recovery folder, kept by a lock until `close`."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self.snapshot = self._folder / f"{secrets.token_hex(8)}{PROJECT_SUFFIX}"
        self._lock_path = _lock_path(self.snapshot)
        self._lock = -1
        self._problem = ""
        try:
            self._open()
        except OSError as error:  # the window goes on without a slot; `save` reports why
            self._problem = error.strerror or str(error)
        except LinkFoundError as error:
            self._problem = error.received

    def _open(self) -> None:
        make_own_folder(self._folder, parents=True)
        sweep_leftovers(self._folder)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self._lock = os.open(self._lock_path, flags, 0o600)
        lock_descriptor(self._lock)

    def save(self, project: Project, original: Path | None, num_edits: int) -> None:
        """Writes the snapshot; raises SaveError."""
        if self._problem:
            raise SaveError(
                f"the recovery folder cannot be used ({self._problem}).",
                where=str(self._folder),
                fix="Save your work regularly.",
            )
        words = {
            "original": str(original) if original else "",
            "saved_at": time.time(),
            "num_edits": num_edits,
        }
        whole = replace(project, extra={**project.extra, _FIELD: words})
        save_bytes(self.snapshot, project_text(whole).encode("utf-8", errors="replace"))

    def take(self, offer: RecoveryOffer) -> Project:
        """Makes an offer this window's own and returns its project.

        Raises:
            InputError: another window has taken it, or it is damaged.
        """
        if offer.project is None:
            raise InputError("These changes cannot be recovered.", received=offer.problem)
        try:
            offer.snapshot.rename(self.snapshot)
        except OSError as error:
            raise InputError(
                "These changes were recovered in another window.", where=str(offer.snapshot)
            ) from error
        _remove(_lock_path(offer.snapshot))
        return offer.project

    def clear(self) -> None:
        """Removes the snapshot: its work is saved."""
        _remove(self.snapshot)

    def discard(self) -> None:
        """Puts the snapshot away for 30 days: its work was given up."""
        _put_away(self.snapshot)

    def close(self) -> None:
        """Gives the slot back; a snapshot that is still there would be offered."""
        if self._lock >= 0:
            _remove(self._lock_path)
            os.close(self._lock)
            self._lock = -1


def find_offers(folder: str | Path) -> list[RecoveryOffer]:
    """Unsaved work of windows that crashed, the latest first."""
    folder = Path(folder)
    _forget_old(folder / _DISCARDED)
    paths = [path for path in _list(folder) if _SNAPSHOT.fullmatch(path.name)]
    offers = [_read(path) for path in paths if _is_free(_lock_path(path))]
    return sorted(offers, key=lambda offer: offer.saved_at, reverse=True)


def discard_offer(offer: RecoveryOffer) -> None:
    """Puts an offer away; it is kept for 30 days in the folder "discarded"."""
    _put_away(offer.snapshot)
    _remove(_lock_path(offer.snapshot))


def _read(path: Path) -> RecoveryOffer:
    saved_at = _changed_at(path)
    try:
        whole = parse_project(_text(path), path.name)
    except (ProjectFileError, OSError) as error:
        return RecoveryOffer(
            path, None, None, saved_at, 0, is_original_newer=False, problem=str(error)
        )
    words = whole.extra.get(_FIELD)
    words = words if isinstance(words, dict) else {}
    extra = {key: value for key, value in whole.extra.items() if key != _FIELD}
    name, num_edits = words.get("original"), words.get("num_edits")
    original = Path(name) if isinstance(name, str) and name else None
    return RecoveryOffer(
        snapshot=path,
        project=replace(whole, extra=extra),
        original=original,
        saved_at=saved_at,
        num_edits=num_edits if isinstance(num_edits, int) else 0,
        is_original_newer=original is not None and _changed_at(original) > saved_at,
    )


def _text(path: Path) -> str:
    with open_foreign(path) as file:
        return file.read(MAX_CHARACTERS + 1).decode("utf-8", "replace")


def _is_free(lock_path: Path) -> bool:
    """True when no open window holds the lock."""
    try:
        return not is_locked(lock_path)
    except FileNotFoundError:
        return True
    except OSError:
        return False


def _lock_path(snapshot: Path) -> Path:
    return snapshot.with_suffix(".lock")


def _put_away(path: Path) -> None:
    folder = path.parent / _DISCARDED
    with contextlib.suppress(OSError, LinkFoundError):
        refuse_link(path.parent)
        make_own_folder(folder)
        path.rename(folder / f"{path.stem}-{time.time_ns()}{path.suffix}")


def _forget_old(folder: Path) -> None:
    for path in _list(folder):
        if path.suffix == PROJECT_SUFFIX and time.time() - _changed_at(path) > _KEPT_S:
            _remove(path)


def _list(folder: Path) -> list[Path]:
    if folder.is_symlink():
        return []
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except (OSError, ValueError):
        return 0.0


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
