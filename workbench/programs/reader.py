"""The reading of image files, as exported programs carry it: the source of Workbench's own rules.

The imports that the rules need go to the top of the program: `reader_imports`.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from functools import cache
from types import ModuleType

from workbench.pictures.portable import decoding, deep, fitting, ranges, signatures

_COPIED: tuple[ModuleType, ...] = (signatures, ranges, deep, decoding, fitting)
_OTHER = ("workbench", "__future__")

_BANNER = """# The rest reads image files, by the very rules of Workbench.
# Call read_image(path, shape, fit, value_range).
"""


@cache
def reader_source() -> str:
    """Functions and constants, among them `read_image`, without the imports that they need."""
    return "\n\n\n".join([_BANNER.rstrip("\n"), *(_body(module) for module in _COPIED)])


@cache
def reader_imports() -> tuple[str, ...]:
    """The import lines that `reader_source` needs, each once, as formatters sort them."""
    plain: set[str] = set()
    named: dict[str, set[str]] = {}
    for node in (node for module in _COPIED for node in ast.parse(inspect.getsource(module)).body):
        if isinstance(node, ast.Import):
            plain.add(ast.unparse(node))
        elif isinstance(node, ast.ImportFrom) and not str(node.module).startswith(_OTHER):
            named.setdefault(str(node.module), set()).update(each.name for each in node.names)
    chosen = (f"from {name} import {', '.join(sorted(each))}" for name, each in named.items())
    return sort_imports([*plain, *chosen])


def sort_imports(lines: Iterable[str]) -> tuple[str, ...]:
    """Import lines as formatters sort them."""
    return tuple(sorted(lines, key=lambda line: (line.startswith("from"), line.lower())))


def _body(module: ModuleType) -> str:
    """The source of a module behind its imports; its docstring becomes a comment."""
    source = inspect.getsource(module)
    nodes = ast.parse(source).body
    last = max(n for n, node in enumerate(nodes) if isinstance(node, ast.Import | ast.ImportFrom))
    lines = source.splitlines()
    about = [f"# {line}".rstrip() for line in (module.__doc__ or "").strip().splitlines()]
    return "\n".join([*about, *lines[nodes[last].end_lineno or 0 :]]).rstrip("\n")
