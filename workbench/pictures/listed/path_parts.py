"""Which folder of the paths of a table, or which word of their file names, names the part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.pictures.class_folders.words import part_name, tokens
from workbench.pictures.listed.names import part_of_word

_PARTS = {"train", "test", "validation", "evaluation"}
_FILE = -1  # the place of the file name


@dataclass(frozen=True)
class PathParts:
    """The words of paths that name parts.

    Attributes:
        place: Index of the folder in each path, from 0; negative from the end: -1 is the first
            word of the file name, -2 the folder of the file.
        has_test: Whether one of them is plainly the test part.
        words: Those that were found, for people.
    """

    place: int = 0
    has_test: bool = False
    words: tuple[str, ...] = ()

    @property
    def is_of_names(self) -> bool:
        """Whether the names of the files have the words, not their folders."""
        return self.place == _FILE

    def part_of(self, path: str) -> str:
        """The part of an image; "train" for a path without the word of a part."""
        pieces = _pieces(path)
        is_there = -len(pieces) <= self.place < len(pieces) - 1
        kind = _kind(pieces, self.place)[0] if is_there else ""
        if kind == "evaluation":
            return "validation" if self.has_test else "test"
        return kind or "train"


def path_parts(paths: Sequence[str]) -> PathParts | None:
    """The place at which all paths have the word of a part, train and another one; None where there
    is none. Folders go before file names, the outermost first.
    """
    pieces = [_pieces(path) for path in paths]
    least = min(map(len, pieces), default=0)
    for place in (*range(least - 1), *range(-least, _FILE), _FILE):
        kinds = _kinds(pieces, place)
        if "train" in kinds and len(kinds) > 1:
            return PathParts(place, "test" in kinds, tuple(sorted(kinds)))
    return None


def _kinds(pieces: Sequence[Sequence[str]], place: int) -> set[str]:
    """The kinds of parts at a place; none where a path has another word, or other words beside."""
    found = set()
    for each in pieces:
        kind, rest = _kind(each, place)
        if not kind:
            return set()
        found.add((kind, rest))
    return {kind for kind, _ in found} if len({rest for _, rest in found}) == 1 else set()


def _kind(pieces: Sequence[str], place: int) -> tuple[str, tuple[str, ...]]:
    """The part at a place and the other words there; "" for none."""
    name = pieces[place] if pieces else ""
    if place == _FILE:
        name = next(iter(tokens(name)), "")
    if not name:
        return "", ()
    found = part_name(name)
    if found and found.kind in _PARTS:
        return found.kind, found.rest
    return part_of_word(name) or "", ()


def _pieces(path: str) -> list[str]:
    """The folders of a path, from the outermost, and its file name."""
    pieces = path.replace("\\", "/").split("/")
    return [each for each in pieces[:-1] if each not in {"", ".", ".."}] + pieces[-1:]
