"""Named versions of a project's data edits: what was edited at some time, to go back to.

A version holds what a user has changed about the images, without where the split is cut: going back
moves no image into another part but those that were moved by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from workbench.core.format import list_text, plural
from workbench.core.projects.data_edits import DataEdits, edits_to_plain, read_edits
from workbench.core.split_marks import SplitMarks

MAX_VERSIONS = 50
"""Each may hold as many edits as a project: the file must stay readable."""

MAX_NAME = 100
_MAX_DATE = 40
_EXPECTED = "an object with name, date and edits"

Report = Callable[[str, Any, str], None]
"""Called with a place in the file, what is there, and what is expected, for what is wrong."""


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
