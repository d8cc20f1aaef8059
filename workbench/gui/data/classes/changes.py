"""Renaming, merging and leaving out classes, as values of `DataEdits.classes`. Qt-free.

A class of the project is known by its name there; it has one class of the data set or more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from workbench.core.specs.edited_classes import edited_classes

Classes = Mapping[str, str]
LEFT_OUT = ""


def renamed(own: Sequence[str], classes: Classes, names: Collection[str], name: str) -> Classes:
    """Changes in which classes of the project get one name: a single one is renamed, several are
    merged, and "" leaves them out.

    Args:
        own: The classes of the data set.
        classes: What was changed before.
        names: Classes of the project.
        name: Their new name; where another class has it already, they join that one.
    """
    wanted = {each: classes.get(each, each) for each in own}
    chosen = {each: name for each, now in wanted.items() if now in names and now}
    return _shortest({**wanted, **chosen}, classes)


def restored(own: Sequence[str], classes: Classes, name: str) -> Classes:
    """A class of the data set has its own name again."""
    return _shortest({**{each: classes.get(each, each) for each in own}, name: name}, classes)


def num_classes(own: Sequence[str], classes: Classes) -> int:
    """How many classes are left."""
    return len(edited_classes(own, classes).names)


def own_names(own: Sequence[str], classes: Classes, name: str) -> list[str]:
    """The classes of the data set that a class of the project has."""
    return [each for each in own if classes.get(each, each) == name]


def _shortest(wanted: Mapping[str, str], before: Classes) -> Classes:
    """Without names that stay; those of classes that are not there now are kept."""
    changed = {each: name for each, name in wanted.items() if each != name}
    return {**{each: before[each] for each in before if each not in wanted}, **changed}
