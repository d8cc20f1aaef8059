"""Text that leaves the program by another way than the one that makes it safe."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from tests.house.sources import Module

TABLES = "workbench.core.outside_text"
"""The only writer of CSV tables."""

TERMINAL = "workbench.cli._output"
"""The only writer of the terminal."""

_STREAMS = {"stdout", "stderr"}
_WRITES = {"write", "writelines", "buffer"}


def table_writers(modules: Sequence[Module]) -> list[str]:
    """Modules that write CSV on their own: formulas, new lines and control characters in names."""
    return [
        f"{module.path}:{node.lineno}: csv.{node.attr}"
        for module in modules
        if module.name != TABLES
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and (node.value.id, node.attr) in {("csv", "writer"), ("csv", "DictWriter")}
    ]


def terminal_writers(modules: Sequence[Module]) -> list[str]:
    """Modules of the command line that print on their own."""
    return [
        f"{module.path}:{node.lineno}: {ast.unparse(node)[:60]}"
        for module in modules
        if module.name.startswith("workbench.cli") and module.name != TERMINAL
        for node in ast.walk(module.tree)
        if _prints(node)
    ]


def _prints(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        name = node.func
        return isinstance(name, ast.Name) and name.id in {"print", "Console", "input"}
    is_stream = isinstance(node, ast.Attribute) and node.attr in _WRITES
    return is_stream and isinstance(node.value, ast.Attribute) and node.value.attr in _STREAMS
