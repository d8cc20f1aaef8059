"""Classes out of the names of files that are in one folder: cat.0.jpg, dog_12.png."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from workbench.core.format import plain_name, plural
from workbench.core.specs import Inference
from workbench.pictures.class_folders.words import class_in_name
from workbench.pictures.folders import entry_order

_LEAST_SHARE = 0.95
"""Least share of files with a class in their name, for classes to be taken from names without being
asked to."""

_LEAST_IMAGES = 3
"""Images that a class has on average there: names of people or series have fewer."""

_NAMED = 5


def by_name(files: Sequence[str]) -> dict[str, list[str]]:
    """Files by the class in their names; those without one are left out."""
    found: dict[str, list[str]] = {}
    for file in files:
        if name := class_in_name(PurePath(file).stem):
            found.setdefault(name, []).append(file)
    return dict(sorted(found.items(), key=lambda each: entry_order(each[0])))


def is_evident(found: Mapping[str, Sequence[str]], num_files: int) -> bool:
    """Whether the names of files are plainly those of their classes."""
    num_named = sum(map(len, found.values()))
    enough = num_named >= _LEAST_SHARE * num_files and num_named >= _LEAST_IMAGES * len(found)
    return len(found) >= 2 and enough


def names_inference(found: Mapping[str, Sequence[str]], *, is_set: bool) -> Inference:
    """What was taken for the classes."""
    some = ", ".join(f"“{plain_name(name)}”" for name in list(found)[:_NAMED])
    more = ", …" if len(found) > _NAMED else ""
    first = next(iter(found.items()))
    example = f"{plain_name(PurePath(first[1][0]).name)} is “{plain_name(first[0])}”"
    return Inference(
        "class_folders",
        "The classes",
        f"{plural(len(found), 'name')} of files: {some}{more}",
        f"there are no class folders, and {example}",
        "The names may be those of people, places or series instead.",
        param="classes",
        is_told=is_set,
    )
