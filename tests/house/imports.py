"""Who imports whom, as written in the sources: also under TYPE_CHECKING."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from tests.house.sources import Module


def circles(modules: Sequence[Module]) -> list[str]:
    """Modules that import each other, directly or by others."""
    found = _groups(imported(modules))
    return [" <-> ".join(sorted(group)) for group in found if len(group) > 1]


def private_imports(modules: Sequence[Module]) -> list[str]:
    """Modules and names with a leading underscore that another package imports."""
    packages = {module.name for module in modules if module.is_package}
    found = []
    for module in modules:
        for node, target in _targets(module.tree):
            home = _home_of_private(target, packages)
            if home and not f"{module.package}.".startswith(f"{home}."):
                found.append(f"{module.path}:{node.lineno}: {target}")
    return found


def _targets(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    """Each import of something of this program: its statement, and what is imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield from ((node, f"{node.module}.{alias.name}") for alias in node.names)


def _home_of_private(target: str, packages: set[str]) -> str:
    """The package that may import it; "" where all may."""
    parts = target.split(".")
    for index, part in enumerate(parts):
        if part.startswith("_") and not part.startswith("__") and parts[0] == "workbench":
            owner = ".".join(parts[:index])
            return owner if owner in packages else owner.rpartition(".")[0]
    return ""


def imported(modules: Sequence[Module]) -> dict[str, set[str]]:
    """The modules that each module imports."""
    names = {module.name for module in modules}

    def module_of(target: str) -> str:
        return target if target in names else target.rpartition(".")[0]

    return {
        module.name: {
            found
            for _, target in _targets(module.tree)
            if (found := module_of(target)) in names and found != module.name
        }
        for module in modules
    }


def _groups(edges: Mapping[str, set[str]]) -> list[set[str]]:
    """Strongly connected groups, by Tarjan's algorithm."""
    index: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    groups: list[set[str]] = []

    def visit(name: str) -> None:
        index[name] = lowest[name] = len(index)
        stack.append(name)
        for other in sorted(edges[name]):
            if other not in index:
                visit(other)
                lowest[name] = min(lowest[name], lowest[other])
            elif other in stack:
                lowest[name] = min(lowest[name], index[other])
        if lowest[name] == index[name]:
            start = stack.index(name)
            groups.append(set(stack[start:]))
            del stack[start:]

    for name in sorted(edges):
        if name not in index:
            visit(name)
    return groups
