"""Numbers as people type them."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.core.params import evaluate
from workbench.errors import ParamError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("64", 64),
        (" 64*2 ", 128),
        ("64 × 2", 128),
        ("32+16", 48),
        ("(128-32)/2", 48),
        ("-(2 + 3)", -5),
        ("−5", -5),
        ("10,000", 10_000),
        ("12,345,678 + 1", 12_345_679),
        ("10 000", 10_000),
        ("10\N{NARROW NO-BREAK SPACE}000", 10_000),
        ("007", 7),
        ("2*3.5", 7),
    ],
)
@pytest.mark.parametrize("is_whole", [False, True])
def test_what_means_a_whole_number(text, value, is_whole):
    found = evaluate(text, is_whole=is_whole)
    assert found == value
    assert isinstance(found, int)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-3", 0.001),
        ("1E3", 1000),
        ("1/255", 1 / 255),
        ("0.1*3", 0.3),
        ("0,5", 0.5),
        ("0,125", 0.125),
        (".5", 0.5),
        ("1,000.5", 1000.5),
    ],
)
def test_what_means_a_number(text, value):
    assert evaluate(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "abc",
        "1e",
        "5 5",
        "1.2.3",
        "1,5,3",
        "2**5",
        "7//2",
        "7%2",
        "2(3)",
        "1/0",
        "1e999",
        "0x10",
        "1_000",
        "1j",
        "n0",
        "'1'",
        "()",
        "__import__('os')",
        "(" * 99,
        "9" * 101,
        "٣",
    ],
)
def test_what_is_no_number_is_refused(text):
    with pytest.raises(ParamError):
        evaluate(text)


@pytest.mark.parametrize("text", ["1e3", "0,5", "1,0000"])
def test_a_whole_number_has_neither_exponent_nor_decimal_comma(text):
    with pytest.raises(ParamError):
        evaluate(text, is_whole=True)


NUMBERS = st.one_of(
    st.integers(0, 10**9).map(str),
    st.integers(1000, 10**9).map("{:,}".format),
    st.decimals(0, 10**6, allow_nan=False, places=4).map("{:f}".format),
    st.tuples(st.integers(0, 99), st.integers(-9, 9)).map(lambda pair: f"{pair[0]}e{pair[1]}"),
)


def compound(inner):
    joined = st.tuples(inner, st.sampled_from("+-*/"), inner)
    return st.one_of(
        joined.map(lambda three: (f"({three[0][0]} {three[1]} {three[2][0]})", three)),
        inner.map(lambda each: (f"-{each[0]}" if each[0][0] != "-" else f"(-{each[0]})", each)),
    )


SUMS = st.recursive(NUMBERS.map(lambda text: (text, None)), compound, max_leaves=6)


def value_of(tree):
    """The exact value, computed beside the parser from how the text was made."""
    text, parts = tree
    if parts is None:
        return Fraction(text.replace(",", ""))
    if len(parts) == 2:
        return -value_of(parts)
    left, sign, right = value_of(parts[0]), parts[1], value_of(parts[2])
    return {"+": left.__add__, "-": left.__sub__, "*": left.__mul__, "/": left.__truediv__}[sign](
        right
    )


@given(SUMS)
def test_a_sum_has_its_exact_value_rounded_once(tree):
    text, _ = tree
    try:
        exact = value_of(tree)
    except ZeroDivisionError:
        exact = None
    if exact is None or len(text) > 100:
        with pytest.raises(ParamError):
            evaluate(text)
    else:
        assert evaluate(text) == (int(exact) if exact.denominator == 1 else float(exact))


@given(st.text(st.sampled_from("0123456789.,+-*/()e abcn'_\"[]{}:=%^|&~<>\n×−"), max_size=40))
def test_any_text_is_a_finite_number_or_refused(text):
    for is_whole in (False, True):
        try:
            value = evaluate(text, is_whole=is_whole)
        except ParamError:
            continue
        assert isinstance(value, int | float)
        assert math.isfinite(value)


@given(st.integers(-(10**12), 10**12))
def test_a_number_as_it_is_shown_is_read_as_that_number(number):
    assert evaluate(f"{number:,}", is_whole=True) == number


@given(st.floats(-1e12, 1e12, allow_subnormal=False))
def test_a_float_as_it_is_shown_is_read_as_that_float(number):
    assert evaluate(f"{number:.8g}") == float(f"{number:.8g}")
