"""What the user has changed about a data set without touching its files.

An image is meant by its content: the first half of its sha256, as hexadecimal digits. So an edit
stays with the image when a file is renamed or moved, and holds for each exact copy of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from types import MappingProxyType
from typing import Any, Literal, cast, get_args

from workbench.core.split_marks import SplitMarks, marks_to_plain, read_marks

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
