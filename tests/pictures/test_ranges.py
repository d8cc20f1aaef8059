"""Which number is black and which is white, by robust evidence."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.pictures.portable.ranges import (
    eight_bits,
    evidence_of,
    infer,
    num_clipped,
    range_words,
    read_range,
    stretched,
)

RANDOM = np.random.default_rng(4)
EVEN = RANDOM.random((40, 50, 60))
"""Numbers from 0 to 1."""


def with_one(values, number):
    changed = values.copy()
    changed.reshape(-1)[777] = number
    return changed


def whole(top, dtype):
    return np.round(EVEN * top).astype(dtype)


PLAIN = [
    (EVEN > 0.5, "0-1"),
    (whole(1, np.uint8), "0-1"),
    (whole(16, np.uint8), "0-16"),
    (whole(255, np.uint8), "0-255"),
    (whole(255, np.int64), "0-255"),
    (whole(255, np.float32), "0-255"),
    (whole(1023, np.uint16), "0-1023"),
    (whole(4095, np.uint16), "0-4095"),
    (whole(16_383, np.int32), "0-16383"),
    (whole(65_535, np.uint16), "0-65535"),
    (np.round(EVEN * 2 - 1), "-1-1"),
    (EVEN, "0-1"),
    (EVEN.astype(np.float16), "0-1"),
    (with_one(EVEN, 1.0001), "0-1"),
    (EVEN * 1.01 - 0.003, "0-1"),
    (EVEN * 255, "0-255"),
    (EVEN * 255.3, "0-255"),
    (EVEN * 65_535, "0-65535"),
    (EVEN * 2 - 1, "-1-1"),
    (np.zeros((4, 4), np.uint8), "0-255"),
]

DOUBTFUL = [
    (with_one(EVEN, 255.0), "0-1"),
    (np.clip(EVEN * 1.2 - 0.08, -0.1, 1.1), "0-1"),
    (EVEN * 0.2, "0-1"),
    (EVEN - 0.5, "-0.5-0.5"),
    (EVEN * 1.3 - 0.4, "-1-1"),
    (EVEN * 16, "0-16"),
    (EVEN * 60, "0-255"),
    (EVEN * 3_000, "0-4095"),
    (EVEN * 255 - 128.2, "-128-127"),
    (with_one(whole(4000, np.uint16), 65_535), "0-4095"),
    (with_one(whole(250, np.int32), 700), "0-255"),
    (whole(700, np.uint16), "0-1023"),
    (whole(9, np.uint8), "0-15"),
    (whole(20, np.uint8), "0-255"),
    (whole(255, np.int16).astype(np.int16) - 128, "-128-127"),
    (np.full((4, 4), 7.0), "0-255"),
    (np.zeros((4, 4), np.int32), "0-255"),
]

UNUSUAL = [
    (EVEN - 0.5) / 0.29,
    EVEN * 1e-4,
    EVEN * 5 + 1,
    EVEN * 1e6,
    whole(100_000, np.int32),
    whole(4095, np.int16) - 1024,
    EVEN * 275 - 123.7,
    np.full((3, 3), 1e6),
    np.full((3, 3), -3.0),
]


@pytest.mark.parametrize(("values", "expected"), PLAIN)
def test_usual_ranges_are_plain(values, expected):
    found = infer(evidence_of(values))
    assert (found.text, found.doubt) == (expected, "")


@pytest.mark.parametrize(("values", "expected"), DOUBTFUL)
def test_what_may_be_another_range_is_doubtful(values, expected):
    found = infer(evidence_of(values))
    assert found.text == expected
    assert found.doubt.endswith(".")
    assert all(read_range(other) for other in found.others)


@pytest.mark.parametrize("values", UNUSUAL)
def test_other_numbers_have_no_usual_range(values):
    assert infer(evidence_of(values)) is None


def test_the_sample_meets_every_channel_and_column():
    for width in (3, 4, 6, 64):
        values = np.arange(width, dtype=np.uint8).repeat(9).reshape(width, 9).T
        many = np.tile(values, (9_000, 1))
        assert set(evidence_of(many, 5_000).sample) == set(range(width))


def test_numbers_that_are_none_are_passed_over():
    values = EVEN.copy()
    values[0] = np.nan
    values[1, 0, 0] = np.inf
    known = evidence_of(values)
    assert (known.high <= 1, infer(known).text) == (True, "0-1")
    assert evidence_of(np.full((2, 2), np.nan)).high == 0
    assert eight_bits(np.array([np.nan, np.inf, -np.inf, 1.0]), 0, 1).tolist() == [0, 0, 0, 255]


def test_numbers_are_rounded_and_cut_never_wrapped():
    values = np.array([-5, 0, 128, 255, 256, 70_000])
    assert eight_bits(values, 0, 255).tolist() == [0, 0, 128, 255, 255, 255]
    assert num_clipped(values, 0, 255) == 3
    deep = np.array([0, 1, 2047, 4095, 65_535], np.uint16)
    assert eight_bits(deep, 0, 4095).tolist() == [0, 0, 127, 255, 255]
    swapped = deep.astype(">u2")
    assert eight_bits(swapped, 0, 4095).tolist() == [0, 0, 127, 255, 255]
    every = np.arange(65_536, dtype=np.uint16)
    expected = np.round(every.astype(np.float64) * 255 / 65_535)
    assert np.array_equal(eight_bits(every, 0, 65_535), expected)


def test_other_numbers_are_stretched_without_a_few_extremes():
    known = evidence_of(with_one(EVEN * 40 + 10, 1e6))
    low, high, *_ = stretched(known)
    assert 9 < low < 11
    assert 49 < high < 51
    assert stretched(evidence_of(np.full(4, 3.0)))[:2] == (3, 4)


def test_ranges_are_text():
    assert read_range("0-4095")[:2] == (0, 4095)
    assert read_range("-1-1")[:2] == (-1, 1)
    assert read_range("-1000--200.5")[:2] == (-1000, -200.5)
    assert read_range(infer(evidence_of(EVEN)).text).text == "0-1"
    assert [read_range(text) for text in ("5-2", "1-1", "", "auto", "3")] == [None] * 5
    assert range_words("0-65535") == "0 to 65,535"
    assert range_words("each") == "each image by itself"
