"""Folders that hold the parts of a data set, by their names."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from workbench.core.class_names import Key, folded
from workbench.core.projects.data_edits import PartName as Part
from workbench.pictures.class_folders.tree import Branch
from workbench.pictures.class_folders.words import (
    PartName,
    class_and_part,
    is_container,
    part_name,
    tokens,
)

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
