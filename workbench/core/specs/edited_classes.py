"""The classes of a data set after the user has renamed, merged or left out some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class EditedClasses:
    """The classes of a data set after edits.

    Attributes:
        names: In the order in which the data set has the first class of each name.
        numbers: For each class of the data set, the number of its class in `names`; -1 for one
            that is left out.
    """

    names: tuple[str, ...]
    numbers: tuple[int, ...]


def edited_classes(names: Sequence[str], classes: Mapping[str, str]) -> EditedClasses:
    """The classes that a data set of these has in a project, by its edits (`DataEdits.classes`)."""
    wanted = [classes.get(name, name) for name in names]
    kept = tuple(dict.fromkeys(name for name in wanted if name))
    places = {name: number for number, name in enumerate(kept)}
    return EditedClasses(kept, tuple(places.get(name, -1) for name in wanted))
