"""Which part of the data set records belong to: by the names of their files; and which of their
features may say it.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from pathlib import Path

from workbench.core.format import list_text, plain_name, plural
from workbench.core.specs import Inference
from workbench.datasets._labels.said_parts import UNDIVIDED, column_of, may_say_parts
from workbench.datasets._records.example import Feature
from workbench.pictures.class_folders.words import part_name, tokens
from workbench.pictures.listed.given import NONE
from workbench.pictures.listed.names import part_of_word

PARTS = ("train", "test", "validation")

_PLAIN = ({"train", "validation"}, {"test", "validation"})
"""Words that are one together: "trainval" is of training, "test-dev" of the test."""
_GLUED = re.compile(r"(test)(?=dev)", re.IGNORECASE)
_KNOWN = {**{part: part for part in PARTS}, "unlabeled": "test"}
"""The part by the kinds of words in the names of folders."""
_NAMED = 3


@dataclass(frozen=True)
class FileParts:
    """The part of each file.

    Attributes:
        of: The parts; all "train" where the names say nothing.
        unnamed: Files without a word, beside files that have one.
        ambiguous: Files with the words of several parts.
    """

    of: Mapping[Path, str]
    unnamed: frozenset[Path] = frozenset()
    ambiguous: frozenset[Path] = frozenset()

    def inferences(self, files: Collection[Path]) -> Iterator[Inference]:
        """Which of these files are which part, where there are several parts or a doubt."""
        names: dict[str, list[str]] = {}
        for path in files:
            names.setdefault(self.of[path], []).append(path.name)
        doubts = [
            f"{_listed([path.name for path in files if path in some])} {words}"
            for some, words in (
                (self.unnamed, "may belong to another part: the name has no word for a part."),
                (self.ambiguous, "may belong to another part: the name has words for several."),
            )
            if some & {*files}
        ]
        if len(names) > 1 or doubts:
            words = ", ".join(
                f"{part} {plural(len(names[part]), 'file')} ({_listed(names[part])})"
                for part in sorted(names)
            )
            yield Inference(
                "parts", "The parts", words, "by the names of the files", " ".join(doubts),
                "split", (UNDIVIDED,),
            )  # fmt: skip


def file_parts(files: Sequence[Path], given: str = "") -> FileParts:
    """The parts that the names of files and of their folders say.

    A part is said by a word that not all names have: "test" in "mnist_test_train" beside
    "mnist_test_test" says nothing.

    Args:
        files: All files of the set.
        given: NONE where all are one part.
    """
    words = {} if given == NONE else _words_of(files)
    worded = [Counter(each) for each in words.values() if each]
    is_same = all(each == worded[0] for each in worded)
    if not worded or (is_same and len(worded) == len(files)):
        return FileParts(dict.fromkeys(files, "train"))
    common: Counter[str] = Counter() if is_same else reduce(and_, worded)
    left = {path: _without(each, common) or each for path, each in words.items()}
    return FileParts(
        {path: _one_part(each) for path, each in left.items()},
        frozenset(path for path, each in left.items() if not each),
        frozenset(path for path, each in left.items() if not _is_one(each)),
    )


def _words_of(files: Sequence[Path]) -> dict[Path, list[str]]:
    """The parts of the words in each name, and in the folders that not all files are in."""
    root = os.path.commonpath([path.parent for path in files]) if files else ""
    names = {
        path: [
            word
            for name in path.relative_to(root).parts
            for word in tokens(_GLUED.sub(r"\1-", name))
        ]
        for path in files
    }
    every = {word for words in names.values() for word in words}
    has_test = any(part_of_word(word, has_test=True) == "test" for word in every)
    known = {word: _part_of(word, has_test=has_test) for word in every}
    return {path: [known[w] for w in words if known[w]] for path, words in names.items()}


def _part_of(word: str, *, has_test: bool) -> str:
    """The part that a word names; "" for another word."""
    if found := part_of_word(word, has_test=has_test):
        return found
    named = part_name(word)
    return "" if named is None else _KNOWN.get(named.kind, "")


def _without(words: Sequence[str], common: Counter[str]) -> list[str]:
    """The words after those that all names have."""
    left, more = [], Counter(common)
    for word in words:
        more[word] -= 1
        if more[word] < 0:
            left.append(word)
    return left


def _is_one(words: Sequence[str]) -> bool:
    return len({*words}) < 2 or {*words} in _PLAIN


def _one_part(words: Sequence[str]) -> str:
    """The part that words name together; of several the last one, as names go into detail."""
    if {*words} in _PLAIN:
        return "train" if "train" in words else "test"
    return words[-1] if words else "train"


def _listed(names: Sequence[str]) -> str:
    more = [f"{len(names) - _NAMED:,} more"] if len(names) > _NAMED else []
    return list_text([*map(plain_name, names[:_NAMED]), *more])


def split_candidates(
    examples: Sequence[Mapping[str, Feature]], names: Sequence[str], given: str
) -> tuple[str, ...]:
    """Features that may say the part, as far as some records show: they have a name for it, or
    words for parts alone.
    """
    if given:
        return () if given == NONE else (given,)
    columns = {
        name: column_of(name, [cell_of(e.get(name, Feature())) for e in examples]) for name in names
    }
    return tuple(name for name, column in columns.items() if may_say_parts(column))


def cell_of(feature: Feature) -> str:
    """The one value of a feature as text; "" for none or several."""
    if len(feature.texts) == 1:
        return feature.texts[0].decode("utf-8", "replace").strip()
    numbers = feature.numbers or ()
    if len(numbers) != 1:
        return ""
    return str(int(numbers[0])) if float(numbers[0]).is_integer() else str(numbers[0])
