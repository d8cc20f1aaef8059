"""Plan of a sorting: which image would go where; nothing is changed."""

from __future__ import annotations

import filecmp
import os
import re
import stat
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

from workbench.core.outside_text import folder_letters
from workbench.core.storage.own_file import refuse_link
from workbench.errors import UsageError, os_errors_as

_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|\ud800-\udfff]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_LONGEST_NAME = 100
_CHECK_EVERY = 256


@dataclass(frozen=True)
class Placement:
    """One image.

    Attributes:
        source: Its file.
        folder: The class folder it goes to, a name.
        name: Its name there.
        num_bytes, mtime_ns: Its size and time of change.
    """

    source: str
    folder: str
    name: str
    num_bytes: int
    mtime_ns: int


@dataclass(frozen=True)
class Plan:
    """What would be done.

    Attributes:
        into: Where the class folders are, or will be.
        placements: Image by image, in order.
        skipped: (file, reason) of images that stay where they are.
        num_renamed: Images that get another name, as their own is taken there.
        num_there: Files that are in these class folders before.
    """

    into: Path
    placements: tuple[Placement, ...]
    skipped: tuple[tuple[str, str], ...]
    num_renamed: int
    num_there: int

    @property
    def num_bytes(self) -> int:
        """The size of all images."""
        return sum(each.num_bytes for each in self.placements)

    def counts(self) -> dict[str, int]:
        """The number of images for each class folder, by name."""
        counts = Counter(each.folder for each in self.placements)
        return dict(sorted(counts.items()))

    def reasons(self) -> dict[str, int]:
        """The number of images that stay, by reason; the most frequent first."""
        return dict(Counter(reason for _, reason in self.skipped).most_common())


def make_plan(
    answers: Iterable[tuple[str, str]], into: Path, *, check: Callable[[], None] = lambda: None
) -> Plan:
    """Plans where images go.

    Args:
        answers: File and class of each image; class "" where there is none.
        into: Where the class folders are, or will be.
        check: Called now and then; may raise to stop.

    Raises:
        UsageError: `into` is a file, or cannot be listed.
        LinkFoundError: a class folder in it is a link.
    """
    if into.exists() and not into.is_dir():
        raise UsageError("This is not a folder.", where=str(into), expected="a folder")
    planning = _Planning(Path(os.path.realpath(into)))
    for number, (file, label) in enumerate(answers):
        if number % _CHECK_EVERY == 0:
            check()
        reason = planning.add(file, label)
        if reason:
            planning.skipped.append((file, reason))
    return Plan(
        into,
        tuple(planning.placements),
        tuple(planning.skipped),
        planning.num_renamed,
        planning.num_there,
    )


class _Planning:
    def __init__(self, into: Path) -> None:
        self._into = into
        self._taken: dict[str, set[str]] = {}
        self._seen: set[str] = set()
        self._last_numbers: dict[tuple[str, str], int] = {}
        self._folders: dict[str, str] = {}
        self._there: dict[str, str] | None = None
        self.placements: list[Placement] = []
        self.skipped: list[tuple[str, str]] = []
        self.num_renamed = self.num_there = 0

    def add(self, file: str, label: str) -> str:
        """Plans one image; the reason where it stays, "" where it does not."""
        if not label:
            return "no predicted class"
        source = os.path.abspath(file)  # noqa: PTH100 - a hundred thousand Paths are slow
        if source in self._seen:
            return "listed before"
        self._seen.add(source)
        found = _status(source)
        if found is None:
            return "file no longer exists"
        return self._place(source, self._folder_of(label), found)

    def _folder_of(self, label: str) -> str:
        """The folder of a class: one that is there, as disks compare names, else a new one; never
        one that a disk may take for that of another class.
        """
        if label not in self._folders:
            self._folders[label] = self._chosen_folder(folder_name(label))
        return self._folders[label]

    def _chosen_folder(self, name: str) -> str:
        if self._there is None:
            with os_errors_as(UsageError, "The folder cannot be listed.", self._into):
                there = os.listdir(self._into) if self._into.exists() else []  # noqa: PTH208 - names
            self._there = {found: name_key(found) for found in sorted(there)}
        planned = set(self._folders.values())
        taken = set(map(name_key, planned))
        for tried in chain([name], (f"{name} ({number})" for number in count(2))):
            if tried in self._there and tried not in planned:
                return tried
            if (key := name_key(tried)) not in taken:
                break
        return next((found for found, its in self._there.items() if its == key), tried)

    def _place(self, source: str, folder: str, found: os.stat_result) -> str:
        name, place = os.path.basename(source), self._into / folder  # noqa: PTH119 - as above
        if os.path.realpath(os.path.dirname(source)) == str(place):  # noqa: PTH120 - as above
            return "already in its class folder"
        taken = self._taken_in(folder)
        if name_key(name) in taken and _is_same(source, place / name):
            return "a copy is already in its class folder"
        free = self._free_name(folder, name)
        taken.add(name_key(free))
        self.num_renamed += free != name
        placement = Placement(source, folder, free, found.st_size, found.st_mtime_ns)
        self.placements.append(placement)
        return ""

    def _free_name(self, folder: str, name: str) -> str:
        taken, key = self._taken_in(folder), (folder, name_key(name))
        stem, ending = os.path.splitext(name)  # noqa: PTH122 - as above
        number, free = self._last_numbers.get(key, 1), name
        while name_key(free) in taken:
            number += 1
            free = f"{stem} ({number}){ending}"
        self._last_numbers[key] = number
        return free

    def _taken_in(self, folder: str) -> set[str]:
        """The names in a class folder, those that are planned too, as `name_key` compares."""
        if folder not in self._taken:
            place = self._into / folder
            refuse_link(place)
            with os_errors_as(UsageError, "The folder cannot be listed.", place):
                names = os.listdir(place) if place.exists() else []  # noqa: PTH208 - names only
            self.num_there += len(names)
            self._taken[folder] = {name_key(name) for name in names}
        return self._taken[folder]


def name_key(name: str) -> str:
    """What is equal for names that some system takes for the same one: macOS and Windows disregard
    case, macOS how letters with marks are composed.
    """
    composed = unicodedata.normalize("NFC", name).casefold()
    return unicodedata.normalize("NFC", composed)


def folder_name(label: str) -> str:
    """A class name as the name of one folder, on every system."""
    seen = folder_letters(unicodedata.normalize("NFC", label))
    name = _UNSAFE.sub("_", seen)[:_LONGEST_NAME].strip().rstrip(".")
    if not name or name.startswith("."):
        name = f"_{name.lstrip('.')}"
    return f"{name}_" if _RESERVED.fullmatch(name) else name


def _status(source: str) -> os.stat_result | None:
    """Size and times of a file; None where there is none."""
    try:
        found = os.stat(source)  # noqa: PTH116 - as above
    except (OSError, ValueError):
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def _is_same(source: str, target: Path) -> bool:
    """Whether there is such a file with the same content: then a second copy is of no use."""
    try:
        return target.is_file() and filecmp.cmp(source, target, shallow=False)
    except OSError:
        return False
