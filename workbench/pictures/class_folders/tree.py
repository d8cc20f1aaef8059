"""A folder with all that is inside of it: pictures, folders, and counts of everything else."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from workbench.core.format import plain_name, plural
from workbench.core.specs import Inference
from workbench.core.storage.foreign_file import is_file, is_folder
from workbench.errors import DatasetError
from workbench.pictures.class_folders.words import part_name
from workbench.pictures.folders import count_pictures, entries_of, is_picture, may_be_meant

_MAX_DEPTH = 100
_ENDINGS_NAMED = 4


@dataclass(frozen=True)
class Branch:
    """A folder with what it holds, naturally sorted.

    Attributes:
        path: Where it is.
        pictures: Its own picture files.
        branches: The folders inside that hold pictures, they or those inside them.
        empty: Visible folders inside without any picture.
        links: How many folders inside are links that were not followed.
        dangling: How many entries are links that lead nowhere, or no files at all.
        files: How many other files it holds, by ending.
        hidden: The hidden folders that hold images and are not made by programs, with how many.
        num_hidden: Image files that are hidden by the dot that their name begins with.
        called: What stands for its name, where that is not the folder's own.
    """

    path: Path
    pictures: tuple[str, ...] = ()
    branches: tuple[Branch, ...] = ()
    empty: tuple[Branch, ...] = ()
    links: int = 0
    dangling: int = 0
    files: Mapping[str, int] = field(default_factory=dict)
    hidden: Mapping[str, int] = field(default_factory=dict)
    num_hidden: int = 0
    called: str = ""

    @property
    def name(self) -> str:
        """The folder's own name, or what stands for it."""
        return self.called or self.path.name

    def all(self) -> Iterator[Branch]:
        """Yields the folder and all folders inside, those without pictures too."""
        yield self
        for branch in (*self.branches, *self.empty):
            yield from branch.all()

    def all_pictures(self) -> Iterator[str]:
        """Its own pictures, then those of the folders inside."""
        for branch in self.all():
            yield from branch.pictures

    @property
    def num_pictures(self) -> int:
        """Its own and those of the folders inside."""
        return sum(len(branch.pictures) for branch in self.all())


def scan(folder: Path, check: Callable[[], None] = lambda: None, *, depth: int = 0) -> Branch:
    """A folder and all that is inside, hidden files and those of systems left out.

    Links to folders are followed right below `folder` and in the folders of its parts, where
    people put class folders of other disks together; never further, so that loops end.

    Args:
        folder: The folder.
        check: Called for each folder; what it raises ends the search.
        depth: How many of the scanned folders are around it.

    Raises:
        DatasetError: a folder cannot be listed, or they are nested too deeply.
    """
    check()
    if depth > _MAX_DEPTH:
        raise DatasetError(
            "The folders are nested too deeply.",
            where=str(folder)[:300],
            expected=f"at most {_MAX_DEPTH} folders in each other",
        )
    is_followed = depth == 0 or (depth == 1 and part_name(folder.name) is not None)
    found, inner = _entries(folder, is_followed=is_followed)
    scanned = [scan(path, check, depth=depth + 1) for path in inner]
    return replace(
        found,
        branches=tuple(each for each in scanned if each.pictures or each.branches),
        empty=tuple(each for each in scanned if not each.pictures and not each.branches),
    )


def _entries(folder: Path, *, is_followed: bool) -> tuple[Branch, list[Path]]:
    """What a folder holds itself, and the folders inside."""
    pictures, inner, links, dangling = [], [], 0, 0
    files: Counter[str] = Counter()
    visible, unseen = entries_of(folder)
    for entry in visible:
        if entry.is_dir(follow_symlinks=False):
            inner.append(Path(entry.path))
        elif is_folder(entry):
            if is_followed and not _leads_back(folder, entry.path):
                inner.append(Path(entry.path))
            else:
                links += 1
        elif not is_file(entry):
            dangling += 1
        elif is_picture(entry.path):
            pictures.append(entry.path)
        else:
            files[os.path.splitext(entry.name)[1].lower()] += 1  # noqa: PTH122 - a name
    hidden = {
        entry.name: number
        for entry in unseen
        if may_be_meant(entry.name)
        and entry.is_dir(follow_symlinks=False)
        and (number := count_pictures(entry.path))
    }
    own = Branch(
        folder,
        tuple(pictures),
        links=links,
        dangling=dangling,
        files=files,
        hidden=hidden,
        num_hidden=sum(map(_is_hidden_picture, unseen)),
    )
    return own, inner


def _is_hidden_picture(entry: os.DirEntry[str]) -> bool:
    """Whether somebody may miss it: macOS writes "._1.jpg" beside each "1.jpg", with no image."""
    is_own = entry.name.startswith(".") and not entry.name.startswith("._")
    return is_own and is_file(entry) and is_picture(entry.path)


def _leads_back(folder: Path, link: str) -> bool:
    """Whether a link leads to the folder it is in, or to one around it."""
    here, there = os.path.realpath(folder), os.path.realpath(link)
    return os.path.commonpath([here, there]) == there


def other_notes(tree: Branch) -> list[str]:
    """Sentences on what is neither a file nor a folder that was looked into."""
    notes = []
    if links := sum(branch.links for branch in tree.all()):
        notes.append(f"{plural(links, 'inner folder')}: links, not used.")
    if dangling := sum(branch.dangling for branch in tree.all()):
        notes.append(f"{plural(dangling, 'link')} to nothing, or no file: not used.")
    if unseen := sum(branch.num_hidden for branch in tree.all()):
        notes.append(f"{plural(unseen, 'image file')} hidden by a dot before the name: not used.")
    hidden: Counter[str] = Counter()
    for branch in tree.all():
        hidden.update(branch.hidden)
    for name, number in sorted(hidden.items())[:_ENDINGS_NAMED]:
        notes.append(
            f"{plural(number, 'image')} in “{plain_name(name)}”, a folder that is hidden or of "
            "the system: not used."
        )
    return notes


def other_files(*trees: Branch) -> tuple[Inference, ...]:
    """How many files are no images; nothing where all are."""
    files: Counter[str] = Counter()
    for tree in trees:
        for branch in tree.all():
            files.update(branch.files)
    return (not_images(files),) if files else ()


def not_images(files: Mapping[str, int]) -> Inference:
    """Inference that files of other kinds are not used.

    Args:
        files: How many there are, by ending.
    """
    kinds = [
        f"{count:,} {plain_name(end) if end else 'without ending'}"
        for end, count in sorted(files.items(), key=lambda each: (-each[1], each[0]))
    ]
    more = ["…"] if len(files) > _ENDINGS_NAMED else []
    return Inference(
        "other_files",
        "Other files",
        f"{sum(files.values()):,}, not used: {', '.join([*kinds[:_ENDINGS_NAMED], *more])}",
        "neither their names nor their first bytes are those of images",
    )


def end_of(node: Branch) -> Branch:
    """The folder that holds the images, where folders around it hold nothing else."""
    while not node.pictures and len(node.branches) == 1:
        node = node.branches[0]
    return node
