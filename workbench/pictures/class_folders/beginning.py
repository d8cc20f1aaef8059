"""Finds the folder in a tree at which the classes or the parts begin, behind folders around all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from workbench.core.class_names import KnownNames
from workbench.core.format import plain_name
from workbench.core.specs import Inference, Option
from workbench.errors import DatasetError
from workbench.pictures.class_folders.levels import Level, aside_of
from workbench.pictures.class_folders.parts import part_folders
from workbench.pictures.class_folders.tree import Branch
from workbench.pictures.class_folders.unused import quoted
from workbench.pictures.class_folders.words import is_container

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
