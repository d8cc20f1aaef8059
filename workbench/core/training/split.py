"""Splitting images into parts: the same in each class, the same on every machine.

Uses its own arithmetic instead of numpy's random numbers, whose order may change between
versions: a run's test part must stay its test part for ever.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.specs.dataset import SplitMarks
from workbench.core.training.recipe import TrainingRecipe

Indices = np.ndarray[Any, np.dtype[np.int64]]


Parts = np.ndarray[Any, np.dtype[np.int8]]
"""The part of each image, TRAIN, VALIDATION or TEST; -1 where none is given."""

TRAIN, VALIDATION, TEST = range(3)


def divide_by_order(
    labels: np.ndarray[Any, Any],
    *,
    shares: tuple[float, float],
    seed: int,
    fold: int = 1,
    folds: int = 0,
) -> Parts:
    """The part of each image by its place in the list of all: stratified, reproducible by seed.

    Args:
        labels: Class number of each image, (n,).
        shares: (share of the images of each class for testing, share of those that are left for
            validation), 0..1; 0 for none.
        seed: The same seed gives the same parts.
        fold: The fold that validates, from 1, where there are any.
        folds: So many folds instead of the share; 0 for the share.
    """
    parts = np.full(len(labels), -1, np.int8)
    # Another seed than the test's, else the same images would be next in line.
    rounds = ((TEST, shares[0], seed), (VALIDATION, shares[1], seed + 1))
    for part, share, own_seed in rounds:
        free = np.flatnonzero(parts < 0)
        if part == VALIDATION and folds:
            parts[free[_fold_of(labels[free], own_seed, folds) == fold - 1]] = part
        elif share > 0:
            chosen, _ = split_indices(labels[free], shares=(share,), seed=own_seed)
            parts[free[chosen]] = part
    parts[parts < 0] = TRAIN
    return parts


def _fold_of(labels: np.ndarray[Any, Any], seed: int, folds: int) -> Indices:
    """The fold of each image, stratified."""
    found = np.zeros(len(labels), np.int64)
    for label in np.unique(labels):
        order = random_order(np.flatnonzero(labels == label), seed)
        found[order] = fold_numbers(np.ones(len(order), np.int64), folds)
    return found


def split_indices(
    labels: np.ndarray[Any, Any], *, shares: Sequence[float], seed: int
) -> tuple[Indices, ...]:
    """Indices of len(shares) + 1 parts; the last holds the rest.

    In each class each part gets its share, rounded. A class with enough images gives at
    least one to every part, and the rest is never empty; too small a class goes to the
    rest first.

    Args:
        labels: Class number of each image, (n,).
        shares: Part of all images for each part but the last: each 0 or above, in all
            at most 1.
        seed: The same seed gives the same parts.

    Returns:
        Ascending indices; together each of 0..n-1 exactly once.
    """
    if any(share < 0 for share in shares) or sum(shares) > 1 + 1e-9:
        raise ValueError(f"shares must be 0 or above and at most 1 in total, not {tuple(shares)}")
    labels = np.asarray(labels)
    parts: list[list[Indices]] = [[] for _ in range(len(shares) + 1)]
    for label in np.unique(labels):
        order = random_order(np.flatnonzero(labels == label), seed)
        ends = np.cumsum(split_sizes(len(order), shares))
        for part, piece in zip(parts, np.split(order, ends), strict=True):
            part.append(piece)
    return tuple(np.sort(np.concatenate(part)) if part else np.zeros(0, np.int64) for part in parts)


def random_order(indices: np.ndarray[Any, Any], seed: int) -> Indices:
    """`indices` in an order that depends on them and the seed alone."""
    keys = mixed(indices.astype(np.uint64) + mixed(np.array([seed], np.uint64)))
    return indices.astype(np.int64)[np.argsort(keys, kind="stable")]


def fold_numbers(sizes: Indices, folds: int) -> Indices:
    """The fold, 0 to folds - 1, of each unit of so many images: in their order, of equal size."""
    middles = np.cumsum(sizes) - sizes / 2
    numbers = np.floor(folds * middles / max(1, int(sizes.sum()))).astype(np.int64)
    return numbers.clip(max=folds - 1)


def mixed(numbers: np.ndarray[Any, np.dtype[np.uint64]]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """SplitMix64: each number becomes one of 2**64, evenly spread (arithmetic wraps)."""
    z = numbers + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def split_sizes(count: int, shares: Sequence[float]) -> list[int]:
    """How many of the `count` images of one class go to each part but the last."""
    wanted = [int(count * share + 0.5) for share in shares]
    if count > len(shares):
        wanted = [
            max(1, size) if share > 0 else 0 for size, share in zip(wanted, shares, strict=True)
        ]
    while sum(wanted) >= max(count, 1) and any(wanted):  # the rest keeps at least one
        wanted[wanted.index(max(wanted))] -= 1
    return wanted


# content split -------------------------------------------------------------------------------
# Dividing images by what they show: by a hash of their content and a seed.
#
# Exact duplicates are one unit, and so are the images of a group: a unit is never divided. In each
# class the units are in the order of their hashes, and marks in that order divide them
# (`core.specs.dataset`). Names and order of the files do not matter.

Keys = np.ndarray[Any, np.dtype[np.uint64]]
Ids = np.ndarray[Any, np.dtype[np.bytes_]]

_KEY_DIGITS = 16
_END = 2**64 - 1


@dataclass(frozen=True)
class SplitImages:
    """The images to divide.

    Attributes:
        labels: int64 (n,), places in `class_names`.
        class_names: Name of each class.
        contents: S32 (n,): hexadecimal ids by content.
        groups: S32 (n,): ids of the groups, b"" for an image that is in none; None for no groups.
    """

    labels: Indices
    class_names: Sequence[str]
    contents: Ids
    groups: Ids | None = None


@dataclass(frozen=True)
class SplitRule:
    """How to divide.

    Attributes:
        test_share: Share of the images of each class that test, 0..1; 0 for no test part.
        validation_share: Share of the images that are left, 0..1; 0 for no validation part.
        seed: The same seed gives the same parts.
        grouping: How groups are found, in any words; "" for no groups.
        fold, folds: Instead of the share, the fold that validates (from 1) of so many; 0 folds
            for the share.
    """

    test_share: float
    validation_share: float
    seed: int
    grouping: str = ""
    fold: int = 1
    folds: int = 0

    @classmethod
    def of(cls, recipe: TrainingRecipe, *, has_test: bool, has_validation: bool) -> SplitRule:
        """The rule of a recipe, for a data set with or without these parts of its own."""
        is_split = recipe.validation == "split" and not has_validation
        grouping = "" if recipe.group_by == "none" else f"{recipe.group_by} {recipe.group_pattern}"
        return cls(
            test_share=0.0 if has_test else recipe.test_share,
            validation_share=recipe.validation_share if is_split else 0.0,
            seed=recipe.seed if recipe.split_seed is None else recipe.split_seed,
            grouping=grouping.strip(),
            fold=recipe.fold,
            folds=(recipe.folds or 0) if is_split else 0,
        )

    @property
    def key(self) -> str:
        """What marks depend on. Folds do not change them: the test part is the same in each."""
        words = f"test {self.test_share!r}, validation {self.validation_share!r}, seed {self.seed}"
        return f"{words}, groups {self.grouping}" if self.grouping else words


def divide_by_content(
    images: SplitImages, rule: SplitRule, remembered: SplitMarks
) -> tuple[Parts, SplitMarks]:
    """The part of each image, and the marks that divide so.

    Remembered marks are used where they were made for this rule; a class without any gets its
    share of the images at hand: exactly the sizes of `split_sizes`, or the nearest to them that
    whole groups allow. Marks of classes that are not there are kept.
    """
    units = _Units.of(images, rule.seed)
    known = remembered.bounds if remembered.made_for == rule.key else {}
    wanted = _Wanted(images, rule)
    bounds = dict(known)
    parts = np.full(len(units.keys), TRAIN, np.int8)
    for stratum in units.strata():
        ends = _ends_of(known[stratum.name]) if stratum.name in known else wanted.ends(stratum)
        of_stratum = np.where(
            stratum.keys < ends[0], TEST, np.where(stratum.keys < ends[1], VALIDATION, TRAIN)
        )
        wanted.take(stratum, of_stratum)
        parts[stratum.units] = of_stratum
        if rule.folds:
            parts[stratum.units] = _in_folds(stratum, of_stratum, rule)
        bounds[stratum.name] = _text_of(ends)
    return parts[units.of_image], SplitMarks(rule.key, bounds)


def _text_of(ends: tuple[int, int]) -> tuple[str, str]:
    return f"{ends[0]:016x}", f"{ends[1]:016x}"


def _ends_of(texts: tuple[str, str]) -> tuple[int, int]:
    return int(texts[0], 16), int(texts[1], 16)


@dataclass(frozen=True)
class _Stratum:
    """Units of the same classes, in the order of their hashes.

    Attributes:
        name: The classes; see `SplitMarks.bounds`.
        labels: Their numbers.
        units: Which units, int64 (m,).
        keys: Their hashes, ascending.
        sizes: Images of each class in each, (m, labels).
    """

    name: str
    labels: tuple[int, ...]
    units: Indices
    keys: Keys
    sizes: Indices


@dataclass(frozen=True)
class _Units:
    """What is never divided: copies of an image, or the images of a group with their copies.

    Attributes:
        images: All images.
        of_image: Number of the unit that each image is in, (n,).
        keys: Hash of each unit.
    """

    images: SplitImages
    of_image: Indices
    keys: Keys

    @classmethod
    def of(cls, images: SplitImages, seed: int) -> _Units:
        ids = images.contents
        if images.groups is not None:
            ids = np.where(images.groups == b"", images.contents, images.groups)
        names, of_image = np.unique(ids, return_inverse=True)
        keys = np.array([int(name[:_KEY_DIGITS], 16) for name in names.tolist()], np.uint64)
        keys = mixed(keys + mixed(np.array([seed], np.uint64)))
        of_image = of_image.reshape(-1).astype(np.int64)
        if images.groups is not None:
            of_image, keys = _joined(images.contents, of_image, keys)
        return cls(images, of_image, keys)

    def strata(self) -> list[_Stratum]:
        """The units by their classes: first those of several, which the others make room for."""
        labels, count = self.images.labels, len(self.images.class_names)
        pairs = np.unique(self.of_image * count + labels)
        classes: dict[int, tuple[int, ...]] = {}
        for unit, label in zip((pairs // count).tolist(), (pairs % count).tolist(), strict=True):
            classes[unit] = (*classes.get(unit, ()), label)
        members: dict[tuple[int, ...], list[int]] = {}
        for unit, own in classes.items():
            members.setdefault(own, []).append(unit)
        sizes = self._sizes(count)
        names = self.images.class_names
        return [
            self._stratum(own, np.array(members[own], np.int64), names, sizes)
            for own in sorted(members, key=lambda own: (-len(own), own))
        ]

    def _sizes(self, count: int) -> Mapping[tuple[int, int], int]:
        """Images by unit and class."""
        codes = self.of_image * count + self.images.labels
        found, numbers = np.unique(codes, return_counts=True)
        return {
            (code // count, code % count): number
            for code, number in zip(found.tolist(), numbers.tolist(), strict=True)
        }

    def _stratum(
        self,
        labels: tuple[int, ...],
        units: Indices,
        names: Sequence[str],
        sizes: Mapping[tuple[int, int], int],
    ) -> _Stratum:
        units = units[np.argsort(self.keys[units], kind="stable")]
        table = [[sizes.get((unit, label), 0) for label in labels] for unit in units.tolist()]
        name = "\n".join(sorted(names[label] for label in labels))
        return _Stratum(name, labels, units, self.keys[units], np.array(table, np.int64))


def _joined(contents: Ids, of_image: Indices, keys: Keys) -> tuple[Indices, Keys]:
    """Units joined where they have an image in common; the lowest hash is that of the whole."""
    parent = np.arange(len(keys))

    def root(unit: int) -> int:
        while parent[unit] != unit:
            parent[unit] = parent[parent[unit]]
            unit = int(parent[unit])
        return unit

    order = np.argsort(contents, kind="stable")
    is_same = (contents[order][1:] == contents[order][:-1]) & (
        of_image[order][1:] != of_image[order][:-1]
    )
    for at in np.flatnonzero(is_same):
        one, other = root(int(of_image[order[at]])), root(int(of_image[order[at + 1]]))
        low, high = sorted((one, other), key=lambda unit: int(keys[unit]))
        parent[high] = low
    roots = np.array([root(unit) for unit in range(len(keys))], np.int64)
    kept, numbers = np.unique(roots, return_inverse=True)
    return numbers.reshape(-1).astype(np.int64)[of_image], keys[kept]


class _Wanted:
    """How many images of each class should still get into each part."""

    def __init__(self, images: SplitImages, rule: SplitRule) -> None:
        self._rule = rule
        count = len(images.class_names)
        totals = np.bincount(images.labels, minlength=count)
        self._left = np.zeros((count, 3), np.int64)
        for label, total in enumerate(totals.tolist()):
            self._left[label, TEST] = _size(total, rule.test_share)
            rest = total - int(self._left[label, TEST])
            self._left[label, VALIDATION] = _size(rest, rule.validation_share)
        self._totals = totals

    def take(self, stratum: _Stratum, parts: Parts) -> None:
        """Counts what a stratum has given to each part."""
        for place, label in enumerate(stratum.labels):
            for part in (TEST, VALIDATION):
                self._left[label, part] -= stratum.sizes[parts == part, place].sum()

    def ends(self, stratum: _Stratum) -> tuple[int, int]:
        """The marks that give a stratum its share."""
        sizes = stratum.sizes.sum(axis=1)
        wanted = [self._for(stratum, part, int(sizes.sum())) for part in (TEST, VALIDATION)]
        shares = (self._rule.test_share, self._rule.validation_share)
        num_test = _nearest(sizes, 0, wanted[0], spare=1 + (wanted[1] > 0))
        num_validation = _nearest(sizes, num_test, wanted[1], spare=1)
        ideal = shares[0], shares[0] + (1 - shares[0]) * shares[1]
        test = _mark(stratum.keys, num_test, ideal[0])
        both = _mark(stratum.keys, num_test + num_validation, ideal[1])
        return test, max(test, both)

    def _for(self, stratum: _Stratum, part: int, size: int) -> int:
        if len(stratum.labels) == 1:
            return max(0, int(self._left[stratum.labels[0], part]))
        # Of several classes: the share that these have in all, rounded.
        of_classes = max(1, int(self._totals[list(stratum.labels)].sum()))
        left = int(self._left[list(stratum.labels), part].clip(min=0).sum())
        return int(size * left / of_classes + 0.5)


def _size(total: int, share: float) -> int:
    return split_sizes(total, (share,))[0] if share > 0 else 0


def _nearest(sizes: Indices, start: int, wanted: int, *, spare: int) -> int:
    """How many units from `start` on have about `wanted` images; at least one, where any image is
    wanted, and `spare` units are left after them.
    """
    free = sizes[start:]
    most = len(free) - spare
    if wanted <= 0 or most <= 0:
        return 0
    ends = np.concatenate([[0], np.cumsum(free)])[: most + 1]
    number = int(np.argmin(np.abs(ends - wanted)))
    return max(1, number)


def _mark(keys: Keys, number: int, share: float) -> int:
    """A hash between that of the last of the first `number` units and that of the next, as near to
    the share of all hashes as that allows: so it is the best for images to come, too.
    """
    if share <= 0:
        return 0
    low = int(keys[number - 1]) + 1 if number else 0
    high = int(keys[number]) if number < len(keys) else _END
    return min(max(round(share * _END), low), high)


def _in_folds(stratum: _Stratum, parts: Parts, rule: SplitRule) -> Parts:
    """The parts of a stratum with one fold for validation; the test part stays."""
    rest = np.flatnonzero(parts != TEST)
    folds = fold_numbers(stratum.sizes.sum(axis=1)[rest], rule.folds)
    # Small strata would all be in the same fold: each begins at a fold of its own.
    shift = int(stratum.keys[0] % np.uint64(rule.folds)) if len(stratum.keys) else 0
    divided = np.where(parts == TEST, TEST, TRAIN).astype(np.int8)
    divided[rest[(folds + shift) % rule.folds == rule.fold - 1]] = VALIDATION
    return divided
