"""One column of a table: its name, and what its cells are."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property

from workbench.core.class_names import folded
from workbench.core.format import list_text, plain_name
from workbench.pictures.folders import ENDINGS
from workbench.pictures.listed.names import (
    FLAGS,
    IMAGES,
    LABEL_RANKS,
    LABEL_STEMS,
    MEASURES,
    MISSING,
    NOT_IMAGES,
    PARTS,
    SPLITS,
    YES,
    part_of_cell,
    part_of_word,
    squeezed,
)

_INDEX_NAMES = re.compile(r"unnamed.*|index|idx|row(number|id|nr|no)?|no|nr|nummer|numero|序号|")
_WHOLE = re.compile(r"[-+]?\d+(\.0*)?")
_NUMBER = re.compile(r"[-+]?(\d+([.,]\d*)?|[.,]\d+)(e[-+]?\d+)?%?", re.IGNORECASE)
_DATE = re.compile(
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}([ T]\d{1,2}:\d\d.*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}( \d.*)?"
    r"|\d{1,2}:\d\d(:\d\d)?"
)
_HASH = re.compile(r"[0-9a-f]{12,}|[0-9a-f]{8}-[0-9a-f]{4}-.*", re.IGNORECASE)
_LIST = re.compile(r"\[.*\][\"']*|\{.*\}|\(.*,.*\)")
_MOST = 0.95  # of the cells that count as all of them: some are always odd
_FEW_ROWS = 10
"""Number of rows from which on a column with as many values is no label unless it is set."""
_FEW_RUNNING = 5
"""Number of rows from which on numbers that count them are no label unless the column is set."""


class Column:
    """A column, by some or all of its cells.

    Args:
        number: Its place, 0 is the first.
        name: Its cell in the header; "" without one.
        cells: What is in it, "" where a row has no such cell.
    """

    def __init__(self, number: int, name: str, cells: Sequence[str]) -> None:
        self.number = number
        self.name = name
        self.cells = cells
        self.key = squeezed(name)

    @property
    def title(self) -> str:
        """What it is called in messages."""
        return plain_name(self.name) if self.name else f"column {self.number + 1}"

    @cached_property
    def values(self) -> Counter[str]:
        """How often each value occurs, without those that mean that there is none."""
        counts = Counter(self.cells)
        return Counter({v: n for v, n in counts.items() if v and v.lower() not in MISSING})

    @cached_property
    def num_filled(self) -> int:
        """Cells with a value."""
        return sum(self.values.values())

    @cached_property
    def is_whole(self) -> bool:
        """Whole numbers."""
        return self._all(_WHOLE)

    @cached_property
    def is_number(self) -> bool:
        """Numbers of any kind."""
        return self._all(_NUMBER)

    @cached_property
    def is_running(self) -> bool:
        """Whole numbers that count the rows."""
        if not self.is_whole or len(self.values) != len(self.cells) or len(self.cells) < 2:
            return False
        numbers = sorted(float(value) for value in self.values)
        return numbers[0] in {0, 1} and numbers[-1] - numbers[0] == len(numbers) - 1

    @cached_property
    def is_binary(self) -> bool:
        """Zeros and ones."""
        return bool(self.values) and self.values.keys() <= {"0", "1", "0.0", "1.0", "0.", "1."}

    @cached_property
    def is_indicator(self) -> bool:
        """Yes and no, or 1 and -1."""
        return bool(self.values) and all(v == "-1" or v.lower() in YES for v in self.values)

    @cached_property
    def is_flag(self) -> bool:
        """Yes and no."""
        return bool(self.values) and all(value.lower() in YES for value in self.values)

    @cached_property
    def share_of_paths(self) -> float:
        """The share of the cells that are named like an image."""
        return self._share(lambda value: is_image_name(value) and not is_address(value))

    @cached_property
    def is_split(self) -> bool:
        """Words for parts alone, or a column of yes and no that is named like a part."""
        if self.key in FLAGS or (self.part and self.is_flag):
            return self.is_flag
        if not self.values or None in self.parts:
            return False
        # Words with numbers alone may be anything: test1, test2.
        is_known = self.is_named_split or {"train"} < self.parts
        return is_known or all(map(part_of_word, self.values))

    @cached_property
    def parts(self) -> set[str | None]:
        """The parts that its words name, None for another word."""
        return set(map(part_of_cell, self.values))

    @property
    def part_words(self) -> str:
        """That its words are parts, and of which part each is that is not its name."""
        parts = {value: part_of_cell(value) for value in self.values}
        other = [(value, part) for value, part in parts.items() if part and folded(value) != part]
        words = [f"“{plain_name(value)}” is the {part} part" for value, part in other]
        return f"its words are parts: {list_text(words)}" if words else "its words are parts"

    @property
    def part(self) -> str:
        """The part that its name means; "" for another name, or none."""
        return FLAGS.get(self.key) or (PARTS.get(self.key, "") if self.key else "")

    @property
    def is_even(self) -> bool:
        """Whether its values are about as frequent as each other, as folds are."""
        return max(self.values.values()) <= 1.5 * min(self.values.values()) + 1

    @property
    def has_test(self) -> bool:
        """Whether one of its words is plainly the test part."""
        return any(part_of_cell(value, has_test=True) == "test" for value in self.values)

    @property
    def is_named_split(self) -> bool:
        """Whether the header names it as a part."""
        return self.key in SPLITS or self.key in FLAGS or (bool(self.part) and self.is_flag)

    @property
    def is_named_image(self) -> bool:
        """Whether the header names it as a file."""
        return self.key in IMAGES

    @property
    def is_of_other_files(self) -> bool:
        """Whether the header names it as masks and the like."""
        return any(piece in self.key for piece in NOT_IMAGES)

    @property
    def label_rank(self) -> int | None:
        """How well the header fits a label, 0 is best; None where it does not."""
        return LABEL_RANKS.get(self.key)

    def is_like_label(self, best: Column) -> bool:
        """Whether its name has the name of a label in it, beside a label column.

        Numbers beside words measure the label: its quality, how many there are.
        """
        if self.is_number and not best.is_number:
            return False
        return best.key in self.key or any(stem in self.key for stem in LABEL_STEMS)

    @cached_property
    def is_mostly_single(self) -> bool:
        """Whether most of its values occur once: hardly classes."""
        return sum(n == 1 for n in self.values.values()) * 2 > len(self.values)

    def why_no_label(self) -> str:
        """Why it cannot be the label, as a clause; "" where it can."""
        if not self.values:
            return "empty"
        if self.is_running and (
            _INDEX_NAMES.fullmatch(self.key) or len(self.cells) >= _FEW_RUNNING
        ):
            return "running numbers"
        for words, is_so in self._kinds():
            if is_so:
                return words
        if len(self.values) == 1:
            return "one value"
        if len(self.values) == self.num_filled >= _FEW_ROWS:
            return "as many values as lines"
        return ""

    def _kinds(self) -> tuple[tuple[str, bool], ...]:
        is_one_each = len(self.values) == self.num_filled
        return (
            ("addresses", self._share(is_address) > 0.5),
            ("file names", self.share_of_paths > 0.5),
            ("dates", self._all(_DATE)),
            ("numbers with fractions", self.is_number and not self.is_whole),
            ("hashes", self._all(_HASH) and not self.is_whole and self.is_mostly_single),
            ("running numbers", self.is_running and is_one_each and self.label_rank is None),
            ("lists of numbers", self._share(_is_box) > 0.5),
            ("a measurement by its name", self.is_number and self.key in MEASURES),
        )

    def is_same_as(self, other: Column) -> bool:
        """Whether each value of one goes with one value of the other: two names of the classes."""
        pairs = set(zip(self.cells, other.cells, strict=True))
        pairs = {pair for pair in pairs if pair[0] in self.values and pair[1] in other.values}
        return len(pairs) == len(self.values) == len(other.values)

    def share_in(self, names: set[str]) -> float:
        """The share of the cells that hold one of these names (folded)."""
        return self._share(lambda value: folded(value) in names)

    def _all(self, pattern: re.Pattern[str]) -> bool:
        return self._share(lambda value: pattern.fullmatch(value) is not None) >= _MOST

    def _share(self, is_so: Callable[[str], bool]) -> float:
        if not self.num_filled:
            return 0.0
        return sum(n for value, n in self.values.items() if is_so(value)) / self.num_filled


def is_image_name(text: str) -> bool:
    """Whether a cell is named like an image file."""
    return os.path.splitext(text)[1].lower() in ENDINGS  # noqa: PTH122 - text, no I/O


def is_address(text: str) -> bool:
    """Whether a cell is a web address."""
    return text[:8].lower().startswith(("http://", "https://", "gs://", "s3://", "ftp://"))


def is_in_bucket(text: str) -> bool:
    """Whether a cell is the address of a file in a store whose folders may lie here, too."""
    return text[:5].lower() in {"gs://", "s3://"}


def is_list(text: str) -> bool:
    """Whether a cell is a list in brackets."""
    return _LIST.fullmatch(text) is not None


def _is_box(text: str) -> bool:
    """Whether a cell is a list of numbers other than 0 and 1, as boxes are."""
    if not is_list(text):
        return False
    numbers = re.findall(r"[-+]?\d+\.?\d*", text)
    has_words = re.search(r"[A-Za-z'\"]", text) is not None
    return (
        len(numbers) > 1
        and not has_words
        and bool({*numbers} - {"0", "1", "0.", "1.", "0.0", "1.0"})
    )
