"""The true classes of images, from a table."""

from __future__ import annotations

import os
import posixpath
from collections import defaultdict
from collections.abc import Collection, Sequence
from pathlib import Path

from workbench.core.format import list_text, plain_name, plural
from workbench.pictures.listed.files import folded_name
from workbench.pictures.listed.given import Given
from workbench.pictures.listed.table import read_table


class ListedLabels:
    """Which class each image has, from a table that `read_table` reads.

    A path is relative to the table or to a folder that is classified, absolute, or only the name of
    the file, with or without its ending: only such a name also counts for images in other folders,
    unless its own image is among those that are classified.
    Paths are compared without regard to case and to how letters with marks are stored. An image or
    a name that has several labels counts for no image.

    Args:
        path: The table.
        folders: Those that are classified.
        given: How the table is to be read, as far as a person has set it.
        classes: The classes of the model.

    Attributes:
        sentences: How the table was read.

    Raises:
        DatasetError: it is no such table.
    """

    def __init__(
        self,
        path: Path,
        folders: Sequence[str] = (),
        given: Given | None = None,
        classes: Collection[str] = (),
    ) -> None:
        self._by_path, self._by_name = _Spelled(), _Spelled()
        bases = [str(path.absolute().parent), *map(os.path.abspath, folders)]
        inside = tuple(os.path.join(os.path.abspath(folder), "") for folder in folders)  # noqa: PTH100, PTH118
        table = read_table(path, given, folders=folders, classes=classes)
        rows = [row for row in table.rows if row.name and row.label and not row.problem]
        found = {row.name: table.files.file(row.name)[0] for row in rows if "\0" not in row.name}
        labels: dict[str, set[str]] = defaultdict(set)
        named = [(_image(row.name, found[row.name]), row) for row in rows if row.name in found]
        for image, row in named:
            labels[image].add(row.label)
        for image, row in named:
            label = row.label if len(labels[image]) == 1 else ""
            is_there = found[row.name].startswith(inside)
            self._add(row.name.replace("\\", "/"), label, bases, is_there=is_there)
            if found[row.name]:
                self._by_path.add(found[row.name], label, is_first=True)
        notes = [*table.notes, *_several({each for each in labels if len(labels[each]) > 1})]
        self.sentences = (*(each.sentence for each in table.inferences), *notes)

    def of(self, file: str) -> str:
        """The class of an image file; "" where the table has none."""
        found = self._by_path.find(os.path.abspath(file))  # noqa: PTH100 - a hundred thousand Paths are slow
        if found is not None:
            return found
        name = os.path.basename(file)  # noqa: PTH119 - as above
        stem = os.path.splitext(name)[0]  # noqa: PTH122 - as above
        return self._by_name.find(name) or self._by_name.find(stem) or ""

    def _add(self, name: str, label: str, bases: Sequence[str], *, is_there: bool) -> None:
        for base in bases:
            full = os.path.normpath(os.path.join(base, name))  # noqa: PTH118 - as above
            self._by_path.add(full, label, is_first=True)
        if "/" not in name and not is_there:
            self._by_name.add(name, label)


def _image(name: str, found: str) -> str:
    """The image of a line: its file, or else the path as it is written."""
    return found or posixpath.normpath(name.replace("\\", "/"))


def _several(images: Collection[str]) -> list[str]:
    """A sentence on images that lines give different classes."""
    if not images:
        return []
    some = list_text([plain_name(posixpath.basename(each)) for each in sorted(images)[:3]])
    count = plural(len(images), "image")
    return [f"Lines give {count} several classes, so these count for none: {some}."]


class _Spelled:
    """Labels by names: as they are written, then in any case and Unicode form."""

    def __init__(self) -> None:
        self._exact: dict[str, str] = {}
        self._folded: dict[str, str] = {}

    def add(self, name: str, label: str, *, is_first: bool = False) -> None:
        """A name that has another label already gets none, or keeps it where `is_first`."""
        if self._exact.setdefault(name, label) != label and not is_first:
            self._exact[name] = ""
        key = folded_name(name)
        if self._folded.setdefault(key, label) != label:
            self._folded[key] = ""

    def find(self, name: str) -> str | None:
        """The label of a name; None where it is not known."""
        if name in self._exact:
            return self._exact[name]
        return self._folded.get(folded_name(name))
