"""Numbers as people write them."""

from __future__ import annotations

import math

import pytest

from workbench.core import format as numbers


def test_examples_of_the_design():
    assert numbers.count(1676982) == "1,676,982"
    assert numbers.short(24.1e6) == "24.1 M"
    assert numbers.short(896) == "896"
    assert numbers.share(0.809) == "80.9%"
    assert numbers.duration(892) == "14 min 52 s"


def test_not_finite_is_a_dash():
    assert numbers.share(None) == "–"
    assert numbers.share(math.nan) == "–"
    assert numbers.duration(math.inf) == "–"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.006, "6 ms"),
        (1.0, "1.0 s"),
        (59.7, "1 min 00 s"),
        (3780, "1 h 03 min"),
        (90000, "1 d 1 h"),
    ],
)
def test_durations(seconds, words):
    assert numbers.duration(seconds) == words


@pytest.mark.parametrize(
    ("value", "words"), [(999, "999"), (999.9e3, "1.0 M"), (1000, "1.0 k"), (123456, "123 k")]
)
def test_short(value, words):
    assert numbers.short(value) == words


@pytest.mark.parametrize(
    ("milliseconds", "words"),
    [(0.51234, "0.512 ms"), (6.2, "6.2 ms"), (407.2, "407 ms"), (999.6, "1.0 s"), (1090, "1.1 s")],
)
def test_measured_times_have_no_exponent(milliseconds, words):
    assert numbers.milliseconds_text(milliseconds) == words


def test_plural():
    assert numbers.plural(1, "problem") == "1 problem"
    assert numbers.plural(0, "class", "classes") == "0 classes"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0, "0.1 s"), (12.3, "12 s"), (100, "1.7 min"), (7_300, "2 h"), (math.inf, "–")],
)
def test_an_estimated_duration_has_two_digits(seconds, words):
    assert numbers.rough_duration(seconds) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 bytes"), (999, "999 bytes"), (1_100_000_000, "1.1 GB"), (999_600, "1.0 MB")],
)
def test_bytes(count, words):
    assert numbers.bytes_text(count) == words


def test_the_largest_unit_goes_on():
    assert numbers.bytes_text(1e19) == f"{1e19 / 1000**4:.0f} TB"


@pytest.mark.parametrize(
    ("value", "words"),
    [(None, "–"), (0.00012, "1.200e-04"), (0.5, "0.5000"), (123_456.0, "1.235e+05")],
)
def test_metrics(value, words):
    assert numbers.number_text(value) == words


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (0, "0 bytes"),
        (12_300_000, "12.3 MB"),
        (999_400_000, "999 MB"),
        (999_600_000, "1.0 GB"),
        (25_300_000_000, "25.3 GB"),
        (1_666_000_000_000, "1,666 GB"),
    ],
)
def test_memory_has_one_unit_above_a_gigabyte(count, words):
    assert numbers.memory_text(count) == words


@pytest.mark.parametrize(
    ("title", "words"),
    [("This computer", "this computer"), ("TPU of this computer", "TPU of this computer")],
)
def test_a_title_within_a_sentence_has_a_capital_only_for_abbreviations(title, words):
    assert numbers.within_sentence(title) == words


def test_a_path_that_is_no_unicode_becomes_text():
    assert numbers.path_text("a/\udcff.png") == "a/\\udcff.png"
    assert numbers.path_text("ä/b.png") == "ä/b.png"


def test_class_names_can_be_shown_and_stored():
    assert numbers.plain_name("rose") == "rose"
    assert numbers.plain_name(" a\nb\udcff ") == "a?b?"
    assert numbers.plain_name(b"caf\xc3\xa9\xff") == "café\N{REPLACEMENT CHARACTER}"
    assert numbers.plain_name("n" * 120) == "n" * 100
    assert numbers.plain_name("  ") == "(no name)"
