"""JSON of files, read strictly: what Python's own reader lets through is rejected here.

Refused: NaN and infinities, numbers too large to be finite, doubled keys, deep nesting,
half surrogates, and anything over a size. Each fault names its place, as in
`graph.nodes[3].params`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

MAX_DEPTH = 64
MAX_CHARACTERS = 16 * 2**20


class JsonFault(Exception):  # noqa: N818 - turned into an error of the file by the reader
    """A text that is not acceptable JSON; `place` is line and column, or the JSON path."""

    def __init__(self, place: str, received: str, expected: str) -> None:
        super().__init__(f"{place}: {expected} expected, {received} found")
        self.place = place
        self.received = received
        self.expected = expected


class _Doubled(dict[str, Any]):
    """An object whose text had one key twice; found again by the walk, which has the place."""

    key: str = ""


def load(text: str) -> Any:
    """The value of a JSON text: dicts, lists, str, int, float, bool, None.

    Raises:
        JsonFault: with its place in the text.
    """
    if len(text) > MAX_CHARACTERS:
        limit = f"at most {MAX_CHARACTERS // 2**20} MiB of text"
        raise JsonFault("the file", f"{len(text):,} characters", limit)
    try:
        value = json.loads(
            text, parse_constant=_constant, parse_float=_float, object_pairs_hook=_object
        )
    except json.JSONDecodeError as error:
        found = _near(text, error.pos)
        raise JsonFault(f"line {error.lineno}, column {error.colno}", found, "JSON") from None
    except RecursionError:
        raise JsonFault("the file", "deeper nesting", _depth_words()) from None
    except ValueError as error:
        raise JsonFault("the file", str(error), "numbers of ordinary size") from None
    _walk(value)
    return value


def describe(value: Any) -> str:
    """A JSON value in a few words, for "received"."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return f"a list of {len(value):,}"
    if isinstance(value, dict):
        return f"an object with {len(value):,} fields"
    text = json.dumps(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _depth_words() -> str:
    return f"at most {MAX_DEPTH} levels of nesting"


def _constant(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON number")


def _float(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError(f"{digits[:20]} is too large for a number")
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    doubled = _Doubled(value)
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            doubled.key = key
        seen.add(key)
    return doubled


def _near(text: str, position: int) -> str:
    if position >= len(text):
        return "the end of the file"
    return describe(text[position : position + 20])


def _walk(root: Any) -> None:
    """Rejects doubled keys, deep nesting and half surrogates anywhere below `root`."""
    waiting: list[tuple[Any, str, int]] = [(root, "", 1)]
    while waiting:
        value, path, depth = waiting.pop()
        if isinstance(value, str):
            _check_text(value, path)
        elif isinstance(value, dict | list):
            if depth > MAX_DEPTH:
                raise JsonFault(path[:200], "deeper nesting", _depth_words())
            if isinstance(value, _Doubled):
                raise JsonFault(
                    path or "the top level", f"{describe(value.key)} twice", "each key once"
                )
            waiting.extend((part, name, depth + 1) for part, name in _parts(value, path))


def _parts(value: Any, path: str) -> Iterator[tuple[Any, str]]:
    if isinstance(value, list):
        for index, part in enumerate(value):
            yield part, f"{path}[{index}]"
        return
    for key, part in value.items():
        _check_text(key, path or "the top level")
        yield part, f"{path}.{key[:40]}" if path else key[:40]


def _check_text(text: str, path: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise JsonFault(
            path, "an incomplete character (a lone surrogate)", "complete characters"
        ) from None
