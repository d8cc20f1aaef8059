"""Docstrings that begin with "Of": they cannot be understood without what is beside them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence

from tests.house.sources import Module

_FRAGMENT = re.compile(r"\s*Of\b")
_SECTION = re.compile(r"\s*(Attributes|Args|Signals):")
_ATTRIBUTE = re.compile(r" +[*`\w][^:]*: +Of\b")


def of_fragments(modules: Sequence[Module]) -> list[str]:
    """Docstrings, strings behind attributes and constants, and lines of `Attributes:`, `Args:` and
    `Signals:` that begin with "Of": "Of the image: its part" instead of "Part of the image".
    """
    return [
        f"{module.path}:{number}: {line.strip()}"
        for module in modules
        for number, line in sorted(_fragments(module.tree))
    ]


def _fragments(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line number, line) of each."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield from _in_text(node.value.value, node.lineno)


def _in_text(text: object, start: int) -> Iterator[tuple[int, str]]:
    if not isinstance(text, str):
        return
    blank = len(text) - len(text.lstrip())
    first = start + text[:blank].count("\n")
    is_in_section = False
    for number, line in enumerate(text.split("\n"), start=start):
        is_in_section |= bool(_SECTION.fullmatch(line))
        if (number == first and _FRAGMENT.match(line)) or (
            is_in_section and _ATTRIBUTE.match(line)
        ):
            yield number, line
