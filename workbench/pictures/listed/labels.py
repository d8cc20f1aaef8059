"""The true classes of images, from a table."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

from workbench.pictures.listed.files import folded_name
from workbench.pictures.listed.given import Given
from workbench.pictures.listed.table import read_table


class ListedLabels:
    """Which class each image has, from a table that `read_table` reads.

    A path is relative to the table or to a folder that is classified, absolute, or only the name of
    the file, with or without its ending: only such a name also counts for images in other folders.
    Paths are compared without regard to case and to how letters with marks are stored. A name that
    has several labels counts for no image.

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
        self._by_path: dict[str, str] = {}
        self._by_name: dict[str, str] = {}
        bases = [str(path.absolute().parent), *map(os.path.abspath, folders)]
        table = read_table(path, given, folders=folders, classes=classes)
        for row in table.rows:
            if row.name and row.label and not row.problem and "\0" not in row.name:
                self._add(row.name.replace("\\", "/"), row.label, bases)
                found, _ = table.files.file(row.name)
                if found:
                    self._add_path(found, row.label)
        self.sentences = (*(each.sentence for each in table.inferences), *table.notes)

    def of(self, file: str) -> str:
        """The class of an image file; "" where the table has none."""
        path = os.path.abspath(file)  # noqa: PTH100 - a hundred thousand Paths are slow
        for key in (path, folded_name(path)):
            if key in self._by_path:
                return self._by_path[key]
        name = os.path.basename(file)  # noqa: PTH119 - as above
        stem = os.path.splitext(name)[0]  # noqa: PTH122 - as above
        keys = (name, stem, folded_name(name), folded_name(stem))
        return next((self._by_name[key] for key in keys if key in self._by_name), "")

    def _add(self, name: str, label: str, bases: Sequence[str]) -> None:
        for base in bases:
            self._add_path(os.path.normpath(os.path.join(base, name)), label)  # noqa: PTH118 - as above
        if "/" not in name:
            for key in dict.fromkeys((name, folded_name(name))):
                if self._by_name.setdefault(key, label) != label:
                    self._by_name[key] = ""

    def _add_path(self, path: str, label: str) -> None:
        """The first line counts; paths that differ in case only have no label by case."""
        self._by_path.setdefault(path, label)
        key = folded_name(path)
        if key != path and self._by_path.setdefault(key, label) != label:
            self._by_path[key] = ""
