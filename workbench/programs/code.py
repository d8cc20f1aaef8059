"""Values, calls and names as Python source, laid out as formatters lay it out."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Iterable, Mapping
from typing import Any

from workbench.core.outside_text import escaped, is_shown

LINE_WIDTH = 88
_SIZES = frozenset({"kernel_size", "strides", "pool_size", "dilation_rate", "size"})


def literal(value: Any) -> str:
    """A plain value as source: strings in double quotes, Keras configurations as calls."""
    if isinstance(value, str):
        # JSON's escapes are Python's; what it leaves and is not seen could hide what a line does.
        return escaped(json.dumps(value, ensure_ascii=False))
    if isinstance(value, Mapping):
        arguments = ", ".join(f"{key}={literal(item)}" for key, item in value["config"].items())
        return f"keras.regularizers.{value['class_name']}({arguments})"
    if isinstance(value, tuple | list):
        inside = ", ".join(literal(item) for item in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, float) and len(repr(value)) > 10 and 0 < abs(value) < 1:
        divisor = round(1 / value)
        return f"1 / {divisor}" if 1 / divisor == value else repr(value)
    return repr(value)


def square(key: str, value: Any) -> Any:
    """Equal height and width as one number, for the arguments that Keras takes so."""
    is_square = key in _SIZES and len(set(value)) == 1 if isinstance(value, tuple | list) else False
    return value[0] if is_square else value


def call(start: str, arguments: Iterable[str], end: str = "", *, indent: int = 0) -> str:
    """A call in one line where it fits, else one argument a line.

    Args:
        start: Everything up to the bracket, without indent, e.g. "x = layers.Dense".
        arguments: As source, e.g. "units=10".
        end: What follows the closing bracket, e.g. "(x)".
        indent: Spaces before the first line.
    """
    arguments = list(arguments)
    space = " " * indent
    line = f"{space}{start}({', '.join(arguments)}){end}"
    if len(line) <= LINE_WIDTH or not arguments:
        return line
    inside = "".join(f"{space}    {argument},\n" for argument in arguments)
    return f"{space}{start}(\n{inside}{space}){end}"


def sequence(name: str, values: Iterable[Any]) -> str:
    """A list as a constant: in one line where it fits, else a value a line."""
    items = [literal(value) for value in values]
    line = f"{name} = [{', '.join(items)}]"
    if len(line) <= LINE_WIDTH or not items:
        return line
    return f"{name} = [\n" + "".join(f"    {item},\n" for item in items) + "]"


def variable_names(names: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """A valid and unique variable name for each name."""
    used = set(taken)
    found: dict[str, str] = {}
    for name in names:
        stem = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
        if not stem or stem[0].isdigit() or keyword.iskeyword(stem):
            stem = f"x_{stem}".rstrip("_")
        number, variable = 1, stem
        while variable in used:
            number += 1
            variable = f"{stem}_{number}"
        used.add(variable)
        found[name] = variable
    return found


def comment_text(text: str) -> str:
    """Text that is safe inside a comment or docstring of Python, JavaScript or C: one line, without
    quotes, backslashes, the end of a comment and what `texts.fill` would fill in.
    """
    words = " ".join(text.split())
    safe = "".join(c for c in words if is_shown(c) and c not in '"\\$')
    return re.sub(r"[*/](?=[*/])", "", safe)[:50]
