"""The listed images, a filter, and their order. Qt-free.

A hundred thousand images are a few arrays and one list of names: no object for each.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from workbench.protocol.describe_data import ImagePlace, ListedImages

Order = Literal["data", "name", "large", "small"]
ORDERS: dict[Order, str] = {
    "data": "As in the data set",
    "name": "By name",
    "large": "Largest files first",
    "small": "Smallest files first",
}

Numbers = np.ndarray[Any, np.dtype[np.int64]]
ANY = -1


@dataclass(frozen=True)
class Shown:
    """What is to be shown.

    Attributes:
        label: Number of a class, or ANY.
        part: Name of a part; "" for all.
        words: In the name of the file, whatever the case.
        order: How they are sorted.
    """

    label: int = ANY
    part: str = ""
    words: str = ""
    order: Order = "data"


class Images:
    """The images of a data set, in the order of their listing."""

    def __init__(self) -> None:
        self._labels = array("i")
        self._sizes = array("q")
        self._parts = array("b")
        self._indices = array("i")
        self._folders: dict[str, int] = {}
        self._in_folder = array("i")
        self.names: list[str] = []
        self.parts: list[str] = []
        self._by_name: Numbers | None = None

    def __len__(self) -> int:
        return len(self.names)

    def add(self, listed: ListedImages) -> None:
        """Appends one chunk of the listing."""
        if listed.part not in self.parts:
            self.parts.append(listed.part)
        number = len(listed.files)
        self._labels.extend(listed.labels)
        self._sizes.extend(listed.sizes)
        self._parts.extend([self.parts.index(listed.part)] * number)
        self._indices.extend(range(listed.start, listed.start + number))
        for file in listed.files:
            folder, name = os.path.split(file)
            self._in_folder.append(self._folders.setdefault(folder, len(self._folders)))
            self.names.append(name)
        self._by_name = None

    def place(self, number: int) -> ImagePlace:
        """What an image is meant by in requests."""
        return ImagePlace(self.parts[self._parts[number]], self._indices[number])

    def file(self, number: int) -> str:
        """The file of an image; "" where it is in none."""
        name = self.names[number]
        folders = list(self._folders)  # few, in the order of their numbers
        return os.path.join(folders[self._in_folder[number]], name) if name else ""  # noqa: PTH118 - text

    def label(self, number: int) -> int:
        """The number of an image's class."""
        return self._labels[number]

    def size(self, number: int) -> int:
        """Bytes of an image's file; 0 where it is in none."""
        return self._sizes[number]

    def chosen(self, shown: Shown) -> Numbers:
        """Numbers of the images to show, in their order."""
        found = np.arange(len(self.names))
        if shown.order == "name":
            found = self._sorted_names()
        elif shown.order != "data":
            sizes = np.frombuffer(self._sizes, np.int64)
            found = np.argsort(-sizes if shown.order == "large" else sizes, kind="stable")
        if shown.label != ANY:
            found = found[np.frombuffer(self._labels, np.intc)[found] == shown.label]
        if shown.part in self.parts:
            part = self.parts.index(shown.part)
            found = found[np.frombuffer(self._parts, np.int8)[found] == part]
        if words := shown.words.casefold().strip():
            found = found[[words in self.names[number].casefold() for number in found]]
        return np.array(found, np.int64)

    def unreadable(self, numbers: Numbers, bad_files: Collection[str]) -> int:
        """How many of some images are in files that cannot be read."""
        names = {os.path.basename(file) for file in bad_files}  # noqa: PTH119 - text
        found = (each for each in numbers.tolist() if self.names[each] in names) if names else ()
        return sum(self.file(each) in bad_files for each in found)

    def _sorted_names(self) -> Numbers:
        if self._by_name is None:
            keys: Sequence[str] = [name.casefold() for name in self.names]
            order = sorted(range(len(keys)), key=keys.__getitem__)
            self._by_name = np.array(order, np.int64)
        return self._by_name
