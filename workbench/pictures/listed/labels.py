"""The true classes of images, from a table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from workbench.pictures.listed.table import read_table


class ListedLabels:
    """Which class each image has, from a CSV file with columns path and label.

    A path is relative to the table or to a folder that is classified, absolute, or only the name of
    the file, with or without its ending: only such a name also counts for images in other folders.
    A name that has several labels counts for no image.

    Args:
        path: The table.
        folders: Those that are classified.

    Raises:
        DatasetError: it is no such table.
    """

    def __init__(self, path: Path, folders: Sequence[str] = ()) -> None:
        self._by_path: dict[str, str] = {}
        self._by_name: dict[str, str] = {}
        bases = [str(path.absolute().parent), *map(os.path.abspath, folders)]
        for _, name, label, _ in read_table(path).rows:
            if name and label and "\0" not in name:
                self._add(name.replace("\\", "/"), label, bases)

    def of(self, file: str) -> str:
        """The class of an image file; "" where the table has none."""
        found = self._by_path.get(os.path.abspath(file))  # noqa: PTH100 - a hundred thousand Paths are slow
        if found is not None:
            return found
        name = os.path.basename(file)  # noqa: PTH119 - as above
        stem = os.path.splitext(name)[0]  # noqa: PTH122 - as above
        return self._by_name.get(name) or self._by_name.get(stem) or ""

    def _add(self, name: str, label: str, bases: Sequence[str]) -> None:
        for base in bases:
            full = os.path.normpath(os.path.join(base, name))  # noqa: PTH118 - as above
            self._by_path.setdefault(full, label)
        if "/" not in name and self._by_name.setdefault(name, label) != label:
            self._by_name[name] = ""
