"""Words that the style replaces, in what people read: messages, docstrings, comments, help.

Identifiers and JSON fields are not looked at: files that are stored keep their names.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.house.sources import ROOT, Module

BETTER = {
    r"told|tells|speaks|wants": "no personification: reports, shows, logs, requires",
    r"anew": "again",
    r"whoever": "who, or the name of the part",
    r"by heart": "overfitting",
    r"courier": "run mirror",
    r"keepsake": "checkpoint",
    r"leading (machine|computer)": "chief",
    r"pictures/s": "images/s",
    r"colours?|coloured|grey|licence|centre[sd]?|neighbours?|behaviours?": "American spelling",
    r"(normal|regular|optim|initial|synchron)is(e|es|ed|ing|ation|er|ers)": "American spelling",
    r"[0-9}] %(?![(\w])": "88%, without a space",
}
"""Words -> what to write instead (CONTRIBUTING.md, Style)."""

_WORDS = [
    (re.compile(words if words.startswith("[") else rf"\b({words})\b", re.IGNORECASE), better)
    for words, better in BETTER.items()
]
_CODE = re.compile(r"`[^`\n]*`")
DOCUMENTS = (
    "README.md",
    "packaging/CHANGELOG.md",
    "workbench/*.md",
    "resources/*.toml",
    "resources/*/*.toml",
    "resources/help/*.md",
)
"""Texts that are read outside of modules."""


def replaced_words(modules: Sequence[Module]) -> list[str]:
    """Lines of modules with a word that the style replaces."""
    return [
        line
        for module in modules
        for number, text in sorted(_read(module.text))
        for line in breaches(f"{module.path}:{number}", text)
    ]


def replaced_in_documents(root: Path = ROOT) -> list[str]:
    """The same in the documents."""
    return [
        line
        for pattern in DOCUMENTS
        for path in sorted(root.glob(pattern))
        for line in breaches(str(path.relative_to(root)), path.read_text(encoding="utf-8"))
    ]


def breaches(where: str, text: str) -> Iterator[str]:
    """One line for each word; code in backticks does not count."""
    for words, better in _WORDS:
        for found in words.finditer(_CODE.sub("", text)):
            yield f"{where}: {found[0]!r} ({better})"


def _read(text: str) -> Iterator[tuple[int, str]]:
    """(line, text) of what people read in a module: sentences and comments."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(_piece(value) for value in node.values)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _piece(value: ast.expr) -> str:
    """A part of an f-string; a figure in it stands for any."""
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else "0"
