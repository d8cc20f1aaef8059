"""Archives of class folders: a limited child process reads them, their pictures are cached.

The child (`processes.archive_reader`) is the only code that opens a foreign archive; what becomes a
file, and under which name, is decided here.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, Literal

from workbench.core.format import plural
from workbench.core.params import ChoiceParam, Params, PathParam
from workbench.core.specs import DatasetSpec, Inference, LoadContext, LoadedData, Option
from workbench.datasets._cached_files import cached_files, file_identity
from workbench.datasets._class_parts import FIT, LOOK_ALIKES, RANGE, READING, load_class_folders
from workbench.errors import ChildDiedError, DatasetError, DeadlineError
from workbench.pictures.class_folders.tree import not_images
from workbench.pictures.encodings import (
    ENCODINGS,
    FoundEncoding,
    find_encoding,
    has_inner_capital,
)
from workbench.pictures.folders import ENDINGS, is_hidden
from workbench.pictures.portable.signatures import DECODED, HEAD_BYTES, MAX_FILE_BYTES, sniff
from workbench.pictures.rows import SPARE_BYTES
from workbench.processes.child import Child, end_words
from workbench.processes.limited import ARCHIVE_READER, limited_command

# unpack --------------------------------------------------------------------------------------
# Archives of class folders: unpacked once into the cache, by their content.
#
# An archive is foreign: a child process reads it (`processes.archive_reader`), and here is decided
# what becomes a file. Only pictures do, under names without "..", in a new folder that gets its
# name when it is complete. No links, no modes, no owners, no times.

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

NAMES = ChoiceParam(
    "names",
    "auto",
    "What the names of files and folders are encoded in, where the archive does not say so.",
    title="Names",
    choices=("auto", *ENCODINGS),
    titles={"auto": "by their letters", **ENCODINGS},
    is_advanced=True,
)
"""The parameter of archives."""

_DRIVE = re.compile(r"[A-Za-z]:[/\\]")


def load_archive(ctx: LoadContext, path: Path, kind: Kind, params: Params) -> LoadedData:
    """The class folders of an archive, unpacked in the cache.

    Raises:
        DatasetError: it is damaged or harmful, has no classes, or the disk is full.
    """
    encoding = str(params.get(NAMES.key, NAMES.default))
    identity = file_identity(ctx, path)
    if encoding != NAMES.default:  # other names are other files
        identity = hashlib.sha256(f"{identity} {encoding}".encode()).hexdigest()
    fill = partial(_fill, ctx, path, kind, encoding)
    folder, facts = cached_files(ctx, identity, fill, where=str(path))
    try:
        loaded = load_class_folders(ctx, folder, str(path), params)
    except DatasetError as error:  # what was left out may be why
        notes = (str(note).rstrip(".") for note in facts["notes"])
        error.received = "; ".join(filter(None, (error.received, *notes)))
        raise
    bad = tuple((f"{path}: {name}", reason) for name, reason in facts["bad_files"])
    return replace(
        loaded,
        bad_files=(*bad, *loaded.bad_files),
        notes=(*facts["notes"], *loaded.notes),
        inferences=(
            *_names_inference(facts["names"], encoding),
            *loaded.inferences,
            *([not_images(facts["others"])] if facts["others"] else []),
        ),
    )


def _fill(ctx: LoadContext, path: Path, kind: Kind, encoding: str, folder: Path) -> dict[str, Any]:
    unpacking = _Unpacking(ctx, path, folder, kind, encoding if encoding != NAMES.default else "")
    try:
        unpacking.run()
    except _NotSaidError:
        found = unpacking.found_encoding()
        unpacking = _Unpacking(ctx, path, folder, kind, found.key, found)
        shutil.rmtree(folder)
        folder.mkdir()
        unpacking.run()
    return unpacking.facts()


def _names_inference(names: Mapping[str, Any], encoding: str) -> tuple[Inference, ...]:
    """What the names in the archive were read as; nothing where they say what they are."""
    if not names:
        return ()
    taken, title = str(names["key"]), NAMES.show
    example = f"“{_plain(str(names['example']))}”"
    number = plural(int(names["count"]), "name")
    others = [key for key in names["others"] if key in ENCODINGS and key != taken]
    is_told = encoding != NAMES.default
    listed = [NAMES.default] if is_told else others or [k for k in ENCODINGS if k != taken]
    read = ", ".join(title(key).partition(",")[0] for key in others)
    doubts = [f"It may as well be {read}."] if others else []
    if has_inner_capital(str(names["example"])):
        doubts.append("A capital inside of a word is unusual.")
    inference = Inference(
        "names",
        "The names of files and folders",
        title(taken),
        f"{number} do{'es' if int(names['count']) == 1 else ''} not say; so it is {example}",
        " ".join(doubts),
        param=NAMES.key,
        options=tuple(Option(key, title(key)) for key in listed),
        is_told=is_told,
    )
    return (inference,)


class _NotSaidError(Exception):
    """A name does not say what it is encoded in, and nothing has been decided yet."""


@dataclass
class _Unpacking:
    """Writes the pictures that a reader hands over."""

    ctx: LoadContext
    path: Path
    folder: Path
    kind: Kind
    encoding: str = ""
    found: FoundEncoding | None = None
    num_files: int = 0
    others: Counter[str] = field(default_factory=Counter)
    num_raw: int = 0
    example: str = ""
    num_repeated: int = 0
    num_links: int = 0
    num_large: int = 0
    bad_files: list[tuple[str, str]] = field(default_factory=list)
    _name: str = ""
    _raw: dict[Path, str] = field(default_factory=dict)
    _target: Path | None = None
    _file: Any = None
    _unchecked: int = 0

    def run(self) -> None:
        """Reads the whole archive.

        Raises:
            DatasetError: it cannot be read.
            _NotSaidError: the encoding of the names has to be found first.
        """
        self._read(self._take, names_only=False)

    def found_encoding(self) -> FoundEncoding:
        """The encoding of all names that do not say theirs; raises DatasetError."""
        raw: list[bytes] = []

        def take(fields: Mapping[str, Any], _: bytes) -> None:
            if "raw" in fields:
                raw.append(bytes.fromhex(fields["raw"]))

        self._read(take, names_only=True)
        return find_encoding(raw, is_dos=self.kind == "zip")

    def _read(self, take: Callable[[Mapping[str, Any], bytes], None], *, names_only: bool) -> None:
        size = self.path.stat().st_size
        order = {
            "path": str(self.path.resolve()),
            "is_tar": self.kind == "tar",
            "names_only": names_only,
            "max_files": min(MAX_FILES, _SLACK_FILES + size // _BYTES_PER_FILE),
            "max_bytes": min(MAX_BYTES, _SLACK_BYTES + _RATIO * size),
            "max_file_bytes": MAX_FILE_BYTES,
        }
        cpu_s = 120 + size // 10**6
        try:
            with Child(
                limited_command(ARCHIVE_READER, memory_bytes=_MEMORY_BYTES, cpu_s=cpu_s),
                name="its reader",
                environment={"LC_ALL": "C.UTF-8"},
                order=json.dumps(order).encode(),
                check=self.ctx.check_cancelled,
                counts_work=True,
            ) as child:
                self._receive(child, take)
        except (ChildDiedError, DeadlineError) as error:
            raise self._refused(error.what.rstrip(".")) from error
        finally:
            self._close()

    def _receive(self, child: Child, take: Callable[[Mapping[str, Any], bytes], None]) -> None:
        is_open = True
        while is_open:
            fields, data = child.frame(limit=_FRAME_LIMIT, deadline_s=_DEADLINE_S)
            if "error" in fields:
                raise self._refused(str(fields["error"]))
            is_open = "end" not in fields
            try:
                take(fields, data)
            except (KeyError, TypeError, ValueError) as error:
                raise self._refused(f"the output of its reader is invalid ({error})") from error
        if code := child.exit_code():
            raise self._refused(f"its reader {end_words(code)}")

    def _take(self, fields: Mapping[str, Any], data: bytes) -> None:
        if "total" in fields:
            self._check_space(int(fields["total"]))
        elif "end" in fields:
            self.num_links, self.num_large = int(fields["links"]), int(fields["large"])
        elif "damaged" in fields:
            self._drop(self._text(fields), str(fields["damaged"]))
        else:
            self._take_piece(fields, data)

    def _take_piece(self, fields: Mapping[str, Any], data: bytes) -> None:
        if fields["is_first"]:
            self._begin(self._text(fields), str(fields.get("raw", "")), data)
        if self._file is not None:
            self._file.write(data)
            self._unchecked += len(data)
            if self._unchecked > _CHECK_EVERY_BYTES:
                self._check_space(0)
        if fields["is_last"]:
            self._close()
            words = f"Unpacking {self.path.name}: {plural(self.num_files, 'image')}"
            self.ctx.progress(words, min(1.0, max(0.0, float(fields["at"]))))

    def _text(self, fields: Mapping[str, Any]) -> str:
        """The name of a file."""
        if "raw" not in fields or ("name" in fields and not self.encoding):
            return str(fields["name"])
        if not self.encoding:
            raise _NotSaidError
        text = bytes.fromhex(fields["raw"]).decode(self.encoding, "replace")
        self.num_raw += 1 if fields.get("is_first") else 0
        self.example = self.example or text
        return text

    def _begin(self, name: str, raw: str, head: bytes) -> None:
        """Opens the file of a picture; nothing where it is none."""
        self._close()
        self._name, self._target = name, None
        parts = self._place(name)
        is_named = os.path.splitext(parts[-1])[1].lower() in ENDINGS if parts else False  # noqa: PTH122 - text
        if not parts or not (is_named or sniff(head[:HEAD_BYTES]) in DECODED):
            if parts:
                self.others[os.path.splitext(parts[-1])[1].lower()] += 1  # noqa: PTH122 - text
            return
        target = self._free(self.folder.joinpath(*parts), raw)
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
        if not name.isascii():
            self._raw[target] = raw

    def _free(self, target: Path, raw: str) -> Path:
        """Path for a file, other than that of a name whose different bytes read the same."""
        for number in count(2):
            if self._raw.get(target, raw) == raw:
                break
            target = target.with_stem(f"{target.stem.removesuffix(f' ({number - 1})')} ({number})")
        return target

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
            self._target = None

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
        set_names = FoundEncoding(self.encoding, example=self.example, count=self.num_raw)
        names = asdict(self.found or set_names) if self.num_raw else {}
        return {"notes": notes, "bad_files": self.bad_files, "names": names, "others": self.others}

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


# chosen file ---------------------------------------------------------------------------------
# The file that a source is pointed at.


def chosen_file(text: str, what: str, *, expected: str = "", for_folder: str = "") -> Path:
    """The path of a regular file.

    Args:
        text: The path as it is kept in the project.
        what: What it is, e.g. "a CSV file".
        expected: What is in it, for messages; `what` by default.
        for_folder: What to do where it is a folder.

    Raises:
        DatasetError: nothing is chosen, or there is no such file.
    """
    expected = expected or what
    if not text:
        raise DatasetError("No file has been chosen yet.", expected=expected, fix=f"Choose {what}.")
    path = Path(os.path.expanduser(text))  # noqa: PTH111 - keeps an unknown ~name as it is
    try:
        if path.is_file():
            return path
        is_folder, is_there = path.is_dir(), path.exists()
    except OSError as error:
        raise DatasetError(f"The file cannot be opened: {error.strerror}.", where=text) from None
    if is_folder:
        raise DatasetError(
            "This is a folder, not a file.", where=text, expected=expected, fix=for_folder
        )
    raise DatasetError(
        "This is not a regular file." if is_there else "There is no such file.",
        where=text,
        expected=expected,
        fix="Check the path, and the names of the settings behind the question mark."
        if "?" in path.name
        else "Check the path.",
    )


# source --------------------------------------------------------------------------------------
# What the data sets of archives share: a form, and class folders inside a file.

_CONTENTS = (
    "Contains one folder of images per class, at any depth, or the folders train and "
    "test (and validation) with such folders. It is unpacked once, into the cache."
)


def archive_source(
    kind: Kind, title: str, *, patterns: tuple[str, ...], endings: str = ""
) -> DatasetSpec:
    """The data set of an archive of class folders.

    Args:
        kind: Its key.
        title: Its title, e.g. "ZIP archive".
        patterns: Glob patterns of the names of such files.
        endings: The same for people, behind the title in its summary; "" where the title says it.
    """
    return DatasetSpec(
        key=kind,
        title=title,
        summary=f"Your own images in a {title}{endings}, in one folder per class.",
        params=(
            PathParam(
                "path",
                "",
                _CONTENTS,
                title="File",
                patterns=patterns,
            ),
            FIT,
            *READING,
            LOOK_ALIKES,
            NAMES,
            RANGE,
        ),
        source_param="path",
        load=partial(_load, kind, f"a {title}"),
    )


def _load(kind: Kind, what: str, ctx: LoadContext, params: Params) -> LoadedData:
    path = chosen_file(
        str(params.get("path", "")),
        what,
        expected=f"{what} with one folder of images per class",
        for_folder="Choose it as an image folder.",
    )
    return load_archive(ctx, path, kind, params)
