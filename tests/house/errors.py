"""Errors that are caught and lost."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tests.house.sources import Module

BROAD = {"Exception", "BaseException"}

LOOKS = {"exception", "format_exc", "print_exc"}
"""Functions of `logging` and `traceback` that take the error from where it is kept."""

ALLOWED = {
    "workbench/pictures/portable/decoding.py: _orientation": "damaged EXIF fails in any way; the pixels stay",
}
"""Functions that may lose any error, and why."""


def swallowed(modules: Sequence[Module]) -> list[str]:
    """Functions that catch any exception and neither raise it nor look at it."""
    found = {f"{module.path}: {name}" for module in modules for name in _swallowing(module.tree)}
    return sorted(found - set(ALLOWED)) + [f"not so: {each}" for each in set(ALLOWED) - found]


def _swallowing(tree: ast.AST, function: str = "the module") -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if _swallows(node):
            yield function
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        yield from _swallowing(node, node.name if is_function else function)


def _swallows(node: ast.AST) -> bool:
    if isinstance(node, ast.ExceptHandler):
        return _is_broad(node.type) and not _is_looked_at(node)
    if isinstance(node, ast.Call) and _name(node.func) == "suppress":
        return any(_is_broad(argument) for argument in node.args)
    return False


def _is_broad(kind: ast.expr | None) -> bool:
    if isinstance(kind, ast.Tuple):
        return any(_is_broad(each) for each in kind.elts)
    return kind is None or _name(kind) in BROAD


def _name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _is_looked_at(handler: ast.ExceptHandler) -> bool:
    return any(
        isinstance(node, ast.Raise)
        or (isinstance(node, ast.Name) and node.id == handler.name)
        or (isinstance(node, ast.Attribute) and node.attr in LOOKS)
        for statement in handler.body
        for node in ast.walk(statement)
    )
