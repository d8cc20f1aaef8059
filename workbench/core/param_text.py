"""Values of parameters as they are typed on a command line: 0.1, yes, 3x3, cosine."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from workbench.core.params import FloatParam, IntParam, Param


def read_value(param: Param, text: str) -> Any:
    """The value that a text gives a parameter. One that may be left open is by "none", by no text,
    and by the word for it that its form shows, such as "off".

    A path is made absolute: what uses it may run in another folder.

    Raises:
        ParamError: the value is not allowed.
    """
    text = text.strip()
    if isinstance(param, IntParam | FloatParam) and text.lower() in _open_texts(param):
        return None
    return param.check(_READ.get(param.kind, str)(text))


def _open_texts(param: IntParam | FloatParam) -> set[str]:
    """What leaves a number open."""
    return {"", param.none_text.lower()} if param.is_optional else set()


def _number(text: str) -> float | str | None:
    if text.lower() in {"none", "automatic"}:
        return None
    try:
        return float(text)
    except ValueError:
        return text  # refused by the parameter, in its words


def _truth(text: str) -> bool | str:
    return {"yes": True, "true": True, "no": False, "false": False}.get(text.lower(), text)


def _numbers(text: str) -> tuple[int, ...] | str:
    parts = [part for part in re.split(r"[\s,x×]+", text.strip("()[] ")) if part]
    try:
        return tuple(int(part) for part in parts)
    except ValueError:
        return text


def _size(text: str) -> tuple[int, ...] | int | str:
    numbers = _numbers(text)
    return numbers[0] if isinstance(numbers, tuple) and len(numbers) == 1 else numbers


def _path(text: str) -> str:
    return os.path.abspath(os.path.expanduser(text)) if text else ""  # noqa: PTH100, PTH111 - text, no I/O


def _paths(text: str) -> tuple[str, ...]:
    return tuple(map(_path, filter(None, text.split(os.pathsep))))


_READ: Mapping[str, Callable[[str], Any]] = {
    "int": _number,
    "float": _number,
    "bool": _truth,
    "size": _size,
    "shape": _numbers,
    "path": _path,
    "paths": _paths,
}
