"""Folders of pictures in words, with what they mean, and whether they are read so.

A layout is written as words: `PATH*N` is N pictures in a folder, `{a,b}` stands for each of some
names, `PATH=file` is a file of another kind. What it means is written as words too:
`CLASS:train/test/validation`, the numbers of pictures of a class.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from workbench.core.specs import LoadedData
from workbench.errors import DatasetError
from workbench.pictures.png import png_bytes

PNG = png_bytes(np.zeros((2, 2, 3), np.uint8))

Outcome = Literal["right", "changeable", "refused", "wrong"]
"""Read right; doubtful, and right by one of the options; refused; wrong without a word."""

Counts = Mapping[str, tuple[int, int, int]]
"""Pictures by class: training, test, validation."""


@dataclass(frozen=True)
class Layout:
    """A folder that somebody publishes.

    Attributes:
        name: Of its style.
        words: Its pictures and files.
        means: Its classes; empty where nobody could tell.
        unused: Pictures that are none of any class.
        outcome: What is to come of it.
    """

    name: str
    words: str
    means: str = ""
    unused: int = 0
    outcome: Outcome = "right"

    @property
    def truth(self) -> Counts:
        """What it means."""
        return dict(_meant(self.means))

    def pictures(self) -> Iterator[str]:
        """The paths of its pictures."""
        for word in self.words.split():
            for path in expanded(word):
                if "*" in path:
                    yield from _numbered(spaced(path))

    def files(self) -> Iterator[str]:
        """The paths of its other files."""
        for word in self.words.split():
            for path in expanded(word):
                if "*" not in path:
                    yield spaced(path)

    def write(self, folder: Path) -> Path:
        """Writes it below a folder; the pictures differ in a byte behind their end."""
        for number, path in enumerate(self.pictures()):
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(PNG + str(number).encode())
        for path in self.files():
            file = folder / path
            if path.endswith("/"):
                file.mkdir(parents=True, exist_ok=True)
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text("about")
        return folder


def spaced(path: str) -> str:
    """A path with the spaces that it cannot have in a layout's words: usual and wide ones."""
    return path.replace("␣", " ").replace("␠", "\u3000")


def expanded(word: str) -> Iterator[str]:
    """`a/{b,c}/d` as a/b/d and a/c/d."""
    pieces = [
        piece.split(",") if at % 2 else [piece] for at, piece in enumerate(re.split(r"[{}]", word))
    ]
    yield from map("".join, itertools.product(*pieces))


def _numbered(path: str) -> Iterator[str]:
    """`a/b*3` as three pictures in a/b; `a/b.#*3` as a/b.0, a/b.1, a/b.2; with an ending of its
    own where the name has one.
    """
    name, _, count = path.rpartition("*")
    for number in range(int(count)):
        file = name.replace("#", str(number)) if "#" in name else f"{name}/{number}"
        yield file if file.endswith((".jpg", ".JPEG", ".ppm", ".jpeg")) else f"{file}.png"


def _meant(text: str) -> Iterator[tuple[str, tuple[int, int, int]]]:
    for word in text.split():
        name, _, numbers = word.rpartition(":")
        train, test, validation = (int(number) for number in f"{numbers}/0/0".split("/")[:3])
        for each in expanded(name):
            yield spaced(each), (train, test, validation)


def counts_of(data: LoadedData) -> Counts:
    """What was read of a folder."""
    parts = (data.train, data.test, data.validation)
    size = len(data.class_names)
    counts = [
        np.bincount(part.labels, minlength=size) if part is not None else np.zeros(size, int)
        for part in parts
    ]
    return {
        name: tuple(int(part[number]) for part in counts)
        for number, name in enumerate(data.class_names)
    }


_COUNT = re.compile(r"([\d,]+) images?\b")


def num_noted(data: LoadedData) -> int:
    """How many pictures the notes and inferences say are not used."""
    aside = [each.doubt for each in data.inferences if each.key == "aside" and not each.is_told]
    notes = [note for note in data.notes if "used" in note]
    found = (_COUNT.search(text) for text in (*notes, *aside))
    return sum(int(match[1].replace(",", "")) for match in found if match)


@dataclass
class Judged:
    """What came of a layout.

    Attributes:
        outcome: As `Outcome`.
        read: What was read; empty where it was refused.
        uncounted: Pictures that are neither used nor counted in a note.
        words: What was said.
    """

    outcome: Outcome
    read: Counts = field(default_factory=dict)
    uncounted: int = 0
    words: str = ""


def judged(load: Any, layout: Layout) -> Judged:
    """Reads a layout with a function of parameters, and with each option where there is a doubt."""
    try:
        data: LoadedData = load({})
    except DatasetError as error:
        return Judged("refused", words=f"{error.what} {error.received} {error.fix}")
    read = counts_of(data)
    used = sum(map(sum, read.values()))
    pictures = [path for path in layout.pictures() if "__MACOSX" not in path]
    uncounted = len(pictures) - used - num_noted(data)
    words = " ".join(data.sentences)
    if same_counts(read, layout.truth):
        return Judged("right", read, uncounted, words)
    for inference in data.inferences:
        for option in inference.options if inference.is_doubtful else ():
            try:
                other = counts_of(load({inference.param: option.value}))
            except DatasetError:
                continue
            if same_counts(other, layout.truth):
                return Judged("changeable", read, uncounted, words)
    return Judged("wrong", read, uncounted, words)


def same_counts(read: Counts, truth: Counts) -> bool:
    """Whether classes and counts are the same; names in one form of Unicode."""
    return {unicodedata.normalize("NFC", name): counts for name, counts in read.items()} == {
        unicodedata.normalize("NFC", name): counts for name, counts in truth.items()
    }
