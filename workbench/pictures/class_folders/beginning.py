"""Finds the folder in a tree at which the classes or the parts begin, behind folders around all."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from workbench.core.format import plain_name, plural
from workbench.core.outside_text import Key, KnownNames, folded
from workbench.core.projects.data_edits import PartName as Part
from workbench.core.specs import Inference, Option
from workbench.errors import DatasetError
from workbench.pictures.class_folders.levels import Level, aside_of
from workbench.pictures.class_folders.tree import (
    Branch,
    PartName,
    by_name,
    class_and_part,
    end_of,
    is_container,
    part_name,
    tokens,
)

# parts ---------------------------------------------------------------------------------------
# Folders that hold the parts of a data set, by their names.

_EVALUATED: tuple[Part, ...] = ("test", "validation")
_TESTED = frozenset({"test", "validation", "evaluation"})


@dataclass(frozen=True)
class PartFolders:
    """Folders by part.

    Attributes:
        folders: Those of "train", "test" and "validation", as far as there are any; the usual name
            first.
        are_alone: No other folder with images is beside them.
    """

    folders: Mapping[Part, tuple[Branch, ...]]


def is_flat(folder: Branch) -> bool:
    """Whether a folder holds images themselves, perhaps in folders that only say so."""
    return not inner_end(folder).branches


def inner_end(folder: Branch) -> Branch:
    """The folder that holds what a folder is about: behind single ones of the same name, or of a
    name that only says that they hold images.
    """
    while len(folder.branches) == 1 and not folder.pictures:
        (only,) = folder.branches
        if only.name.casefold() != folder.name.casefold() and not is_container(only.name):
            break
        folder = only
    return folder


def part_folders(tree: Branch) -> PartFolders | None:
    """The folders of the parts; None where there are none: "train" may well be a class, beside
    cars and planes.
    """
    named = [(branch, part) for branch in tree.branches if (part := part_name(branch.name))]
    named = [(branch, part) for branch, part in named if part.kind != "fold"]
    chosen = _chosen(named) if any(part.kind == "train" for _, part in named) else []
    chosen = chosen or _named_alike(tree, named) or _without_train(tree, named)
    if not any(part.kind == "train" and not is_flat(branch) for branch, part in chosen):
        return None
    is_only = len(tree.branches) + len(tree.empty) == 1
    if len({part.kind for _, part in chosen}) == 1 and not is_only:
        return None
    return PartFolders(_folders(chosen))


def flat_parts(tree: Branch) -> PartFolders | None:
    """The folders of parts that hold images and no classes, where nothing else is beside them; None
    where that is not so. There may be none for training.
    """
    named = [(branch, part_name(branch.name)) for branch in tree.branches]
    known = [(branch, part) for branch, part in named if part is not None and not part.rest]
    if not known or len(known) < len(named) or not all(is_flat(branch) for branch, _ in known):
        return None
    return PartFolders(_folders(known))


def _chosen(named: list[tuple[Branch, PartName]]) -> list[tuple[Branch, PartName]]:
    """The usual names where a training part has one, else those with the same other words."""
    plain = [(branch, part) for branch, part in named if not part.rest]
    if any(part.kind == "train" for _, part in plain):
        is_alone = not any(part.kind in _TESTED for _, part in plain)
        others = [each for each in named if is_alone and each[1].kind in _TESTED]
        return [*plain, *others]
    for _, train in named:
        if train.kind == "train":
            alike = [(branch, part) for branch, part in named if part.rest in {train.rest, ()}]
            if len({part.kind for _, part in alike}) > 1:
                return alike
    return plain


def _named_alike(
    tree: Branch, named: list[tuple[Branch, PartName]]
) -> list[tuple[Branch, PartName]]:
    """The folders of parts with a training part that has their other words only: rps, rps-test."""
    rests = {part.rest for _, part in named}
    train = [
        (branch, PartName("train", 0, rest))
        for rest in rests
        for branch in tree.branches
        if len(rests) == 1 and tokens(branch.name) == rest
    ]
    return [*train, *named] if len(train) == 1 else []


def _without_train(
    tree: Branch, named: list[tuple[Branch, PartName]]
) -> list[tuple[Branch, PartName]]:
    """Folders for validation and test alone: the validation images are the training part, as one
    that is published for a test is not to be learned.
    """
    kinds = {part.kind for _, part in named if not part.rest}
    if kinds != {"validation", "test"} or len(named) < len(tree.branches):
        return []
    train = [
        (branch, replace(part, kind="train")) for branch, part in named if part.kind == "validation"
    ]
    return [*train, *(each for each in named if each[1].kind == "test")]


def joined_parts(tree: Branch) -> PartFolders | None:
    """The parts of folders whose names join class and part: cat_train, cat_test, dog_train, ...;
    None where one is no such name, or the training part lacks a class of another.
    """
    named = [(each, name) for each in tree.branches if (name := class_and_part(each.name))]
    if len(named) < len(tree.branches) or not all(is_flat(each) for each, _ in named):
        return None
    known = _parts_of({kind for _, (_, kind) in named})
    found: dict[Part, list[Branch]] = {}
    for branch, (class_name, kind) in named:
        found.setdefault(known[kind], []).append(replace(branch, called=class_name))
    classes = {part: {folded(each.name) for each in inner} for part, inner in found.items()}
    training = classes.get("train", set())
    if len(training) < 2 or len(found) < 2 or any(each - training for each in classes.values()):
        return None
    order: tuple[Part, ...] = ("train", *_EVALUATED)
    return PartFolders(
        {part: (_around(tree, part, found[part]),) for part in order if part in found}
    )


def _around(tree: Branch, part: Part, inner: list[Branch]) -> Branch:
    """A folder for a part that has none, named like its first class folder."""
    return Branch(tree.path / part, branches=tuple(inner), called=f"{inner[0].path.name}, …")


def joined_words(names: Collection[str]) -> list[str]:
    """Names that join class and part, where one class is in several parts."""
    joined = {name: found for name in names if (found := class_and_part(name))}
    kinds: dict[str, set[str]] = {}
    for name, kind in joined.values():
        kinds.setdefault(folded(name), set()).add(kind)
    return [name for name, found in joined.items() if len(kinds[folded(found[0])]) > 1]


def _parts_of(kinds: Collection[str]) -> dict[str, Part]:
    """The part that each kind of name stands for, where there are these."""
    known: dict[str, Part] = {"train": "train", "test": "test", "validation": "validation"}
    if "evaluation" in kinds:
        known["evaluation"] = "validation" if "test" in kinds else "test"
    elif "test" not in kinds:
        known["validation"] = "test"
    return known


def _folders(chosen: list[tuple[Branch, PartName]]) -> dict[Part, tuple[Branch, ...]]:
    """The folders of each part: those with its most usual word, of which there may be several that
    differ in a number.
    """
    found: dict[str, list[tuple[Branch, PartName]]] = {}
    for branch, part in sorted(chosen, key=lambda each: each[1].order):
        best = found.setdefault(part.kind, [])
        if not best or (part.place == best[0][1].place and not best[0][1].is_exact):
            best.append((branch, part))
    for kind in _EVALUATED:
        if kind not in found and "evaluation" in found:
            found[kind] = found.pop("evaluation")
    if "validation" in found and "test" not in found:
        found["test"] = found.pop("validation")
    order: tuple[Part, ...] = ("train", *_EVALUATED)
    return {kind: tuple(each for each, _ in found[kind]) for kind in order if kind in found}


def parts_inside(keys: Collection[Key]) -> dict[Key, Part | None] | None:
    """The part of each folder inside of a class folder, None for images without a label.

    Args:
        keys: Class folders with the folder inside, by the names that lead to it.

    Returns:
        None where one is not named as a part: its name may have other words, but these are the same
        in all, or those of its class.
    """
    named = {key: part for key in keys if len(key) > 1 and (part := part_name(key[-1]))}
    kinds = {part.kind for part in named.values()}
    rests = {part.rest for key, part in named.items() if not set(part.rest) <= {*tokens(key[-2])}}
    if len(named) < len(set(keys)) or "train" not in kinds or "fold" in kinds or len(rests) > 1:
        return None
    known = _parts_of(kinds)
    return {key: known.get(part.kind) for key, part in named.items()}


def parts_beside(tree: Branch) -> PartFolders | None:
    """Folders for test and validation beside the classes themselves, which are the training part;
    None where there are none, or there is one for training.
    """
    named = [(branch, part) for branch in tree.branches if (part := part_name(branch.name))]
    plain = [(branch, part) for branch, part in named if not part.rest and part.kind != "fold"]
    others = [branch for branch in tree.branches if branch not in [each for each, _ in plain]]
    if not plain or len(others) < 2 or any(part.kind == "train" for _, part in named):
        return None
    if not any(branch.pictures for branch in others) and not all(
        is_flat(each) for each, _ in plain
    ):
        return None
    train = replace(tree, branches=tuple(others), pictures=())
    return PartFolders({"train": (train,), **_folders(plain)})


# unused --------------------------------------------------------------------------------------
# What is not used of a folder, in sentences, and what could be done about it.

_MAX_NOTES = 12
_NAMED = 4


def unused_notes(tree: Branch, used: set[Path], why: Mapping[Path, str]) -> list[str]:
    """A sentence on each folder of which nothing is used, and on the images beside class
    folders.
    """
    notes, loose = [], 0

    def look(node: Branch, path: str) -> None:
        nonlocal loose
        if not any(each.path in used for each in node.all()):
            reason = next((why[e.path] for e in node.all() if e.path in why), "is not used")
            count = plural(node.num_pictures, "image")
            notes.append(f"Folder “{plain_name(path)}” with {count} {reason}.")
            return
        if node.path not in used:
            loose += len(node.pictures)
        for branch in node.branches:
            look(branch, f"{path}/{branch.name}" if path else branch.name)

    look(tree, "")
    if loose:
        notes.append(f"{plural(loose, 'image')} outside class folders are not used.")
    return notes


def empty_notes(tree: Branch, path: Callable[[Branch], str]) -> list[str]:
    """A sentence on each outermost folder without images; `path` says where it is."""
    return [
        f"Folder “{plain_name(path(each))}” has no images and is ignored."
        for node in tree.all()
        if node.pictures or node.branches
        for each in node.empty
    ]


def short(notes: list[str]) -> list[str]:
    """At most so many sentences that the Data view can show them."""
    more = len(notes) - _MAX_NOTES
    return [*notes[:_MAX_NOTES], f"{more:,} more folders: the same."] if more > 1 else notes


def quoted(names: list[str]) -> str:
    """The first names in quotes, and how many there are besides."""
    words = ", ".join(f"“{plain_name(name)}”" for name in names[:_NAMED])
    return f"{words} and {len(names) - _NAMED} more" if len(names) > _NAMED else words


def aside_inference(aside: list[Branch]) -> Inference:
    """Inference that folders of masks, thumbnails and the like are not used."""
    names = list(dict.fromkeys(branch.name for branch in aside))
    count = sum(branch.num_pictures for branch in aside)
    return Inference(
        "aside",
        "Folders beside the images",
        f"not used: {quoted(names)}",
        "their names say that they hold something made of the images, or set aside",
        f"They hold {plural(count, 'image')}.",
        param="aside",
        options=(Option("use", "all images, these too"),),
    )


def masks_inference(files: Sequence[str]) -> Inference:
    """Inference that masks and the like beside their images are not used."""
    return Inference(
        "aside_files",
        "Files beside their images",
        f"not used: {quoted([Path(file).name for file in files])}",
        "they are named after an image beside them, as masks and depth maps are",
        f"They are {plural(len(files), 'image')}.",
        param="aside",
        options=(Option("use", "all images, these too"),),
    )


def alike_inference(ends: Mapping[str, int]) -> Inference:
    """Inference that images named after others beside them are used as these are."""
    return Inference(
        "aside_files",
        "Images named after others",
        f"used: {sum(ends.values()):,}, with {quoted(list(ends))} behind the name of another",
        "nothing says that they are masks and the like",
        "If they are made of the images beside them, each of these counts several times, also in "
        "training and validation.",
    )


def part_doubts(parts: PartFolders) -> list[str]:
    """Doubts about folders that were taken as parts: several as one, or none for training."""
    doubts = []
    for part, folders in parts.folders.items():
        words = [word for each in folders if (word := part_name(each.name))]
        if len({word.rest for word in words}) > 1:
            doubts.append(f"{quoted([each.name for each in folders])} are one part: {part}.")
        if part == "train" and any(word.kind != "train" for word in words):
            doubts.append("No folder is named as that of training.")
    return doubts


def part_words(found: Mapping[Key, object]) -> list[Inference]:
    """A doubt where classes are named as parts beside others that are not."""
    named = [key[-1] for key in found if (part := part_name(key[-1])) and part.is_exact]
    named = named if len(named) > 1 else joined_words([key[-1] for key in found])
    if len(named) < 2:
        return []
    doubt = Inference(
        "parts",
        "The parts",
        f"none: {quoted(named)} are classes",
        "other classes are beside them",
        "These names are usual for parts of a data set.",
    )
    return [doubt]


def hint(start: Branch, tree: Branch) -> str:
    """What could be done where there are no classes."""
    if len(by_name(end_of(start).pictures)) >= 2:
        return "Or set “Classes” to the names of the files (classes=names)."
    if flat_parts(start) is not None:
        return (
            "The folders are named as parts and have no class folders inside. Sort their images "
            "into one folder per class, or set “Parts” to none (parts=none) to make them classes."
        )
    tables = [end for each in tree.all() for end in each.files if end in {".csv", ".tsv"}]
    return "If a table names the classes, choose that file instead." if tables else ""


# beginning -----------------------------------------------------------------------------------

PartRule = Literal["auto", "merge", "none"]
PART_RULES: Mapping[str, str] = {
    "auto": "by their names",
    "merge": "all as one part, to be split",
    "none": "no parts: these folders are classes",
}
"""What folders named as parts are."""


@dataclass(frozen=True)
class Reading:
    """How class folders are read, where that is not to be found by their names.

    Attributes:
        parts: What folders named as parts are.
        classes: Which folders are classes.
        inside: The folder inside, by its path, that alone is read; "" for all.
        has_aside: Folders of masks, thumbnails and the like are used.
        is_chosen: The folders right inside were chosen one by one, each as a class.
    """

    parts: PartRule = "auto"
    classes: Level = "auto"
    inside: str = ""
    has_aside: bool = False
    is_chosen: bool = False


AS_FOUND = Reading()
"""A reading in which nothing is set by the user."""


class Beginning:
    """Looks for the folder of the classes or the parts.

    Attributes:
        aside: Folders of masks and the like that were passed.
        inferences: What was chosen on the way.
    """

    def __init__(self, tree: Branch, how: Reading) -> None:
        self._tree, self._how = tree, how
        self._ways: dict[Path, str] = {}
        self.aside: list[Branch] = []
        self.inferences: list[Inference] = []

    def found(self) -> Branch:
        """The folder; raises DatasetError where the one that is set is not there."""
        return self._descended(_inside(self._tree, self._how.inside))

    def _descended(self, node: Branch) -> Branch:
        """The folder that holds the classes or the parts, behind those around everything."""
        while self._how.parts == "none" or part_folders(node) is None:
            inner = self.without_aside(node.branches)
            several = [each for each in inner if self._has_parts(each)]
            if len(inner) == 1 and leads_on(inner[0], node):
                node = inner[0]
            elif several and all(each in several or not each.branches for each in inner):
                self._say_one_of(several, inner)
                node = several[0]
            else:
                break
        return node

    def _has_parts(self, node: Branch) -> bool:
        while part_folders(node) is None:
            if len(node.branches) != 1 or node.pictures:
                return False
            node = node.branches[0]
        return self._how.parts != "none"

    def _say_one_of(self, several: list[Branch], inner: tuple[Branch, ...]) -> None:
        """Notes that only the first of several folders with parts of their own is used."""
        name = self.path(several[0])
        others = [branch for branch in inner if branch is not several[0]]
        self.inferences.append(
            Inference(
                "inside",
                "The folder that is used",
                plain_name(name),
                "it has folders for training and test",
                f"Not used: {quoted([each.name for each in others])} beside it.",
                param="inside",
                options=tuple(
                    Option(self.path(each), f"“{plain_name(each.name)}”") for each in several[1:5]
                ),
            )
        )

    def path(self, branch: Branch) -> str:
        """Path of a folder, relative to the one that is read."""
        self._ways = self._ways or dict(_ways(self._tree))
        return self._ways.get(branch.path, branch.name)

    def without_aside(self, branches: tuple[Branch, ...]) -> tuple[Branch, ...]:
        """The folders without those of masks and the like, where one of images is beside them.

        What is left is one folder, or all of them.
        """
        if self._how.has_aside:
            return branches
        aside = aside_of(branches)
        rest = tuple(each for each in branches if each not in aside)
        if len(rest) == 1:
            self.aside += [each for each in aside if each not in self.aside]
            return rest
        return branches


def _ways(node: Branch, before: str = "") -> Iterator[tuple[Path, str]]:
    """The folders inside of one, each with the names that lead to it."""
    for each in (*node.branches, *node.empty):
        yield each.path, f"{before}{each.name}"
        yield from _ways(each, f"{before}{each.name}/")


def _inside(tree: Branch, path: str) -> Branch:
    """A folder inside, by its path; raises DatasetError."""
    node = tree
    for name in filter(None, path.replace("\\", "/").split("/")):
        meant = KnownNames(each.name for each in node.branches).find(name)
        if not meant:
            raise DatasetError(
                "There is no such folder with images inside.",
                where=str(node.path),
                received=plain_name(name),
                expected=", ".join(plain_name(each.name) for each in node.branches[:20]),
                fix="Choose one of these, or leave “Folder inside” empty.",
            )
        node = next(each for each in node.branches if each.name == meant)
    return node


def leads_on(only: Branch, around: Branch) -> bool:
    """Whether a folder that is the only one in another is no class: it holds the class folders, or
    its name only says that it holds images.
    """
    if only.branches and not only.pictures:
        return True
    if len(only.branches) >= 2:
        return True
    is_named = only.name.casefold() == around.name.casefold() or is_container(only.name)
    return is_named and not around.pictures
