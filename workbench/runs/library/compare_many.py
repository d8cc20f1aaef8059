"""More than two runs side by side, each against the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.runs.folder import RunFolder
from workbench.runs.library.compare import NOTHING, RunComparison, compare_runs
from workbench.runs.library.projects import full_name
from workbench.runs.library.summary import RunSummary


@dataclass(frozen=True)
class ManyRow:
    """One thing of several runs, in words: a value for each run."""

    title: str
    values: tuple[str, ...]

    @property
    def is_equal(self) -> bool:
        """True when all are the same."""
        return len(set(self.values)) == 1


@dataclass(frozen=True)
class ManySection:
    """One aspect of several runs, see `compare.Section`.

    Attributes:
        notes: Sentences about each run beside the first: in the section of the data, how its edits
            differ; in that of the results, whether it is better or worse by more than chance.
    """

    key: str
    title: str
    rows: tuple[ManyRow, ...]
    notes: tuple[str, ...] = ()


def compare_many(runs: Sequence[RunFolder]) -> tuple[list[RunSummary], list[ManySection]]:
    """Compares at least two runs; raises as `compare_runs`."""
    pairs = [compare_runs(runs[0], other) for other in runs[1:]]
    sections = [
        ManySection(
            section.key,
            section.title,
            _rows(pairs, section.key),
            _notes(pairs, section.key),
        )
        for section in pairs[0].sections
    ]
    return [pairs[0].left, *(pair.right for pair in pairs)], sections


def _notes(pairs: Sequence[RunComparison], key: str) -> tuple[str, ...]:
    """Without their periods."""
    if key == "results":
        found = (pair.accuracy for pair in pairs)
        first = full_name(pairs[0].left)
        against = [
            f"{full_name(pair.right)} against {first}: {each.words.removesuffix('.')}"
            for pair, each in zip(pairs, found, strict=True)
            if each is not None
        ]
        return tuple(against)
    return _edit_notes(pairs) if key == "data" else ()


def _edit_notes(pairs: Sequence[RunComparison]) -> tuple[str, ...]:
    return tuple(
        f"{full_name(pair.right)}: {pair.edits.words}" for pair in pairs if pair.edits.words
    )


def _rows(pairs: Sequence[RunComparison], key: str) -> tuple[ManyRow, ...]:
    """The rows of a section: where a pair has none of a title, its runs are the same in that."""
    found = [
        {row.title: row for section in pair.sections if section.key == key for row in section.rows}
        for pair in pairs
    ]
    titles = dict.fromkeys(title for rows in found for title in rows)
    merged = []
    for title in titles:
        first = next((rows[title].left for rows in found if title in rows), NOTHING)
        others = [rows[title].right if title in rows else first for rows in found]
        merged.append(ManyRow(title, (first, *others)))
    return tuple(merged)
