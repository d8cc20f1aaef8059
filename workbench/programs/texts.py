"""The texts of resources/programs, and how values are filled in.

Templates of Python programs are Python files, which ruff and mypy check with everything else:

FILL.name         a value in an expression; in strings and comments it is $name
# $name           a line that becomes the lines of a value; "pass  # $name" as a body
... #? name       a line that is there only where the value is true; "#? not name" where it is not
... #? template   a line that no program has: what the checkers have to know
# %% name         begins a section; one whose name ends in ".md" is text, in comments

Other texts (C, JavaScript, Markdown) have $name everywhere, and sections begin with "==== name".
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping
from functools import cache
from typing import Any

from workbench.assets import resource_path

_CONDITION = re.compile(r"^(.*?) *#\? (not )?(\w+)\n", re.MULTILINE)
_NAME = re.compile(r"^( *)\$(\w+)\n|\$(\w+)", re.MULTILINE)
_SECTION = re.compile(r"^(?:====|# %%) (\S+)\n", re.MULTILINE)
_CHECKED_ONLY = re.compile(r"^.*#\? template\n", re.MULTILINE)
_LINES = re.compile(r"^( *)(?:pass  )?# (\$\w+)$", re.MULTILINE)
_COMMENT = re.compile(r"^# ?", re.MULTILINE)


def read(file: str) -> str:
    """The text of resources/programs/FILE, with $name for each value."""
    text = resource_path(f"programs/{file}").read_text(encoding="utf-8")
    if not file.endswith(".py"):
        return text
    text = _LINES.sub(r"\1\2", _CHECKED_ONLY.sub("", text))
    return text.replace("FILL.", "$")


@cache
def sections(*files: str) -> Mapping[str, str]:
    """The sections of files in order, by name."""
    found: dict[str, str] = {}
    for file in files:
        parts = _SECTION.split(read(file))
        found |= zip(parts[1::2], parts[2::2], strict=True)
    return {
        name: _COMMENT.sub("", text) if name.endswith(".md") else text
        for name, text in found.items()
    }


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
        lines = str(values[alone])
        if indent:
            lines = textwrap.indent(textwrap.dedent(lines), indent)
        return lines if not lines or lines.endswith("\n") else f"{lines}\n"

    return _NAME.sub(value, _CONDITION.sub(condition, text))
