"""The modules of `workbench/`, read and parsed once."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Module:
    """One source file.

    Attributes:
        name: As it is imported: "workbench.core.params"; of a package its own name.
        path: From the root of the project.
    """

    name: str
    path: str
    text: str

    @property
    def is_package(self) -> bool:
        return self.path.endswith("__init__.py")

    @property
    def package(self) -> str:
        """The package whose folder it is in."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @property
    def tree(self) -> ast.Module:
        return _parsed(self.text)

    @property
    def num_lines(self) -> int:
        """Lines that are not blank."""
        return sum(1 for line in self.text.splitlines() if line.strip())


@cache
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def read_modules(root: Path = ROOT) -> tuple[Module, ...]:
    """All modules below `root/workbench`."""
    return tuple(_module(path, root) for path in sorted((root / "workbench").rglob("*.py")))


@cache
def modules() -> tuple[Module, ...]:
    """Those of this project."""
    return read_modules()


def _module(path: Path, root: Path) -> Module:
    parts = path.relative_to(root).with_suffix("").parts
    name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return Module(name, str(path.relative_to(root)), path.read_text(encoding="utf-8"))
