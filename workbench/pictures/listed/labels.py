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
        self._by_path, self._by_name = _Spelled(), _Spelled()
        bases = [str(path.absolute().parent), *map(os.path.abspath, folders)]
        table = read_table(path, given, folders=folders, classes=classes)
        for row in table.rows:
            if row.name and row.label and not row.problem and "\0" not in row.name:
                self._add(row.name.replace("\\", "/"), row.label, bases)
                found, _ = table.files.file(row.name)
                if found:
                    self._by_path.add(found, row.label, is_first=True)
        self.sentences = (*(each.sentence for each in table.inferences), *table.notes)

    def of(self, file: str) -> str:
        """The class of an image file; "" where the table has none."""
        found = self._by_path.find(os.path.abspath(file))  # noqa: PTH100 - a hundred thousand Paths are slow
        if found is not None:
            return found
        name = os.path.basename(file)  # noqa: PTH119 - as above
        stem = os.path.splitext(name)[0]  # noqa: PTH122 - as above
        return self._by_name.find(name) or self._by_name.find(stem) or ""

    def _add(self, name: str, label: str, bases: Sequence[str]) -> None:
        for base in bases:
            full = os.path.normpath(os.path.join(base, name))  # noqa: PTH118 - as above
            self._by_path.add(full, label, is_first=True)
        if "/" not in name:
            self._by_name.add(name, label)


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
