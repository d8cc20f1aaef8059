"""Values of parameters as they are typed on a command line: 0.1, yes, 3x3, cosine."""

from __future__ import annotations

import ast
import operator
import os
import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from workbench.core.params import FloatParam, IntParam, Param
from workbench.errors import ParamError

# arithmetic ----------------------------------------------------------------------------------
# Numbers as people type them: 0.001, 1e-3, 10,000, 64*2, (128-32)/2, 1/255.
#
# Only numbers, + - * / and parentheses count: nothing that is typed is ever run.

_MOST_LETTERS = 100
"""More is no number: it also bounds how deeply parentheses are nested."""
_GROUPED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:[,\u00a0\u2009\u202f ]\d{3})+(?![\d,])")
_TOKEN = re.compile(r"\s*(?:(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?|([-+*/()]))", re.ASCII)
_SIGNS = str.maketrans("×·÷−", "**/-")

_OPERATORS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def evaluate(text: str, *, is_whole: bool = False) -> int | float:
    """The number that a text means; computed exactly, so that 0.1 * 3 is 0.3.

    Args:
        text: A number, or numbers to be computed with. A comma separates thousands; where it
            cannot, it is a decimal comma.
        is_whole: For a field of whole numbers: an exponent and a decimal comma are rejected.

    Returns:
        An int where the result is whole.

    Raises:
        ParamError: not a number, or division by zero.
    """
    try:
        source, numbers = _to_source(text.translate(_SIGNS), is_whole=is_whole)
        result = _value(ast.parse(source, mode="eval").body, numbers)
        rounded = float(result)
        return int(result) if result.denominator == 1 else rounded
    except (ValueError, SyntaxError, ArithmeticError, RecursionError, MemoryError):
        raise ParamError(
            "This is not a number.",
            received=text,
            expected="a number, or numbers with + - * / and parentheses",
        ) from None


def _to_source(text: str, *, is_whole: bool) -> tuple[str, dict[str, Fraction]]:
    """The text with a name in place of each number, and the numbers; raises ValueError."""
    if len(text) > _MOST_LETTERS:
        raise ValueError
    plain = _GROUPED.sub(lambda match: re.sub(r"\D", "", match[0]), text.strip().lower())
    if not is_whole:
        plain = re.sub(r"(?<=\d),(?=\d)|^,(?=\d)", ".", plain)
    tokens: list[str] = []
    numbers: dict[str, Fraction] = {}
    position = 0
    while position < len(plain):
        match = _TOKEN.match(plain, position)
        if match is None or (is_whole and match[2]):
            raise ValueError
        if match[1]:
            name = f"n{len(numbers)}"
            numbers[name] = Fraction(match[1] + (match[2] or ""))
        tokens.append(match[3] or name)
        position = match.end()
    return " ".join(tokens), numbers


def _value(node: ast.expr, numbers: Mapping[str, Fraction]) -> Fraction:
    if isinstance(node, ast.Name):
        return numbers[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _value(node.operand, numbers)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        both = _value(node.left, numbers), _value(node.right, numbers)
        return _OPERATORS[type(node.op)](*both)
    raise ValueError


# param text ----------------------------------------------------------------------------------


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
