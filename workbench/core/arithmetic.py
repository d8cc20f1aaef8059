"""Numbers as people type them: 0.001, 1e-3, 10,000, 64*2, (128-32)/2, 1/255.

Only numbers, + - * / and parentheses count: nothing that is typed is ever run.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from fractions import Fraction

from workbench.errors import ParamError

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
