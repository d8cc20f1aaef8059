"""A bundle is opened into a new folder: it is foreign, so a child process with limits reads it
(`processes.archive_reader`), and here is decided what becomes a file: the project, images and files
of runs, under plain names, in a folder that gets its name when it is complete.

Its runs are listed like others that lie outside of the runs folder. None starts by itself, as no
mark of the queue comes with them.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from workbench.core.projects.project_file import PROJECT_SUFFIX, read_project
from workbench.core.storage.foreign_file import REQUEST_BYTES, open_foreign, read_foreign, size_of
from workbench.core.storage.json_file import DAMAGED, decode_json, encode_json
from workbench.core.storage.save import save_bytes
from workbench.errors import (
    ChildDiedError,
    DeadlineError,
    InputError,
    RunFolderError,
    SaveError,
    os_errors_as,
)
from workbench.moving.bundle import (
    BUNDLE_VERSION,
    FACTS_NAME,
    IMAGES,
    LICENSES_NAME,
    RUNS,
    BundleFacts,
    Step,
    is_plain,
)
from workbench.pictures.rows import SPARE_BYTES
from workbench.processes.child import Child, end_words
from workbench.processes.limited import ARCHIVE_READER, limited_command
from workbench.runs.folder import RunFolder
from workbench.runs.state.queue import remember_outside

MAX_FILES, MAX_BYTES, MAX_FILE_BYTES = 2_000_000, 400 * 10**9, 16 * 2**30
_SLACK_BYTES = 256 * 2**20
_RATIO = 20
"""Files are stored, not packed: what grows more than this was not written by Workbench."""
_MEMORY_BYTES = 2 << 30
_FRAME_LIMIT = 4 << 20
_DEADLINE_S = 60.0
_MAX_DEPTH = 50


@dataclass(frozen=True)
class Opened:
    """A bundle in its folder.

    Attributes:
        project: The project file.
        runs: The folders of its runs.
    """

    project: Path
    runs: tuple[Path, ...]


def open_bundle(path: Path, folder: Path, step: Step = lambda _words, _at: None) -> Opened:
    """Unpacks a bundle into a folder that is new, or empty.

    Raises:
        InputError: it is no bundle, is damaged or harmful, or of a newer version.
        SaveError: the folder is in use, or cannot be written.
        ProjectFileError: the project in it is damaged.
    """
    folder = folder.expanduser().absolute()
    _refuse_used(folder)
    what = "The bundle could not be unpacked."
    with os_errors_as(SaveError, what, folder):
        folder.parent.mkdir(parents=True, exist_ok=True)
        partial_folder = Path(tempfile.mkdtemp(prefix=".workbench-unbundle-", dir=folder.parent))
    try:
        with os_errors_as(SaveError, what, folder):
            facts = _Unpacking(path, partial_folder, step).run()
            _adapt(facts, partial_folder, folder)
            runs = tuple(folder / RUNS / name for name in facts.runs)
            for run in runs:  # before they are there: where that fails, nothing has been unpacked
                remember_outside(RunFolder(run))
            if folder.exists():
                folder.rmdir()
            partial_folder.rename(folder)
    finally:
        shutil.rmtree(partial_folder, ignore_errors=True)
    return Opened(folder / facts.project, runs)


def is_bundle(path: Path) -> bool:
    """Whether a file says that it is a ZIP file; its name says the rest."""
    try:
        with open_foreign(path) as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError:
        return False


def _refuse_used(folder: Path) -> None:
    with os_errors_as(SaveError, "The folder cannot be used.", folder):
        is_used = folder.is_symlink() or (
            folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
        )
    if is_used:
        raise SaveError(
            "The bundle is not unpacked over other files.",
            where=str(folder),
            expected="a new folder, or an empty one",
        )


# unpacking ---------------------------------------------------------------------------------


@dataclass
class _Unpacking:
    path: Path
    folder: Path
    step: Step
    names: set[str] = field(default_factory=set)
    _file: Any = None
    _at: float = 0.0

    def run(self) -> BundleFacts:
        """Writes all files; returns what the bundle says of itself."""
        unread = os_errors_as(InputError, "The bundle cannot be read.", self.path)
        with unread, open_foreign(self.path) as file:
            size = size_of(file)
        order = {
            "path": str(self.path.resolve()),
            "is_tar": False,
            "names_only": False,
            "max_files": MAX_FILES,
            "max_bytes": min(MAX_BYTES, _SLACK_BYTES + _RATIO * size),
            "max_file_bytes": MAX_FILE_BYTES,
        }
        command = limited_command(
            ARCHIVE_READER, memory_bytes=_MEMORY_BYTES, cpu_s=120 + size // 10**6
        )
        child = Child(
            command,
            name="its reader",
            environment={"LC_ALL": "C.UTF-8"},
            order=json.dumps(order).encode(),
            check=self._check,
            counts_work=True,
        )
        try:
            with child:
                self._receive(child)
        except (ChildDiedError, DeadlineError) as error:
            raise self._refused(error.what.rstrip(".")) from error
        finally:
            self._close()
        return _facts_of(self.folder, self._refused)

    def _check(self) -> None:
        self.step("Unpacking the bundle", self._at)

    def _receive(self, child: Child) -> None:
        is_open = True
        while is_open:
            fields, data = child.frame(limit=_FRAME_LIMIT, deadline_s=_DEADLINE_S)
            if "error" in fields or "damaged" in fields:
                raise self._refused(str(fields.get("error") or fields.get("damaged")))
            is_open = "end" not in fields
            try:
                self._take(fields, data)
            except (KeyError, TypeError, ValueError) as error:
                raise self._refused(f"the output of its reader is invalid ({error})") from error
        if code := child.exit_code():
            raise self._refused(f"its reader {end_words(code)}")

    def _take(self, fields: Mapping[str, Any], data: bytes) -> None:
        if "total" in fields:
            self._check_space(int(fields["total"]))
        elif "end" in fields:
            if fields["links"] or fields["large"]:
                raise self._refused("it holds links, or files that are far too large")
        else:
            if fields["is_first"]:
                self._begin(str(fields.get("name", "")))
            if self._file is None:
                raise ValueError("a piece of no file")
            self._file.write(data)
            self._at = min(1.0, max(0.0, float(fields["at"])))
            self._check()
            if fields["is_last"]:
                self._close()

    def _begin(self, name: str) -> None:
        self._close()
        parts = _parts(name)
        if not parts or name in self.names:
            raise self._refused(f"“{name[:80]}” cannot be a file of a bundle")
        self.names.add(name)
        target = self.folder.joinpath(*parts)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.fdopen(os.open(target, flags, 0o644), "wb")
        except (FileExistsError, NotADirectoryError) as error:
            raise self._refused(f"“{name[:80]}” is a file and a folder") from error

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _check_space(self, needed: int) -> None:
        free = shutil.disk_usage(self.folder).free
        if needed + SPARE_BYTES > free:
            raise SaveError(
                "Not enough disk space to unpack the bundle.",
                where=str(self.folder.parent),
                received=f"{needed:,} bytes unpacked",
                expected=f"{SPARE_BYTES:,} bytes left; there are {free:,}",
                fix="Free some space, or choose a folder on another disk.",
            )

    def _refused(self, why: str) -> InputError:
        return InputError(
            f"“{self.path.name}” is no bundle that can be opened: {why}.",
            where=str(self.path),
            expected="a bundle that Workbench has written",
        )


def _parts(name: str) -> tuple[str, ...]:
    """The folders and the name of a file of a bundle; none for a name that is no such."""
    path = PurePosixPath(name)
    parts = path.parts
    is_name = (
        bool(parts)
        and not path.is_absolute()
        and str(path) == name
        and "\\" not in name
        and len(parts) <= _MAX_DEPTH
        and all(map(is_plain, parts))
    )
    if not is_name:
        return ()
    if len(parts) == 1:
        is_known = name in {FACTS_NAME, LICENSES_NAME} or name.endswith(PROJECT_SUFFIX)
        return parts if is_known else ()
    return parts if parts[0] in {IMAGES, RUNS} and len(parts) > 2 - (parts[0] == IMAGES) else ()


def _facts_of(folder: Path, refused: Callable[[str], InputError]) -> BundleFacts:
    try:
        data = read_foreign(folder / FACTS_NAME, REQUEST_BYTES, follows_links=False)
        facts = msgspec.json.decode(data, type=BundleFacts)
    except (OSError, *DAMAGED) as error:
        raise refused(f"it has no valid {FACTS_NAME}") from error
    if facts.format != "workbench-bundle" or facts.version > BUNDLE_VERSION:
        raise refused("it was written by a newer version of Workbench")
    names = (facts.project, *(f"{RUNS}/{name}/request.json" for name in facts.runs))
    is_twice = len(set(names)) < len(names)
    if is_twice or any(not _parts(name) or not (folder / name).is_file() for name in names):
        raise refused(f"{FACTS_NAME} names what is not in it, or a run twice")
    return facts


# the new place -----------------------------------------------------------------------------


def _adapt(facts: BundleFacts, here: Path, later: Path) -> None:
    """Lets project and runs name the images where they will be."""
    read_project(here / facts.project)
    places = {
        old: str(later / place)
        for old, place in facts.places.items()
        if _parts(f"{place}/x") and (here / place).exists()
    }
    for name in facts.runs:
        run = RunFolder(here / RUNS / name)
        run.request()
        for path in (run.request_path, run.card_path):
            if path.is_file():
                _replace_paths(path, places, str(later / facts.project))


def _replace_paths(path: Path, places: Mapping[str, str], project: str) -> None:
    try:
        plain = decode_json(read_foreign(path, REQUEST_BYTES, follows_links=False))
    except (OSError, *DAMAGED) as error:
        raise RunFolderError("A run of the bundle is damaged.", where=path.name) from error
    if not isinstance(plain, dict):
        return
    trained = plain.get("project")
    holders = (plain, trained if isinstance(trained, dict) else {})
    for dataset in (each.get("dataset") for each in holders):
        if isinstance(dataset, dict) and isinstance(dataset.get("params"), dict):
            dataset["params"] = _replaced(dataset["params"], places)
    if plain.get("project_path"):
        plain["project_path"] = project
    save_bytes(path, encode_json(plain, indent=1))


def _replaced(value: Any, places: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _replaced(each, places) for key, each in value.items()}
    if isinstance(value, list):
        return [_replaced(each, places) for each in value]
    return places.get(value, value) if isinstance(value, str) else value
