"""How the columns of a table are named: in messages, in options, and by a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.core.format import plain_name
from workbench.core.specs import Option
from workbench.errors import DatasetError
from workbench.pictures.listed.column import Column
from workbench.pictures.listed.names import squeezed


@dataclass(frozen=True)
class ColumnNames:
    """The names of the columns of one table.

    Attributes:
        path: The table, for messages.
        columns: Its columns, without the header.
    """

    path: Path
    columns: Sequence[Column]

    def named(self, given: str, param: str) -> Column:
        """The column that a name or number means; raises DatasetError."""
        text = given.strip()
        for form in (str, squeezed):
            found = [each for each in self.columns if each.name and form(each.name) == form(text)]
            if found:
                return found[0]
        if text.isdecimal() and 1 <= int(text) <= len(self.columns):
            return self.columns[int(text) - 1]
        raise DatasetError(
            f"The table has no such {param} column.",
            where=str(self.path),
            received=plain_name(given),
            expected="one of " + ", ".join(self.titles())[:300] + ", or its number",
        )

    def all_named(self, given: str) -> tuple[Column, ...]:
        """One column whose name may hold commas, or several with commas between them."""
        try:
            return (self.named(given, "label"),)
        except DatasetError:
            if "," not in given:
                raise
        return tuple(self.named(each, "label") for each in given.split(","))

    def option(self, *columns: Column) -> Option:
        """The choice of a column, or of several together, by their names or numbers."""
        return Option(",".join(map(self._key, columns)), titles_of(columns))

    def _key(self, column: Column) -> str:
        """The name of a column where it is the only one of it, else its number."""
        same = [each for each in self.columns if each.key == column.key]
        is_named = bool(column.name) and len(same) == 1 and not column.name.strip().isdecimal()
        return column.name if is_named and "," not in column.name else str(column.number + 1)

    def titles(self) -> list[str]:
        """What the columns are called."""
        return [each.title for each in self.columns]


def titles_of(columns: Sequence[Column]) -> str:
    """Titles of columns for a sentence, at most six."""
    names = [each.title for each in columns]
    return ", ".join(names if len(names) <= 6 else [*names[:5], "…", names[-1]])
