"""What the user has changed about a data set without touching its files.

An image is meant by its content: the first half of its sha256, as hexadecimal digits. So an edit
stays with the image when a file is renamed or moved, and holds for each exact copy of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, cast, get_args

from workbench.core.format import list_text, plural
from workbench.core.specs.dataset import SplitMarks, marks_to_plain, read_marks

_EMPTY: Mapping[str, Any] = MappingProxyType({})

PartName = Literal["train", "validation", "test"]
"""A part of a data set."""

PART_NAMES: tuple[PartName, ...] = get_args(PartName)

CONTENT_DIGITS = 32
"""Hexadecimal digits by which the content of an image is identified."""

MAX_EDITS = 1_000_000
_MAX_NAME = 1_000
_CONTENT = re.compile(f"[0-9a-f]{{{CONTENT_DIGITS}}}")

Report = Callable[[str, Any, str], None]
"""Called with a place in the file, what is there, and what is expected, for what is wrong."""


@dataclass(frozen=True)
class DataEdits:
    """Changes of a data set, applied whenever it is loaded. True when there are any.

    Attributes:
        left_out: Contents of the images that are not used.
        once: Contents of the images of which one copy is used, however many there are.
        labels: Content -> name of the class that the image belongs to instead, as the data set
            names its classes.
        parts: Content -> the part that the image belongs to instead.
        kept: Keys of the findings of the data check that need no change.
        classes: Name of a class in the data set -> its name in this project; several with one
            name are merged, "" leaves the class out.
        tags: Content -> a tag of the image, by which an evaluation is sliced; changes no training.
        split: Where the split by content is cut. Nothing that a user has changed, but it is here
            because it goes wherever the edits go: with them it makes a run's parts what they are,
            so it must be in each request and model card beside them.
    """

    left_out: frozenset[str] = frozenset()
    once: frozenset[str] = frozenset()
    labels: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    parts: Mapping[str, PartName] = field(default_factory=lambda: _EMPTY)
    kept: frozenset[str] = frozenset()
    classes: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    tags: Mapping[str, str] = field(default_factory=lambda: _EMPTY)
    split: SplitMarks = field(default_factory=SplitMarks)

    def __bool__(self) -> bool:
        return any(getattr(self, each.name) for each in fields(self))

    @property
    def names_images(self) -> bool:
        """Whether single images are changed: their contents must then be known."""
        return bool(self.left_out or self.once or self.labels or self.parts)

    @property
    def changes_data(self) -> bool:
        """Whether any image or class is changed."""
        return self.names_images or bool(self.classes)


def changed_images(before: DataEdits, after: DataEdits) -> frozenset[str]:
    """Contents of the images whose label or part differs, or that one of the two leaves out."""
    changed = set(before.left_out ^ after.left_out)
    for old, new in ((before.labels, after.labels), (before.parts, after.parts)):
        changed |= {each for each in {*old, *new} if old.get(each) != new.get(each)}
    return frozenset(changed)


def edits_to_plain(edits: DataEdits) -> dict[str, Any]:
    """The edits as JSON values, in the order of their names; empty fields are left out."""
    plain: dict[str, Any] = {}
    for each in fields(edits):
        value = getattr(edits, each.name)
        if isinstance(value, SplitMarks):
            plain |= {each.name: marks_to_plain(value)} if value else {}
        elif value:
            is_set = isinstance(value, frozenset)
            plain[each.name] = sorted(value) if is_set else dict(sorted(value.items()))
    return plain


def read_edits(plain: Any, report: Report) -> DataEdits:
    """The edits of JSON values; what is wrong is reported and left out."""
    if not isinstance(plain, dict):
        report("edits", plain, "an object")
        return DataEdits()
    reader = _Reader(plain, report)
    return DataEdits(
        left_out=reader.texts("left_out", is_content),
        once=reader.texts("once", is_content),
        labels=_composed(reader.mapping("labels", is_content, _is_name)),
        parts=cast("Mapping[str, PartName]", reader.mapping("parts", is_content, _is_part)),
        kept=reader.texts("kept", _is_name),
        classes=_composed(
            reader.mapping("classes", _is_name, lambda text: text == "" or _is_name(text))
        ),
        tags=reader.mapping("tags", is_content, _is_name),
        split=read_marks(plain.get("split", {}), report, "edits.split"),
    )


def _composed(names: Mapping[str, str]) -> Mapping[str, str]:
    """Names of classes with composed letters (NFC), as sources give them: earlier versions kept
    those of macOS as they were.
    """
    form = partial(unicodedata.normalize, "NFC")
    return {form(key): form(name) for key, name in names.items()}


def is_content(text: object) -> bool:
    """Whether a text is one that identifies the content of an image."""
    return isinstance(text, str) and _CONTENT.fullmatch(text) is not None


def _is_name(text: object) -> bool:
    return isinstance(text, str) and 0 < len(text) <= _MAX_NAME


def _is_part(text: object) -> bool:
    return text in PART_NAMES


@dataclass(frozen=True)
class _Reader:
    plain: Mapping[str, Any]
    report: Report

    def texts(self, key: str, is_valid: Callable[[object], bool]) -> frozenset[str]:
        value = self.plain.get(key, [])
        if isinstance(value, list) and len(value) <= MAX_EDITS and all(map(is_valid, value)):
            return frozenset(value)
        self.report(f"edits.{key}", value, "a list of valid texts")
        return frozenset()

    def mapping(
        self,
        key: str,
        is_key: Callable[[object], bool],
        is_value: Callable[[object], bool],
    ) -> Mapping[str, str]:
        value = self.plain.get(key, {})
        if (
            isinstance(value, dict)
            and len(value) <= MAX_EDITS
            and all(is_key(each) and is_value(value[each]) for each in value)
        ):
            return value
        self.report(f"edits.{key}", value, "an object of valid texts")
        return _EMPTY


# data versions -------------------------------------------------------------------------------
# Named versions of a project's data edits: what was edited at some time, to go back to.
#
# A version holds what a user has changed about the images, without where the split is cut: going
# back moves no image into another part but those that were moved by hand.

MAX_VERSIONS = 50
"""Each may hold as many edits as a project: the file must stay readable."""

MAX_NAME = 100
_MAX_DATE = 40
_EXPECTED = "an object with name, date and edits"


@dataclass(frozen=True)
class DataVersion:
    """What was edited about the images when the version was saved.

    Attributes:
        name: Words of the user; each version of a project has its own.
        date: When it was saved, ISO 8601 in UTC to the second.
        edits: Without marks of the split.
    """

    name: str
    date: str
    edits: DataEdits


Versions = tuple[DataVersion, ...]
"""All data versions of a project, the oldest first."""


def with_version(versions: Versions, name: str, edits: DataEdits) -> Versions:
    """The versions with another one at the end, in place of one with its name."""
    date = datetime.now(UTC).isoformat(timespec="seconds")
    others = (each for each in versions if each.name != name)
    return (*others, DataVersion(name, date, replace(edits, split=SplitMarks())))


def version_named(versions: Versions, name: str) -> DataVersion | None:
    """The version with a name; None where there is none."""
    return next((each for each in versions if each.name == name), None)


def edits_of_version(version: DataVersion, now: DataEdits) -> DataEdits:
    """The edits of a project that goes back to a version: the split stays where it is cut."""
    return replace(version.edits, split=now.split)


def version_of(versions: Versions, edits: DataEdits) -> str:
    """Name of the newest version with these edits of the data; "" where none has them.

    Which findings need no change is no edit of the data.
    """
    wanted = _data_of(edits)
    return next((each.name for each in reversed(versions) if _data_of(each.edits) == wanted), "")


def _data_of(edits: DataEdits) -> DataEdits:
    return replace(edits, split=SplitMarks(), kept=frozenset())


def difference_words(before: DataEdits, after: DataEdits) -> str:
    """How many edits differ between two states, in words: "3 labels and 1 class"; "" for none."""
    sets = (
        (before.left_out ^ after.left_out, "image left out", "images left out"),
        (before.once ^ after.once, "group of copies", "groups of copies"),
        (before.kept ^ after.kept, "kept finding", "kept findings"),
    )
    maps = (
        (before.labels, after.labels, "label", "labels"),
        (before.parts, after.parts, "image moved", "images moved"),
        (before.classes, after.classes, "class", "classes"),
        (before.tags, after.tags, "tag", "tags"),
    )
    counts = [
        (sum(old.get(key) != new.get(key) for key in {*old, *new}), one, many)
        for old, new, one, many in maps
    ]
    counts[1:1] = [(len(different), one, many) for different, one, many in sets]
    words = [plural(number, one, many) for number, one, many in counts if number]
    return list_text(words) if words else ""


def is_name(text: object) -> bool:
    """Whether a text can be the name of a version."""
    return isinstance(text, str) and 0 < len(text.strip()) <= MAX_NAME and text.isprintable()


def versions_to_plain(versions: Iterable[DataVersion]) -> list[dict[str, Any]]:
    """The versions as JSON values."""
    return [
        {"name": each.name, "date": each.date, "edits": edits_to_plain(each.edits)}
        for each in versions
    ]


def read_versions(plain: Any, report: Report) -> Versions:
    """The versions of JSON values; each that is wrong is reported with its place, and left out."""
    if not isinstance(plain, list) or len(plain) > MAX_VERSIONS:
        report("data_versions", plain, f"a list of at most {MAX_VERSIONS} versions")
        return ()
    versions: dict[str, DataVersion] = {}
    for index, item in enumerate(plain):
        place = f"data_versions[{index}]"
        if not _is_version(item):
            report(place, item, _EXPECTED)
        elif item["name"] in versions:
            report(f"{place}.name", item["name"], "a name that no version before it has")
        else:
            edits = read_edits(item["edits"], _below(place, report))
            versions[item["name"]] = DataVersion(item["name"], item["date"], edits)
    return tuple(versions.values())


def _below(place: str, report: Report) -> Report:
    """Reports what is wrong in a version's edits with the version's place."""
    return lambda inner, received, expected: report(f"{place}.{inner}", received, expected)


def _is_version(item: object) -> bool:
    if not isinstance(item, dict) or not is_name(item.get("name")):
        return False
    date = item.get("date")
    is_date = isinstance(date, str) and 0 < len(date) <= _MAX_DATE and date.isprintable()
    return is_date and isinstance(item.get("edits"), dict)
