"""Which number is black and which is white in image files of more than 8 bits: one answer for all
files of a data set, so that their brightness can be compared.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from workbench.core.specs import FilePart, Inference, LoadContext, LoadedData, Option, Part
from workbench.core.storage.foreign_file import open_foreign
from workbench.pictures.portable.decoding import ImageError, deep_values, read_file
from workbench.pictures.portable.ranges import (
    EACH,
    Evidence,
    Range,
    evidence_of,
    infer,
    range_words,
    read_range,
    stretched,
)

_HEADS = 400
"""Files whose first bytes are looked at."""

_HEAD_BYTES = 32
_DECODED = 32
"""Files that are decoded to see their numbers..."""

_DECODED_BYTES = 64 * 2**20
"""...but no more than so many bytes."""

_SHALLOW = (".jpg", ".jpeg", ".gif", ".bmp", ".webp", ".avif", ".heic", ".ico", ".qoi", ".tga")
"""Formats of 8 bits: such names are not looked into."""

_WHOLE = Range(0, 65_535)
_NUMBERS = 20_000
"""Numbers of each image that are kept."""


def with_value_range(loaded: LoadedData, params: Mapping[str, Any], ctx: LoadContext) -> LoadedData:
    """The data set with the range of its files of more than 8 bits, given or inferred.

    Args:
        loaded: As the source gives it.
        params: Parameters of the source; its `range` is "auto", "each" or LOW-HIGH.
        ctx: Cancels the reading of files.
    """
    given = str(params.get("range", EACH))
    paths = [path for part in loaded.parts if isinstance(part, FilePart) for path in part.paths]
    if given == EACH or not paths:
        return loaded
    if read_range(given) is not None:
        found = Inference("value_range", _WHAT, range_words(given), is_told=True, param="range")
        return _with(loaded, given, (found,) if _evidence(_marks(paths), ctx) else ())
    known = _evidence(_marks(paths), ctx)
    if not known:
        return loaded
    text, inference = _inferred(known)
    return _with(loaded, text, (inference,))


_WHAT = "The value range of images of more than 8 bits"


def as_trained(loaded: LoadedData, value_range: str) -> LoadedData:
    """The data set with the range that a model was trained with, whatever its own is."""
    return _with(loaded, value_range, ())


def _with(loaded: LoadedData, text: str, found: tuple[Inference, ...]) -> LoadedData:
    def ranged(part: Part | None) -> Part | None:
        return replace(part, value_range=text) if isinstance(part, FilePart) else part

    train = ranged(loaded.train)
    assert train is not None  # noqa: S101 - for the type
    return replace(
        loaded,
        train=train,
        test=ranged(loaded.test),
        validation=ranged(loaded.validation),
        inferences=(*loaded.inferences, *found),
    )


def _marks(paths: Sequence[str]) -> tuple[tuple[str, int, int], ...]:
    """A sample of the files that may have more than 8 bits, spread evenly: path, size and time of
    change.
    """
    named = [path for path in paths if not path.lower().endswith(_SHALLOW)]
    chosen = named[:: max(1, len(named) // _HEADS)]
    return tuple(mark for path in chosen if (mark := _mark(path)) is not None)


def _mark(path: str) -> tuple[str, int, int] | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - hundreds of them
    except (OSError, ValueError):
        return None
    return path, status.st_size, status.st_mtime_ns


def _evidence(marks: tuple[tuple[str, int, int], ...], ctx: LoadContext) -> tuple[Evidence, ...]:
    ctx.check_cancelled()
    return _read_evidence(marks)


@lru_cache(maxsize=8)
def _read_evidence(marks: tuple[tuple[str, int, int], ...]) -> tuple[Evidence, ...]:
    """What is known of the numbers of some files: one for each type of numbers."""
    deep = [mark for mark in marks if _may_be_deep(mark[0])]
    found: dict[str, Evidence] = {}
    total = 0
    for path, size, _ in deep[:: max(1, len(deep) // _DECODED)]:
        total += size
        if total > _DECODED_BYTES and found:
            break
        for name, known in _of_file(path):
            found[name] = found[name].joined(known) if name in found else known
    return tuple(found.values())


def _may_be_deep(path: str) -> bool:
    """Whether a file may have more than 8 bits, by its first bytes."""
    try:
        with open_foreign(path) as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return False
    if head.startswith(b"\x89PNG"):
        return head[24:25] == b"\x10"  # bits of a number
    return head.startswith((b"II", b"MM", b"\xff\x4f\xff\x51", b"\0\0\0\x0cjP"))


def _of_file(path: str) -> Iterator[tuple[str, Evidence]]:
    try:
        values = deep_values(read_file(path))
    except (OSError, ImageError):  # the check of the data names such files
        return
    if values is not None and values.size:
        values = values.astype(values.dtype.newbyteorder("="), copy=False)
        yield values.dtype.name, evidence_of(values, _NUMBERS)


def _inferred(known: Sequence[Evidence]) -> tuple[str, Inference]:
    """The range of all files, and how it was found; "" where each has the one of its format."""
    ranges = {_range_of(each).text: _range_of(each) for each in known}
    if len(ranges) > 1:
        texts = [range_words(text) for text in ranges]
        doubt = f"Their numbers have several ranges: {', '.join(texts)}."
        options = tuple(Option(text, range_words(text)) for text in ranges)
        return "", Inference(
            "value_range", _WHAT, "each by its own numbers", doubt=doubt, param="range",
            options=options,
        )  # fmt: skip
    (one,) = ranges.values()
    evidence = f"the numbers of the images looked at go from {_number(min(k.low for k in known))} "
    evidence += f"to {_number(max(k.high for k in known))}"
    others = [text for text in (*one.others, _WHOLE.text) if text != one.text]
    options = (
        *(Option(text, range_words(text)) for text in dict.fromkeys(others)),
        Option(EACH, "each by its own numbers"),
    )
    return one.text, Inference(
        "value_range", _WHAT, range_words(one.text), evidence, one.doubt, "range", options
    )


def _range_of(known: Evidence) -> Range:
    found = infer(known)
    if found is not None:
        return found
    wide = stretched(known)
    doubt = "No usual range fits: black is about the least number, white about the greatest."
    return Range(wide.low, wide.high, doubt)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,.4g}"
