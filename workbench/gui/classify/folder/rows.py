"""The answers of a classified folder in columns: a row costs some bytes, and sorting no loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from workbench.protocol.classify import Classified

Numbers = np.ndarray[Any, np.dtype[np.int64]]

UNREADABLE = "unreadable"
UNKNOWN = "unknown"
WRONG = "wrong"
RIGHT = "right"

SortKey = Literal["order", "label", "probability", "margin", "next", "truth"]

_FIRST_SIZE = 1_024
_NEITHER = -1
"""Neither right, 1, nor wrong, 0."""


@dataclass(frozen=True)
class Filter:
    """Which rows are shown.

    Attributes:
        label: The predicted class; "" for all.
        state: UNREADABLE, UNKNOWN, WRONG, RIGHT; "" for all.
        least_uncertainty: 1 - the probability of the answer is at least this.
    """

    label: str = ""
    state: str = ""
    least_uncertainty: float = 0.0


class FolderRows:
    """Rows in the order they came.

    Attributes:
        errors: Why images could not be read, by row.
        unknowns: Why the answer is "unknown", by row; the most probable class counts as the label.
        names: The class names that occur, by number.
    """

    def __init__(self) -> None:
        self._files: list[str] = []
        self._moves: list[tuple[int, Mapping[str, str]]] = []  # rows at that time, and their moves
        self.errors: dict[int, str] = {}
        self.unknowns: dict[int, str] = {}
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._ids = np.full((3, _FIRST_SIZE), -1, np.int32)  # answer, next, truth
        self._shares = np.zeros((2, _FIRST_SIZE), np.float32)  # of answer and next
        self._verdicts = np.full(_FIRST_SIZE, _NEITHER, np.int8)

    def __len__(self) -> int:
        return len(self._files)

    @property
    def has_truth(self) -> bool:
        """Whether any image has a label of its own."""
        return bool((self._ids[2, : len(self)] >= 0).any())

    def add(self, answers: Sequence[Classified]) -> None:
        """Puts answers at the end; of the scores the first two count."""
        self._make_room(len(self) + len(answers))
        for answer in answers:
            row = len(self._files)
            self._files.append(answer.file)
            self._ids[2, row] = self._number(answer.truth) if answer.truth else -1
            if answer.is_right is not None:
                self._verdicts[row] = answer.is_right
            if answer.error is not None:
                self.errors[row] = answer.error.what
            if answer.unknown:
                self.unknowns[row] = answer.unknown
            for place, score in enumerate(answer.scores[:2]):
                self._ids[place, row] = self._number(score.name)
                self._shares[place, row] = score.probability

    def file(self, row: int) -> str:
        """The path of an image, where it is now."""
        found = self._files[row]
        for count, moved in self._moves:
            if row < count:
                found = moved.get(found, found)
        return found

    def label(self, row: int) -> str:
        """The predicted class; "" where the image could not be read."""
        return self._name(0, row)

    def next_label(self, row: int) -> str:
        """The class with the second highest probability."""
        return self._name(1, row)

    def truth(self, row: int) -> str:
        """The image's own label; "" where it has none."""
        return self._name(2, row)

    def answers(self, rows: Numbers) -> list[tuple[str, str]]:
        """File and predicted class of these rows; class "" where it is unknown, or unreadable."""
        return [(self.file(n), "" if n in self.unknowns else self.label(n)) for n in rows.tolist()]

    def relocate(self, moved: Mapping[str, str]) -> None:
        """Files are elsewhere from now on: the new path by the old one. What comes later is not
        meant. At once: where a file is is looked up when it is shown.
        """
        self._moves.append((len(self), moved))

    def probability(self, row: int) -> float:
        """Probability of the predicted class, 0..1."""
        return float(self._shares[0, row])

    def margin(self, row: int) -> float:
        """Probability of the predicted class less that of the runner-up, 0..1."""
        return float(self._shares[0, row] - self._shares[1, row])

    def is_right(self, row: int) -> bool | None:
        """The worker's verdict; None where the answer is neither right nor wrong."""
        verdict = self._verdicts[row]
        return None if verdict == _NEITHER else bool(verdict)

    def chosen(self, by: Filter, key: SortKey, *, is_descending: bool, start: int = 0) -> Numbers:
        """The rows from `start` on that a filter lets through, in the order of a column; equal ones
        in the order they came.
        """
        rows = start + np.flatnonzero(self._mask(by)[start:])
        if key == "order":
            return rows[::-1] if is_descending else rows
        values = self._values(key)[rows]
        return rows[np.argsort(-values if is_descending else values, kind="stable")]

    def _mask(self, by: Filter) -> np.ndarray[Any, np.dtype[np.bool_]]:
        ids, count = self._ids[:, : len(self)], len(self)
        mask = np.ones(count, np.bool_)
        if by.label:
            mask &= ids[0] == self._numbers.get(by.label, -2)
        if by.state == UNREADABLE:
            mask &= ids[0] < 0
        elif by.state == UNKNOWN:
            unknown = np.zeros(count, np.bool_)
            unknown[list(self.unknowns)] = True
            mask &= unknown
        elif by.state:
            mask &= self._verdicts[:count] == (by.state == RIGHT)
        if by.least_uncertainty:
            mask &= (ids[0] >= 0) & (1 - self._shares[0, :count] >= by.least_uncertainty)
        return mask

    def _values(self, key: SortKey) -> np.ndarray[Any, Any]:
        count = len(self)
        if key == "probability":
            return self._shares[0, :count]
        if key == "margin":
            return self._shares[0, :count] - self._shares[1, :count]
        order = sorted(range(len(self.names)), key=lambda number: self.names[number].casefold())
        ranks = np.zeros(len(self.names) + 1, np.int64)
        ranks[order] = np.arange(len(order))
        ranks[-1] = -1  # of -1: no class
        return ranks[self._ids[{"label": 0, "next": 1, "truth": 2}[key], :count]]

    def _name(self, place: int, row: int) -> str:
        number = self._ids[place, row]
        return self.names[number] if number >= 0 else ""

    def _number(self, name: str) -> int:
        number = self._numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number

    def _make_room(self, count: int) -> None:
        size = self._ids.shape[1]
        if count > size:
            more = max(count, 2 * size) - size
            self._ids = np.pad(self._ids, ((0, 0), (0, more)), constant_values=-1)
            self._shares = np.pad(self._shares, ((0, 0), (0, more)))
            self._verdicts = np.pad(self._verdicts, (0, more), constant_values=_NEITHER)
