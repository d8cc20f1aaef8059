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

import json
import keyword
import re
import textwrap
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from workbench.assets import resource_path
from workbench.core.outside_text import escaped, is_shown
from workbench.core.storage.save import save_bytes

# code ----------------------------------------------------------------------------------------
# Values, calls and names as Python source, laid out as formatters lay it out.

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


# beside --------------------------------------------------------------------------------------
# The files beside a program: the images that it trains on, and the weights that it starts from.


def pretrained_name(file: str) -> str:
    """The name of the file of weights that belongs to a program, by the program's own."""
    return f"{Path(file).stem}.pretrained.weights.h5"


def images_name(file: str) -> str:
    """The name of the file of images that belongs to a program, by the program's own."""
    return f"{Path(file).stem}.images.npz"


def save_program(context: Any, path: Path, data: bytes) -> None:
    """Writes a program, and before it the images and the weights that it needs.

    Args:
        context: As the worker hands it to exports: `images`, None for a program without; and
            `has_pretrained`, `initial_weights`.
        path: The program's file.
        data: Its content.
    """
    if context.images is not None:
        context.images.save(path.with_name(images_name(path.name)))
    if context.has_pretrained:
        save_bytes(path.with_name(pretrained_name(path.name)), context.initial_weights())
    save_bytes(path, data)


# texts ---------------------------------------------------------------------------------------

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
