"""All rules: what each looks for, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.house import (
    contracts,
    errors,
    foreign,
    fragments,
    imports,
    outputs,
    sentences,
    sizes,
    words,
)
from tests.house.sources import Module


@dataclass(frozen=True)
class Rule:
    """One thing that the code must not have.

    Attributes:
        title: What is counted.
        look: Modules -> one line for each breach.
    """

    title: str
    look: Callable[[Sequence[Module]], list[str]]


def _plug_in_keys(_modules: Sequence[Module]) -> list[str]:
    from tests.house import test_plugin_keys as keys

    hits = [hit for folder in keys.FOLDERS for hit in keys._hits(keys._words_of(folder), folder)]
    return [f"{path}:{line}: {key}" for path, line, key in hits if not keys._is_allowed(path, key)]


KEYS = Rule("keys outside plug-ins", _plug_in_keys)
"""Has tests of its own."""

RULES = (
    Rule(f"files over {sizes.MOST_LINES_OF_FILE} lines", sizes.long_files),
    Rule(f"modules under {sizes.FEWEST_LINES_OF_CRUMB} lines with one importer", sizes.crumbs),
    Rule(f"functions over {sizes.MOST_LINES_OF_FUNCTION} lines", sizes.long_functions),
    Rule(f"folders over {sizes.MOST_MODULES_OF_FOLDER} modules", sizes.large_folders),
    Rule("import circles", imports.circles),
    Rule("private imports between packages", imports.private_imports),
    Rule("packages missing in import contracts", contracts.gaps),
    Rule("files read in another way than by core.storage.foreign_file", foreign.other_ways),
    Rule("swallowed errors", errors.swallowed),
    Rule("tables written without csv_cells", outputs.table_writers),
    Rule("commands that print on their own", outputs.terminal_writers),
    Rule("decisions read from displayed sentences", sentences.decisions),
    Rule("words that the style replaces", words.replaced_words),
    Rule("“Of the” fragments", fragments.of_fragments),
)
