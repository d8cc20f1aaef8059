"""The texts of resources/programs, and how values are filled in."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from functools import cache
from typing import Any

from workbench.assets import resource_path

_CONDITION = re.compile(r"^(.*?) *#\? (not )?(\w+)\n", re.MULTILINE)
_NAME = re.compile(r"^( *)\$(\w+)\n|\$(\w+)", re.MULTILINE)


def read(file: str) -> str:
    """The text of resources/programs/FILE."""
    return resource_path(f"programs/{file}").read_text(encoding="utf-8")


@cache
def sections(file: str) -> Mapping[str, str]:
    """The sections of a file in order, by name; each begins with a line "==== name"."""
    parts = re.split(r"^==== (\S+)\n", read(file), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def fill(text: str, values: Mapping[str, Any]) -> str:
    """A text with values for its $names.

    A line that ends in "#? name" or "#? not name" is there only where that value is true, or
    not. A line of a $name alone becomes the lines of the value, with the indent of the name;
    an empty value leaves none.
    """

    def condition(found: re.Match[str]) -> str:
        line, negation, name = found.groups()
        return f"{line}\n" if bool(values[name]) is not bool(negation) else ""

    def value(found: re.Match[str]) -> str:
        indent, alone, name = found.groups()
        if not alone:
            return str(values[name])
        lines = textwrap.indent(str(values[alone]), indent)
        return lines if not lines or lines.endswith("\n") else f"{lines}\n"

    return _NAME.sub(value, _CONDITION.sub(condition, text))
