"""Search for the files that the cells of a table name: by path, in other spellings, without ending,
elsewhere.
"""

from __future__ import annotations

import os
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from workbench.core.specs import Inference, Option
from workbench.pictures.folders import ENDINGS, is_hidden, is_picture
from workbench.pictures.listed.column import NOT_IMAGES, is_address, is_in_bucket, part_of_word

MOST_FILES = 300_000
"""Image files that are listed below a folder when the paths of a table are not there."""
_MOST_DEPTH = 6
_SAMPLED = 120
_MOST_OPTIONS = 8
_CHECK_EVERY = 64
_ALL = 0.9  # of the found files that are in one folder: the others are not meant

HERE = "."


@dataclass(frozen=True)
class Place:
    """A place where an image file was found.

    Attributes:
        folder: Folder below the table in which the part of the path that fits begins.
        file: Its path.
        fitting: Parts at the end of the path that fit.
        has_ending: Whether the cell names the ending, too.
        is_cut: Whether the cell begins with folders that are not there.
        is_padded: Whether the file has zeros in front that the cell has not.
    """

    folder: str
    file: str
    fitting: int
    has_ending: bool
    is_cut: bool
    is_padded: bool = False


@dataclass
class Files:
    """Finds the files of cells below some folders.

    Attributes:
        folders: Where paths may start: that of the table, and those of the images.
        given: Where they start, as a person has set it; "" where that is inferred.
        check_cancelled: Called while folders are listed.
    """

    folders: Sequence[str]
    given: str = ""
    check_cancelled: Callable[[], None] = lambda: None
    inference: Inference | None = None
    _start: str = ""
    _is_elsewhere: bool = False
    num_respelled: int = 0
    _bases: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._bases = [os.path.join(each, self.given) for each in self.folders]  # noqa: PTH118 - text

    # finding -------------------------------------------------------------------------------

    def share_of(self, cells: Iterable[str], *, is_deep: bool) -> float:
        """The share of some cells that name an image file that is there.

        Args:
            cells: The cells of a column.
            is_deep: Folders below are looked through, too.
        """
        some = _sample(cells)
        if not some:
            return 0.0
        found = sum(bool(self.direct(cell) or (is_deep and self._places(cell))) for cell in some)
        return found / len(some)

    def share_of_single(self, cells: Iterable[str]) -> float:
        """The share of some cells that name one image file below the folders, and all of whose
        folders are there.
        """
        some = _sample(cells)
        found = [[each for each in self._places(cell) if not each.is_cut] for cell in some]
        return sum(len(places) == 1 for places in found) / max(1, len(some))

    def settle(self, cells: Iterable[str]) -> None:
        """Infers from the cells of the column where all paths start."""
        some = _sample(cells)
        direct = sum(bool(self.direct(cell)) for cell in some)
        if self.given:
            self.inference = Inference(
                "image_folder", _WHAT, self.given, param="root", is_told=True
            )
        if self.given or direct * 2 >= len(some):
            return
        places = [found for cell in some if (found := self._places(cell))]
        if not places:
            return
        self._is_elsewhere = True
        counts = Counter(folder for found in places for folder in {each.folder for each in found})
        best = max(counts, key=lambda folder: (_is_likely(folder), counts[folder], folder))
        best = (
            best if counts[best] * 2 > max(counts.values()) else max(counts, key=counts.__getitem__)
        )
        has_rivals = sum(len(found) > 1 for found in places) * 10 > len(places)
        if has_rivals or counts[best] >= _ALL * len(places):
            self._start = best
        rivals = [each for each, number in counts.items() if number * 2 > counts[best]]
        rivals = [each for each in rivals if each not in {best, HERE}] if has_rivals else []
        self.inference = _inference(self._start, places, len(some), rivals[:_MOST_OPTIONS])

    def file(self, cell: str) -> tuple[str, str]:
        """The file of a cell, and why it cannot be used; one of the two is ""."""
        is_web = is_address(cell) and not (is_in_bucket(cell) and self._places(cell))
        if not cell or "\0" in cell or is_web:
            return "", "This is a web address." if is_web else "The line names no image."
        found = self.direct(cell)
        if found:
            return found, "" if is_picture(found) else "This file is not an image."
        places = self._fitting(cell)
        if len(places) > 1:
            return "", "Several image files could be meant."
        if places:
            self.num_respelled += not self._is_elsewhere
            return places[0].file, ""
        return "", "There is no such image file."

    def direct(self, cell: str) -> str:
        """The file that a cell names as it is written, also as Windows writes it; "" for none."""
        if not cell or "\0" in cell:
            return ""
        for name in (cell, cell.replace("\\", "/")) if "\\" in cell else (cell,):
            for base in self._bases:
                path = os.path.normpath(os.path.join(base, self._start, name))  # noqa: PTH118 - a hundred thousand Paths are slow
                if _is_file(path):
                    return path
        return ""

    def other_numbers(self, used: Collection[str]) -> tuple[str, ...]:
        """Image files below the folders with numbers for names that are not among some files."""
        return tuple(path for path, own in self._listed if _number_of(own[-1]) and path not in used)

    def missing(self, cell: str) -> str:
        """How messages name a file that is not there."""
        name = cell.replace("\0", "?")
        return os.path.normpath(os.path.join(self._bases[0], self._start, name))  # noqa: PTH118 - as above

    def _fitting(self, cell: str) -> list[Place]:
        """The files that are where the others are and fit most of the path."""
        start = self._start if self._is_elsewhere else HERE
        places = [each for each in self._places(cell) if not start or each.folder == start]
        most = max((each.fitting for each in places), default=0)
        return [each for each in places if each.fitting == most]

    def _places(self, cell: str) -> list[Place]:
        """Files below the folders whose paths end as the cell does, in any spelling."""
        if not cell or (is_address(cell) and not is_in_bucket(cell)):
            return []
        parts = _parts(cell)
        if not parts:
            return []
        found = [_place(full, own, parts) for full, own in self._by_name.get(parts[-1], ())]
        if not found:
            found = [_place(full, own, parts) for full, own in self._by_stem.get(parts[-1], ())]
        number = _number_of(parts[-1])
        if not found and number and len(parts) == 1:
            found = [_place(full, own, parts) for full, own in self._by_number.get(number, ())]
        return [each for each in found if each is not None]

    # the files below the folders -----------------------------------------------------------

    @cached_property
    def _listed(self) -> list[tuple[str, tuple[str, ...]]]:
        """Image files below the folders: path, and its parts from there, folded."""
        found: list[tuple[str, tuple[str, ...]]] = []
        seen: set[str] = set()
        for base in self._bases:
            for path in _image_files(base, self.check_cancelled):
                if len(found) >= MOST_FILES:
                    return found
                if path not in seen:
                    seen.add(path)
                    found.append((path, Path(os.path.relpath(path, base)).parts))
        return found

    @cached_property
    def _by_name(self) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
        index = defaultdict(list)
        for path, parts in self._listed:
            index[folded_name(parts[-1])].append((path, parts))
        return index

    @cached_property
    def _by_stem(self) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
        index = defaultdict(list)
        for path, parts in self._listed:
            index[folded_name(os.path.splitext(parts[-1])[0])].append((path, parts))  # noqa: PTH122 - text
        return index

    @cached_property
    def _by_number(self) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
        """Files whose names are numbers, by those without the zeros that spreadsheets drop."""
        index = defaultdict(list)
        for path, parts in self._listed:
            if number := _number_of(parts[-1]):
                index[number].append((path, parts))
        return index


def _number_of(name: str) -> str:
    """A name that is a number, without zeros in front, its ending and ".0"; "" for another name."""
    stem, ending = os.path.splitext(name)  # noqa: PTH122 - text
    if ending and ending.lower() not in ENDINGS and ending.strip(".0"):
        return ""
    return stem.lstrip("0") or "0" if stem.isdecimal() else ""


def folded_name(name: str) -> str:
    """A file's name without regard to case and to how letters with marks are stored."""
    return unicodedata.normalize("NFC", name).casefold()


def _is_file(path: str) -> bool:
    try:
        return os.path.isfile(path)  # noqa: PTH113 - a hundred thousand Paths are slow
    except (OSError, ValueError):
        return False


def _image_files(base: str, check_cancelled: Callable[[], None]) -> Iterable[str]:
    """Visible image files below a folder, by their endings."""
    depth = base.rstrip(os.sep).count(os.sep)
    for number, (folder, inner, names) in enumerate(os.walk(base)):
        if number % _CHECK_EVERY == 0:
            check_cancelled()
        is_deepest = folder.count(os.sep) - depth >= _MOST_DEPTH
        inner[:] = [] if is_deepest else sorted(name for name in inner if not is_hidden(name))
        for name in sorted(names):
            is_image = os.path.splitext(name)[1].lower() in ENDINGS  # noqa: PTH122 - text
            if is_image and not is_hidden(name):
                yield os.path.join(folder, name)  # noqa: PTH118 - as above


def _parts(cell: str) -> tuple[str, ...]:
    """The parts of a path, folded; also as Windows writes it."""
    parts = folded_name(cell).replace("\\", "/").split("/")
    return tuple(part for part in parts if part not in {"", ".", ".."} and not part.endswith(":"))


def _place(path: str, own: tuple[str, ...], parts: tuple[str, ...]) -> Place | None:
    """How far the end of a cell fits a file; None where neither the whole cell nor the whole path
    of the file fits: another folder is meant.
    """
    fitting = 1
    while fitting < min(len(own), len(parts)):
        if folded_name(own[-1 - fitting]) != parts[-1 - fitting]:
            break
        fitting += 1
    if fitting < min(len(own), len(parts)):
        return None
    folder = "/".join(own[: len(own) - fitting]) or HERE
    name, is_cut = folded_name(own[-1]), fitting < len(parts)
    stem = os.path.splitext(name)[0]  # noqa: PTH122 - text
    has_zeros = _number_of(name) not in {"", stem}
    is_padded = has_zeros and not name.startswith(parts[-1])
    return Place(folder, path, fitting, name == parts[-1], is_cut, is_padded)


def _is_likely(folder: str) -> int:
    """Whether a folder sounds like that of the images to learn from, and not of masks."""
    name = folder.rsplit("/", 1)[-1]
    if any(piece in name.casefold() for piece in NOT_IMAGES):
        return -1
    return int(part_of_word(name) == "train")


def _sample(cells: Iterable[str]) -> list[str]:
    """A sample of the different values of a column, from all over it."""
    values = [value for value in dict.fromkeys(cells) if value]
    return values[:: max(1, len(values) // _SAMPLED)][:_SAMPLED]


_WHAT = "The folder of the images"


def _inference(
    start: str, places: Collection[Sequence[Place]], sampled: int, rivals: Sequence[str]
) -> Inference:
    """The inference in which folder the images are, and how sure that is."""
    whole = all(each.has_ending for found in places for each in found)
    names = "names" if whole else "names without their ending"
    evidence = f"{len(places)} of {sampled} {names} are files there"
    doubts = {
        "The same names are files of other folders, too.": bool(rivals),
        "Most of the files are not there.": len(places) * 2 < sampled,
        "The paths begin with folders that are not there.": any(
            each.is_cut for found in places for each in found
        ),
        "The files have zeros in front that the table has not.": any(
            each.is_padded for found in places for each in found
        ),
    }
    options = tuple(Option(each, each) for each in rivals)
    value = (start if start != HERE else "the folder of the table") or "folders below the table"
    doubt = " ".join(words for words, is_so in doubts.items() if is_so)
    return Inference("image_folder", _WHAT, value, evidence, doubt, "root", options)
