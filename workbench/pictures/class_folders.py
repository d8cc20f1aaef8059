"""Which folders are the classes, and which the parts, of pictures sorted into folders.

ROOT/CLASS/*.jpg                  classes; pictures in folders inside belong to them
ROOT/train/CLASS/*.jpg            the same for each part: train, test, validation
ROOT/GROUP/.../CLASS/*.jpg        where no folder of ROOT holds pictures itself, the topmost
                                  folders that do are the classes
ROOT/.../CLASS/train/*.jpg        classes with their parts inside
ROOT/ONLY/...                     a folder around all of these is looked through
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workbench.core.format import plural
from workbench.errors import DatasetError
from workbench.pictures.folders import is_picture, visible_entries

_PARTS: Mapping[str, tuple[str, ...]] = {
    "train": ("train", "training"),
    "test": ("test", "testing"),
    "validation": ("val", "valid", "validation"),
}
"""Names of a folder that holds a part, the best first."""

_PART_OF = {name: part for part, names in _PARTS.items() for name in names}
_MAX_DEPTH = 100

Key = tuple[str, ...]
"""A folder by the names of the folders that lead to it."""


@dataclass(frozen=True)
class Branch:
    """A folder with what it holds, naturally sorted.

    Attributes:
        path: Where it is.
        pictures: Its own picture files.
        branches: The folders inside that hold pictures, they or those inside them.
        others: Names of visible folders inside without any picture.
        links: How many folders inside are links that were not followed.
    """

    path: Path
    pictures: tuple[str, ...] = ()
    branches: tuple[Branch, ...] = ()
    others: tuple[str, ...] = ()
    links: int = 0

    @property
    def name(self) -> str:
        """The folder's own name."""
        return self.path.name

    def all_pictures(self) -> Iterator[str]:
        """Its own pictures, then those of the folders inside."""
        yield from self.pictures
        for branch in self.branches:
            yield from branch.all_pictures()

    def all_links(self) -> int:
        """Links that were not followed, in folders inside too."""
        return self.links + sum(branch.all_links() for branch in self.branches)


@dataclass(frozen=True)
class ClassFolders:
    """Pictures by class name, for each part; the classes are those of `train`.

    Attributes:
        train, test, validation: The files of each class; no test or validation files where the
            folders do not say which they are.
        notes: What was left out, in sentences.
        num_loose: Pictures that are in no class folder.
        num_folders: Folders that could have been classes.
    """

    train: dict[str, list[str]] = field(default_factory=dict)
    test: dict[str, list[str]] = field(default_factory=dict)
    validation: dict[str, list[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    num_loose: int = 0
    num_folders: int = 0


def class_folders(root: Path, check: Callable[[], None] = lambda: None) -> ClassFolders:
    """Finds the classes below a folder; opens no file whose name is that of a picture.

    Args:
        root: The folder.
        check: Called for each folder; what it raises ends the search.

    Raises:
        DatasetError: a folder cannot be listed, or they are nested too deeply.
    """
    tree = scan(root, check)
    links = tree.all_links()
    notes = [f"{plural(links, 'inner folder')}: links, not used."] if links else []
    while (parts := _parts(tree)) is None and _is_wrapper(tree):
        tree = tree.branches[0]
    if parts is not None:
        return _split_by_parts(tree, parts, notes)
    found = _class_branches(tree)
    if split := _split_inside(found):
        return split
    notes += [f"Folder “{name}” has no images and is ignored." for name in tree.others]
    named = {name: list(found[key].all_pictures()) for key, name in unique_names(found).items()}
    num_loose = len(tree.pictures)
    if num_loose and named:
        notes.append(f"{plural(num_loose, 'image')} outside class folders are not used.")
    return ClassFolders(
        train=named,
        notes=tuple(notes),
        num_loose=num_loose,
        num_folders=len(tree.branches) + len(tree.others),
    )


def scan(folder: Path, check: Callable[[], None] = lambda: None, *, depth: int = 0) -> Branch:
    """A folder and all that is inside, hidden files and those of systems left out.

    Links to folders are followed right below `folder` and in the folders of its parts, where
    people put class folders of other disks together; never further, so that loops end.
    """
    check()
    if depth > _MAX_DEPTH:
        raise DatasetError(
            "The folders are nested too deeply.",
            where=str(folder)[:300],
            expected=f"at most {_MAX_DEPTH} folders in each other",
        )
    pictures, inner, links = _entries(folder, is_followed=depth == 0 or _is_part(folder, depth))
    branches, others = [], []
    for path in inner:
        branch = scan(path, check, depth=depth + 1)
        if branch.pictures or branch.branches:
            branches.append(branch)
        else:
            others.append(branch.name)
            links += branch.links
    return Branch(folder, pictures, tuple(branches), tuple(others), links)


def unique_names(keys: Sequence[Key] | Mapping[Key, object]) -> dict[Key, str]:
    """A name for each key: its last part, with as many parts before it as tell it apart."""
    names = {key: key[-1] for key in keys}
    for length in range(2, max(map(len, keys), default=0) + 1):
        counts = Counter(name.casefold() for name in names.values())
        names = {
            key: "/".join(key[-length:]) if counts[name.casefold()] > 1 else name
            for key, name in names.items()
        }
    return names


def _is_part(folder: Path, depth: int) -> bool:
    return depth == 1 and folder.name.casefold() in _PART_OF


def _entries(folder: Path, *, is_followed: bool) -> tuple[tuple[str, ...], list[Path], int]:
    """The pictures of a folder, the folders inside, and the number of links not followed."""
    pictures, inner, links = [], [], 0
    for entry in visible_entries(folder):
        if entry.is_dir(follow_symlinks=False):
            inner.append(Path(entry.path))
        elif entry.is_dir():
            if is_followed and not _leads_back(folder, entry.path):
                inner.append(Path(entry.path))
            else:
                links += 1
        elif entry.is_file() and is_picture(entry.path):
            pictures.append(entry.path)
    return tuple(pictures), inner, links


def _leads_back(folder: Path, link: str) -> bool:
    """Whether a link leads to the folder it is in, or to one around it."""
    here, there = os.path.realpath(folder), os.path.realpath(link)
    return os.path.commonpath([here, there]) == there


def _parts(tree: Branch) -> dict[str, Branch] | None:
    """The folders of the parts; None where there are none: "train" may well be a class, beside
    cars and planes.
    """
    by_name = {branch.name.casefold(): branch for branch in tree.branches}
    found = {
        part: next(by_name[name] for name in names if name in by_name)
        for part, names in _PARTS.items()
        if any(name in by_name for name in names)
    }
    train = found.get("train")
    if train is None or not train.branches:
        return None
    is_alone = len(tree.branches) + len(tree.others) == 1
    if len(found) == 1 and not is_alone:
        return None
    if "test" not in found and "validation" in found:
        found["test"] = found.pop("validation")
    return found


def _is_wrapper(tree: Branch) -> bool:
    """Whether all that a folder holds is one folder of folders, as unpacked archives have it."""
    if tree.pictures or len(tree.branches) != 1:
        return False
    (only,) = tree.branches
    return not only.pictures and bool(only.branches)


def _split_by_parts(tree: Branch, parts: dict[str, Branch], notes: list[str]) -> ClassFolders:
    unused = [branch.name for branch in tree.branches if branch not in parts.values()]
    notes += [f"Folder “{name}” is not used." for name in (*unused, *tree.others)]
    train = _class_branches(parts["train"])
    names = unique_names(train)
    notes += [f"Folder “{name}” has no images and is ignored." for name in parts["train"].others]
    found = {"train": {names[key]: list(each.all_pictures()) for key, each in train.items()}}
    for part in ("test", "validation"):
        found[part] = {}
        for key, branch in _class_branches(parts[part]).items() if part in parts else ():
            name = names.get(key, key[-1])
            if name in found["train"]:
                found[part].setdefault(name, []).extend(branch.all_pictures())
            else:
                words = f"{part.capitalize()} folder “{'/'.join(key)}”"
                notes.append(f"{words} matches no training class and is ignored.")
    return ClassFolders(
        train=found["train"],
        test=found["test"],
        validation=found["validation"],
        notes=tuple(notes),
        num_loose=len(parts["train"].pictures),
        num_folders=len(parts["train"].branches),
    )


def _class_branches(tree: Branch) -> dict[Key, Branch]:
    """The class folders below a folder: those right inside, or, where none of them holds a
    picture itself, the topmost that do.
    """
    if any(branch.pictures for branch in tree.branches):
        return {(branch.name,): branch for branch in tree.branches}
    found: dict[Key, Branch] = {}
    for branch in tree.branches:
        inner = _topmost(branch)
        found |= {(branch.name, *key): each for key, each in inner}
    return found


def _topmost(tree: Branch) -> Iterator[tuple[Key, Branch]]:
    for branch in tree.branches:
        if branch.pictures:
            yield (branch.name,), branch
        else:
            for key, each in _topmost(branch):
                yield (branch.name, *key), each


def _split_inside(found: Mapping[Key, Branch]) -> ClassFolders | None:
    """The parts of each class, where every innermost folder is named as a part."""
    last = {key[-1].casefold() for key in found}
    if not last <= _PART_OF.keys() or not any(_PART_OF[name] == "train" for name in last):
        return None
    if any(len(key) < 2 for key in found):
        return None
    has_test = any(_PART_OF[name] == "test" for name in last)
    names = unique_names(dict.fromkeys(key[:-1] for key in found))
    parts: dict[str, dict[str, list[str]]] = {part: {} for part in _PARTS}
    for key, branch in found.items():
        part = _PART_OF[key[-1].casefold()]
        part = "test" if part == "validation" and not has_test else part
        parts[part].setdefault(names[key[:-1]], []).extend(branch.all_pictures())
    return ClassFolders(
        train=parts["train"],
        test=parts["test"],
        validation=parts["validation"],
        num_folders=len(names),
    )
