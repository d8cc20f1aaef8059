"""Whether the import contracts of pyproject.toml name all that they are about."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.house.sources import ROOT, Module

EXEMPT = {
    "TensorFlow and Keras only in the worker": {"worker"},
    "Qt only in the window": {
        "app",
        "cli",
        "client",
        "document",
        "first_frame",
        "gui",
        "printing",
    },
}
"""Contracts on every top-level package -> those that are allowed what it forbids.

`cli` starts the application late; contracts of its own bind it, `client` and `document`.
"""


def gaps(modules: Sequence[Module], pyproject: Path = ROOT / "pyproject.toml") -> list[str]:
    """Packages that a contract should name and does not, or names and are not there."""
    settings = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    return [gap for contract in contracts for gap in _gaps_of(contract, modules)]


def _gaps_of(contract: dict, modules: Sequence[Module]) -> Iterator[str]:
    name, names = contract["name"], {module.name for module in modules}
    if contract["type"] == "layers":
        named = {each for line in contract["layers"] for each in line.split(" | ")}
        container = next(iter(named)).rpartition(".")[0]
        wanted = _children(container, modules)
    elif name in EXEMPT:
        named = set(contract["source_modules"])
        wanted = _children("workbench", modules) - {f"workbench.{each}" for each in EXEMPT[name]}
    else:
        return
    yield from (f"{name}: without {each}" for each in sorted(wanted - named))
    yield from (f"{name}: {each} is not there" for each in sorted(named - names))


def _children(package: str, modules: Sequence[Module]) -> set[str]:
    """What is right below a package: in the program all but `__main__`, in a package of it the
    folders, since the modules beside them may be imported by any.
    """
    return {
        module.name
        for module in modules
        if module.name.rpartition(".")[0] == package
        and (module.is_package or package == "workbench")
        and not module.name.endswith(".__main__")
    }
