"""The search for images that look alike against a comparison of all pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.data_check import similar
from workbench.core.data_check.similar import SIDE, Looks, groups, near_pairs


def smooth(rng, count):
    """Images of low frequencies, (count, SIDE, SIDE, 3)."""
    coarse = rng.integers(0, 256, (count, 8, 8, 3), np.uint8)
    return coarse.repeat(SIDE // 8, axis=1).repeat(SIDE // 8, axis=2)


@given(seed=st.integers(0, 1000), flips=st.integers(0, 7))
def test_hashes_within_the_radius_are_all_found(seed, flips):
    rng = np.random.default_rng(seed)
    hashes = rng.integers(0, 2**64, 60, np.uint64, endpoint=False)
    for row in range(30):  # the second half: copies of the first with some bits flipped
        bits = rng.choice(64, flips, replace=False)
        hashes[30 + row] = hashes[row] ^ np.bitwise_or.reduce(
            np.left_shift(np.uint64(1), bits.astype(np.uint64)), initial=np.uint64(0)
        )
    blocks = list(similar._candidates(hashes, is_mirrored=False))
    pairs = [tuple(pair) for block in blocks for pair in block.tolist()]
    distances = similar._ones(hashes[:, None] ^ hashes[None])
    a, b = np.nonzero(np.triu(distances <= similar._RADIUS, 1))
    assert sorted(pairs) == sorted(zip(a.tolist(), b.tolist(), strict=True))


def test_bits_are_counted_the_same_with_any_numpy():
    values = np.random.default_rng(1).integers(0, 2**64, (5, 7), np.uint64, endpoint=False)
    expected = [[int(value).bit_count() for value in row] for row in values]
    assert similar._ones_by_table(values).tolist() == expected
    assert similar._ones(values).tolist() == expected


def test_a_mirrored_image_changes_the_odd_frequencies_alone():
    images = np.random.default_rng(3).integers(0, 256, (40, SIDE, SIDE, 3), np.uint8)
    hashes, mirrored = Looks.of(images).hashes, Looks.of(images[:, :, ::-1]).hashes
    assert similar._ones(mirrored ^ hashes ^ similar._MIRROR).max() == 0


def test_the_same_form_in_another_color_is_another_image():
    rng = np.random.default_rng(4)
    gray = smooth(rng, 1).mean(axis=3, keepdims=True) / 2
    red = np.concatenate([gray + 90, gray, gray], axis=3).astype(np.uint8)
    blue = np.concatenate([gray, gray, gray + 90], axis=3).astype(np.uint8)
    looks = Looks.of(np.concatenate([red, blue, red]))
    pairs, _ = near_pairs(looks, np.full(3, 200))
    assert pairs.tolist() == [[0, 2]]


def test_images_without_any_form_are_not_compared():
    flat = np.full((5, SIDE, SIDE, 3), 200, np.uint8)
    flat[:, ::2] += np.arange(5, dtype=np.uint8)[:, None, None, None]
    assert near_pairs(Looks.of(flat), np.full(5, 200))[0].tolist() == []


def test_a_chain_of_small_changes_does_not_join_all_its_images():
    rng = np.random.default_rng(5)
    first, last = smooth(rng, 2).astype(np.float32)
    steps = np.stack([first + (last - first) * share for share in np.linspace(0, 1, 12)])
    looks = Looks.of(steps.astype(np.uint8))
    contents = np.array([f"{number:032x}" for number in range(12)], "S32")
    found = groups(contents, looks, np.arange(12), np.full(12, 200))
    assert len(found) > 1
    rows = [row for group in found for row in group.rows]
    assert len(rows) == len(set(rows))
    assert not any({0, 11} <= set(group.rows) for group in found)


def test_many_images_that_are_all_alike_are_cut_off_and_the_search_ends():
    one = smooth(np.random.default_rng(6), 1)
    images = np.clip(one.astype(np.int16) + np.arange(900)[:, None, None, None] % 7, 0, 255)
    pairs, _ = near_pairs(Looks.of(images.astype(np.uint8)), np.full(900, 200))
    assert len(pairs) > similar.MAX_PAIRS / 2
