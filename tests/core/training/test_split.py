"""Splits: a partition, stratified, the same for ever."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.training.split import random_order, split_indices

labels_of = st.lists(st.integers(0, 6), max_size=300).map(np.array)
shares_of = st.lists(st.floats(0, 0.45), min_size=1, max_size=2)


@given(labels=labels_of, shares=shares_of, seed=st.integers(0, 2**31 - 1))
def test_parts_are_a_stratified_partition(labels, shares, seed):
    parts = split_indices(labels, shares=shares, seed=seed)
    assert sorted(np.concatenate(parts).tolist()) == list(range(len(labels)))
    for part in parts:
        assert part.tolist() == sorted(part.tolist())
    for label in np.unique(labels):
        count = int((labels == label).sum())
        sizes = [int((labels[part] == label).sum()) for part in parts]
        assert sizes[-1] >= 1  # the rest, which is trained on, has something of each class
        if count > len(shares):
            wanted = zip(sizes[:-1], shares, strict=True)
            assert all(size >= 1 or share == 0 for size, share in wanted)
        for size, share in zip(sizes[:-1], shares, strict=True):
            assert abs(size - count * share) <= 1


@given(labels=labels_of, seed=st.integers(0, 2**31 - 1))
def test_the_same_seed_gives_the_same_parts(labels, seed):
    first = split_indices(labels, shares=(0.2,), seed=seed)
    again = split_indices(labels.copy(), shares=(0.2,), seed=seed)
    assert all((a == b).all() for a, b in zip(first, again, strict=True))


def test_seeds_differ_and_are_even():
    labels = np.zeros(10_000, int)
    chosen = np.zeros(10_000, int)
    for seed in range(200):
        chosen[split_indices(labels, shares=(0.1,), seed=seed)[0]] += 1
    assert chosen.sum() == 200_000
    assert abs(chosen.std() - (200 * 0.1 * 0.9) ** 0.5) < 0.3  # as of independent draws
    assert abs(chosen[:5000].sum() - 100_000) < 1000


def test_the_split_is_the_same_on_every_machine_and_for_ever():
    labels = np.arange(1000) % 7
    test, validation, rest = split_indices(labels, shares=(0.1, 0.2), seed=7)
    text = " ".join(map(str, [*test, "|", *validation, "|", *rest]))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "8f996e5817fd1a7b"
    assert random_order(np.arange(8), 7).tolist() == [4, 1, 6, 7, 0, 5, 2, 3]


def test_wrong_shares_are_refused():
    for shares in [(-0.1,), (0.6, 0.6)]:
        with pytest.raises(ValueError, match="shares"):
            split_indices(np.zeros(4, int), shares=shares, seed=0)


def test_nothing_to_split():
    assert [len(part) for part in split_indices(np.zeros(0, int), shares=(0.5,), seed=0)] == [0, 0]


def test_the_only_picture_of_a_class_is_trained_on():
    held_out, rest = split_indices(np.array([3, 3, 5]), shares=(0.5,), seed=7)
    assert 2 in rest
    assert 2 not in held_out
