"""Archives of class folders: unpacked once into the cache, by their content.

An archive is foreign: a child process reads it (`reader`), and here is decided what
becomes a file. Only pictures do, under names without "..", in a new folder that gets its name
when it is complete. No links, no modes, no owners, no times.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from workbench.core.format import plural
from workbench.core.specs import LoadContext, LoadedData
from workbench.core.storage.own_file import make_own_folder, refuse_link, replace_own
from workbench.datasets._archives import reader
from workbench.datasets._class_parts import load_class_folders
from workbench.errors import ChildDiedError, DatasetError, DeadlineError
from workbench.pictures.decode import MAX_FILE_BYTES
from workbench.pictures.folders import ENDINGS, is_hidden
from workbench.pictures.signatures import DECODED, HEAD_BYTES, sniff
from workbench.pictures.store import LEFTOVER_AGE_S, SPARE_BYTES, remove_leftovers
from workbench.processes.child import Child, end_words

Kind = Literal["zip", "tar"]

MAX_FILES = 1_000_000
MAX_BYTES = 200 * 10**9
_RATIO = 200
"""Pictures hardly shrink when they are packed; drawings shrink to a hundredth."""

_SLACK_BYTES = 256 * 2**20  # that a small archive may unpack to, whatever the ratio
_SLACK_FILES = 10_000
_BYTES_PER_FILE = 32  # a picture takes more even when it is packed
_MEMORY_BYTES = 2 << 30
_FRAME_LIMIT = 4 << 20
_DEADLINE_S = 60.0  # between two pieces
_CHECK_EVERY_BYTES = 32 * 2**20
_MAX_DEPTH = 50
_MAX_NAME_BYTES = 255

KEEP_ENTRIES = 6
"""Unpacked archives kept; the longest unused go first, but none used within a day."""

_LAYOUT = 1
_TEMPORARY = ".unpacking-"
_FACTS = "facts.json"
_FILES = "files"
_DRIVE = re.compile(r"[A-Za-z]:[/\\]")


def load_archive(ctx: LoadContext, path: Path, kind: Kind) -> LoadedData:
    """The class folders of an archive, unpacked in the cache.

    Raises:
        DatasetError: it is damaged or harmful, has no classes, or the disk is full.
    """
    folder, facts = _entry(ctx, path, kind)
    loaded = load_class_folders(ctx, folder, str(path))
    bad = tuple((f"{path}: {name}", reason) for name, reason in facts["bad_files"])
    return replace(
        loaded,
        bad_files=(*bad, *loaded.bad_files),
        notes=(*facts["notes"], *loaded.notes),
    )


def _entry(ctx: LoadContext, path: Path, kind: Kind) -> tuple[Path, Mapping[str, Any]]:
    """The folder with the unpacked pictures, and what is known about them."""
    archives = Path(ctx.cache_folder) / "archives"
    try:
        make_own_folder(archives, parents=True)
        entry = archives / f"{_identity(ctx, path, archives)[:40]}-{_LAYOUT}"
        facts = _read_facts(entry)
        if facts is None:
            refuse_link(entry)
            facts = _make(ctx, path, kind, entry)
            _forget(archives, entry)
        os.utime(entry, follow_symlinks=False)  # used just now
    except OSError as error:
        raise DatasetError(
            f"The images could not be unpacked: {error.strerror or error}.",
            where=str(path),
            fix="Free some space, or set WORKBENCH_HOME to a folder on another disk.",
        ) from error
    return entry / _FILES, facts


def _identity(ctx: LoadContext, path: Path, archives: Path) -> str:
    """The sha256 of an archive; it is kept by path, size and time of change."""
    path = path.resolve()
    status = path.stat()
    place = hashlib.sha256(str(path).encode(errors="surrogateescape")).hexdigest()[:24]
    known = archives / f"known-{place}.json"
    stamp = [status.st_size, status.st_mtime_ns, status.st_ino]
    try:
        kept = json.loads(known.read_text(encoding="ascii"))
        if kept["stamp"] == stamp and re.fullmatch("[0-9a-f]{64}", kept["sha256"]):
            return str(kept["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # not known yet, or damaged: it is read again
    digest, done = hashlib.sha256(), 0
    with path.open("rb") as file:
        while piece := file.read(1 << 22):
            ctx.check_cancelled()
            done += len(piece)
            ctx.progress(f"Reading {path.name}", min(1.0, done / max(1, status.st_size)))
            digest.update(piece)
    value = {"stamp": stamp, "sha256": digest.hexdigest()}
    replace_own(known, json.dumps(value).encode("ascii"))
    return digest.hexdigest()


def _read_facts(entry: Path) -> Mapping[str, Any] | None:
    """What is known about a complete entry; None where there is none, or something of it has
    gone.
    """
    try:
        facts = json.loads((entry / _FACTS).read_text(encoding="utf-8"))
        is_whole = list(_size_of(str(entry / _FILES))) == [facts["files"], facts["bytes"]]
    except FileNotFoundError:
        is_whole = False
    except (OSError, ValueError, KeyError, TypeError):
        is_whole = False
    if not is_whole:
        shutil.rmtree(entry, ignore_errors=True)
        return None
    return facts if isinstance(facts, dict) else None


def _size_of(folder: str) -> tuple[int, int]:
    """Files and bytes in a folder and those inside."""
    files = size = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                inner = _size_of(entry.path)
                files, size = files + inner[0], size + inner[1]
            else:
                files, size = files + 1, size + entry.stat(follow_symlinks=False).st_size
    return files, size


def _make(ctx: LoadContext, path: Path, kind: Kind, entry: Path) -> Mapping[str, Any]:
    remove_leftovers(entry.parent, _TEMPORARY)
    temporary = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=entry.parent))
    try:
        (temporary / _FILES).mkdir()
        unpacking = _Unpacking(ctx, path, temporary / _FILES)
        unpacking.run(kind)
        facts = unpacking.facts()
        (temporary / _FACTS).write_text(json.dumps(facts), encoding="utf-8")
        try:
            temporary.rename(entry)
        except OSError:
            if not entry.is_dir():  # else another process was faster, and its entry is as good
                raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return facts


def _forget(archives: Path, made: Path) -> None:
    """Removes the longest unused of the other entries."""
    others = sorted(
        (path for path in archives.glob(f"*-{_LAYOUT}") if path != made and path.is_dir()),
        key=lambda path: path.lstat().st_mtime,
        reverse=True,
    )
    for path in others[KEEP_ENTRIES - 1 :]:
        if time.time() - path.lstat().st_mtime > LEFTOVER_AGE_S:
            shutil.rmtree(path, ignore_errors=True)


@dataclass
class _Unpacking:
    """Writes the pictures that a reader hands over."""

    ctx: LoadContext
    path: Path
    folder: Path
    num_files: int = 0
    num_bytes: int = 0
    num_repeated: int = 0
    num_links: int = 0
    num_large: int = 0
    bad_files: list[tuple[str, str]] = field(default_factory=list)
    _name: str = ""
    _target: Path | None = None
    _written: int = 0
    _file: Any = None
    _unchecked: int = 0

    def run(self, kind: Kind) -> None:
        """Reads the whole archive; raises DatasetError."""
        size = self.path.stat().st_size
        order = {
            "path": str(self.path.resolve()),
            "kind": kind,
            "max_files": min(MAX_FILES, _SLACK_FILES + size // _BYTES_PER_FILE),
            "max_bytes": min(MAX_BYTES, _SLACK_BYTES + _RATIO * size),
            "max_file_bytes": MAX_FILE_BYTES,
            "memory_bytes": _MEMORY_BYTES,
            "cpu_s": 120 + size // 10**6,
        }
        command = [sys.executable, "-I", str(Path(reader.__file__).resolve())]
        try:
            with Child(
                command,
                name="its reader",
                environment={"LC_ALL": "C.UTF-8"},
                order=json.dumps(order).encode(),
                check=self.ctx.check_cancelled,
                counts_work=True,
            ) as child:
                self._receive(child)
        except (ChildDiedError, DeadlineError) as error:
            raise self._refused(error.what.rstrip(".")) from error
        finally:
            self._close()

    def _receive(self, child: Child) -> None:
        is_open = True
        while is_open:
            fields, data = child.frame(limit=_FRAME_LIMIT, deadline_s=_DEADLINE_S)
            if "error" in fields:
                raise self._refused(str(fields["error"]))
            is_open = "end" not in fields
            try:
                self._take(fields, data)
            except (KeyError, TypeError) as error:
                raise self._refused(f"the output of its reader is invalid ({error})") from error
        if code := child.exit_code():
            raise self._refused(f"its reader {end_words(code)}")

    def _take(self, fields: Mapping[str, Any], data: bytes) -> None:
        if "total" in fields:
            self._check_space(int(fields["total"]))
        elif "end" in fields:
            self.num_links, self.num_large = int(fields["links"]), int(fields["large"])
        elif "damaged" in fields:
            self._drop(str(fields["name"]), str(fields["damaged"]))
        else:
            self._take_piece(fields, data)

    def _take_piece(self, fields: Mapping[str, Any], data: bytes) -> None:
        if fields["is_first"]:
            self._begin(str(fields["name"]), data)
        if self._file is not None:
            self._file.write(data)
            self._written += len(data)
            self._unchecked += len(data)
            if self._unchecked > _CHECK_EVERY_BYTES:
                self._check_space(0)
        if fields["is_last"]:
            self._close()
            words = f"Unpacking {self.path.name}: {plural(self.num_files, 'image')}"
            self.ctx.progress(words, min(1.0, max(0.0, float(fields["at"]))))

    def _begin(self, name: str, head: bytes) -> None:
        """Opens the file of a picture; nothing where it is none."""
        self._close()
        self.num_bytes += self._written
        self._name, self._target, self._written = name, None, 0
        parts = self._place(name)
        is_named = os.path.splitext(parts[-1])[1].lower() in ENDINGS if parts else False  # noqa: PTH122 - text
        if not parts or not (is_named or sniff(head[:HEAD_BYTES]) in DECODED):
            return
        target = self.folder.joinpath(*parts)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise self._refused(f"{_plain(name)} is in a file, not in a folder") from None
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.fdopen(os.open(target, flags, 0o644), "wb")
        except FileExistsError:
            self.num_repeated += 1
            return
        self._target = target
        self.num_files += 1

    def _place(self, name: str) -> tuple[str, ...]:
        """The folders and the name of a file, below ours; none for what is hidden.

        Raises:
            DatasetError: the name leads elsewhere.
        """
        text = name.replace("\\", "/")
        parts = tuple(part for part in text.split("/") if part not in {"", "."})
        if text.startswith("/") or _DRIVE.match(text) or ".." in parts:
            raise self._refused(f"{_plain(name)} would be written outside of its folder")
        if "\0" in name or len(parts) > _MAX_DEPTH or any(_is_long(part) for part in parts):
            raise self._refused(f"{_plain(name)} cannot be the name of a file")
        return () if any(map(is_hidden, parts)) else parts

    def _drop(self, name: str, reason: str) -> None:
        """Removes what there is of a damaged file."""
        self.bad_files.append((_plain(name), f"It is damaged in the archive: {_plain(reason)}."))
        if self._target is not None and self._name == name:
            self._close()
            self._target.unlink()
            self.num_files -= 1
            self._target, self._written = None, 0

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _check_space(self, needed: int) -> None:
        self._unchecked = 0
        free = shutil.disk_usage(self.folder).free
        if needed + SPARE_BYTES > free:
            raise DatasetError(
                "Not enough disk space to unpack the archive.",
                where=str(self.path),
                received=f"{needed:,} bytes unpacked" if needed else "",
                expected=f"{SPARE_BYTES:,} bytes left; there are {free:,}",
                fix="Free some space, or set WORKBENCH_HOME to a folder on another disk.",
            )

    def facts(self) -> dict[str, Any]:
        """What is kept beside the pictures."""
        skipped = (
            (self.num_links, "links and devices"),
            (self.num_large, f"files of more than {MAX_FILE_BYTES // 2**20} MB"),
            (self.num_repeated, "files of a name that was there already"),
        )
        notes = [
            f"Not used of {self.path.name}: {number:,} {what}."
            for number, what in skipped
            if number
        ]
        sizes = {"files": self.num_files, "bytes": self.num_bytes + self._written}
        return {**sizes, "notes": notes, "bad_files": self.bad_files}

    def _refused(self, cause: str) -> DatasetError:
        return DatasetError(
            f"The archive cannot be unpacked: {cause}.",
            where=str(self.path),
            expected="an archive with one folder of images per class",
            fix="Pack it again, or unpack it yourself and choose the folder.",
        )


def _is_long(part: str) -> bool:
    return len(part.encode("utf-8", "surrogateescape")) > _MAX_NAME_BYTES


def _plain(text: str) -> str:
    """A name out of an archive, without control characters, at most 100 long."""
    return "".join(c if c.isprintable() else "?" for c in text)[:100]
