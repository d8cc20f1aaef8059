"""Which number is black and which is white, where the numbers of an image are not bytes.

A range is text, "LOW-HIGH" as in "0-4095" or "-1-1": black and white. What it is inferred from is
the kind of the numbers, nearly all of them (quantiles), and then their extremes: one hot pixel
or the overshoot of a resizing changes nothing.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

Values = np.ndarray[Any, np.dtype[Any]]

_RANGE = re.compile(
    r"^(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)-(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$"
)
AUTO, EACH, MIN_MAX = "auto", "each", "min-max"
"""In place of a range: found for all images, for each by itself, from the extremes."""

_SAMPLE = 200_000
"""Numbers that are looked at closely; of all of them only the extremes are known."""

_FEW = 0.001
"""Share of numbers that may lie beyond a range by accident: hot pixels, damage."""

_OVERSHOOT = 0.15
"""How far a sharp resizing goes beyond black and white, as a share of the range..."""

_MANY = 0.2
"""...and in at most this share of the numbers."""

_FAINT = 1 / 64
"""Numbers with fractions that are all smaller have a range of their own."""

_BLOCK = 1 << 20
_LEVELS = (1, 3, 7, 15, 16, 255, 1023, 4095, 16_383, 65_535)
"""White in whole numbers: 1 to 4 bits, scikit-learn's digits, 8, 10, 12, 14 and 16 bits."""


class Evidence(NamedTuple):
    """What is known of the numbers of some images.

    Attributes:
        kind: Kind of the numbers' type, as NumPy has it: "b", "u", "i" or "f".
        size: Bytes of a number.
        low, high: The extremes of all numbers.
        sample: Some of them, sorted.
        is_whole: No number of the sample has a fraction.
    """

    kind: str
    size: int
    low: float
    high: float
    sample: Values
    is_whole: bool

    def quantile(self, share: float) -> float:
        """The number below which this share of them is."""
        return float(self.sample[int(share * (len(self.sample) - 1))])

    def beyond(self, low: float, high: float) -> float:
        """The share of numbers below `low` or above `high`."""
        below = np.searchsorted(self.sample, low, "left")
        above = len(self.sample) - np.searchsorted(self.sample, high, "right")
        return float(below + above) / len(self.sample)

    def joined(self, other: Evidence) -> Evidence:
        """Combines the evidence of both, which have the same type."""
        return Evidence(
            self.kind,
            self.size,
            min(self.low, other.low),
            max(self.high, other.high),
            np.sort(np.concatenate([self.sample, other.sample])),
            self.is_whole and other.is_whole,
        )


class Range(NamedTuple):
    """Black and white.

    Attributes:
        low, high: The numbers that are black and white.
        doubt: Why it may be another, as a sentence; "" where it is plain.
        others: Other ranges that it could be, as texts.
    """

    low: float
    high: float
    doubt: str = ""
    others: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """LOW-HIGH."""
        return f"{self.low:.10g}-{self.high:.10g}"


def read_range(text: str) -> Range | None:
    """The range that a text names; None where it names none."""
    found = _RANGE.match(text.strip())
    if found is None or not float(found[1]) < float(found[2]):
        return None
    return Range(float(found[1]), float(found[2]))


def range_words(text: str) -> str:
    """A range in words: "0 to 4,095"."""
    found = read_range(text)
    if found is None:
        return {EACH: "each image by itself", MIN_MAX: "least to greatest"}.get(
            text, text
        )
    return " to ".join(f"{value:,.10g}" for value in (found.low, found.high))


def evidence_of(values: Values, count: int = _SAMPLE) -> Evidence:
    """What is known of an array; numbers that are not finite are passed over."""
    flat = values.reshape(-1)
    step = max(1, len(flat) // count)
    step += step > 1 and step % 2 == 0  # so that every channel and column is met
    step += 2 * (step % 3 == 0)
    sample = flat[::step].astype(np.float64)
    low, high = (float(flat.min()), float(flat.max())) if len(flat) else (0.0, 0.0)
    if values.dtype.kind == "f":
        sample = sample[np.isfinite(sample)]
        if not np.isfinite([low, high]).all():
            finite = flat[np.isfinite(flat)]
            low, high = (
                (float(finite.min()), float(finite.max()))
                if len(finite)
                else (0.0, 0.0)
            )
    if not len(sample):
        sample = np.array([low])
    is_whole = bool((sample == np.floor(sample)).all())
    kind, size = values.dtype.kind, values.dtype.itemsize
    return Evidence(kind, size, low, high, np.sort(sample), is_whole)


def infer(known: Evidence) -> Range | None:
    """The range that the numbers most likely have; None where no usual one fits."""
    if known.kind == "b":
        return Range(0, 1)
    if known.low == known.high and known.low >= 0:
        return _constant(known)
    return _whole(known) if known.is_whole else _real(known)


def _constant(known: Evidence) -> Range | None:
    if known.kind == "u" and known.size == 1:
        return Range(0, 255)
    tops = (1, 255, 65_535) if known.kind == "f" else (255, 65_535)
    top = next((top for top in tops if known.high <= top), None)
    return (
        None
        if top is None
        else Range(0, top, "All numbers are the same.", ("0-1", "0-255"))
    )


def _whole(known: Evidence) -> Range | None:
    if known.low < 0 and not known.quantile(_FEW) >= 0:
        return _signed(known)
    top = known.high
    most = known.quantile(1 - _FEW)
    found = _without_extremes(known, top, most)
    if found is not None:
        return found
    level = next((each for each in _LEVELS if each >= top), None)
    return None if level is None else Range(0, level, *_doubt(top, most, level))


def _without_extremes(known: Evidence, top: float, most: float) -> Range | None:
    """The range of nearly all whole numbers, where the few others would make them nearly black."""
    if top <= 255 or most < 32 or (known.kind == "u" and known.size == 1):
        return None
    level = next((each for each in _LEVELS if each >= max(most, 255)), 0)
    whole = next((each for each in _LEVELS if each >= top), int(top))
    if not level or (whole < 16 * level and not (level == 255 < whole and most > 127)):
        return None
    doubt = (
        f"Nearly all numbers are at most {most:,.0f}, but the greatest is {top:,.0f}."
    )
    return Range(0, level, doubt, (f"0-{whole}",))


def _doubt(top: float, most: float, level: int) -> tuple[str, tuple[str, ...]]:
    """Why whole numbers from 0 to `top` may have another range than `level`, and which."""
    if level == 1:
        return "", ("0-255",)
    if level < 255:
        doubt = (
            ""
            if level == 16 == top
            else f"The greatest number is {top:,.0f}: few for images."
        )
        return doubt, ("0-255",)
    if level == 255:
        doubt = f"Nearly all numbers are at most {most:,.0f}: black for 0-255."
        return (doubt if most < 32 else ""), (f"0-{max(1, top):.0f}",)
    others = [f"0-{each}" for each in _LEVELS if each > level] + [f"0-{top:.0f}"]
    doubt = "" if top > 0.75 * level else f"The greatest number is {top:,.0f}."
    if level == 65_535 and top > 32_767:
        doubt = ""
    return doubt, tuple(each for each in others if each != f"0-{level}")


def _signed(known: Evidence) -> Range | None:
    """Whole numbers of both signs."""
    if known.low >= -1 and known.high <= 1:
        return Range(-1, 1)
    if known.low >= -128 and known.high <= 127 and known.quantile(1 - _FEW) > 31:
        doubt = "Bytes above 127 that were stored as signed numbers would be wrong."
        return Range(-128, 127, doubt)
    return None


def _real(known: Evidence) -> Range | None:
    """Numbers with fractions."""
    low, most = known.quantile(_FEW), known.quantile(1 - _FEW)
    if max(-low, most) < _FAINT:
        return None
    if _fits(known, 0, 1):
        return _unit(known, most)
    if known.beyond(-0.5, 0.5) <= _FEW and low < -0.25 and most > 0.25:
        return Range(-0.5, 0.5, "Numbers from -0.5 to 0.5 are rare.", ("-1-1",))
    if _fits(known, -1, 1):
        doubt = (
            ""
            if low < -0.75
            else f"Nearly all numbers are between {low:g} and {most:g}."
        )
        return Range(-1, 1, doubt, (f"{known.low:g}-{known.high:g}",) if doubt else ())
    if known.beyond(0, known.high) > _MANY:
        is_shifted = known.beyond(-128, 128) <= _FEW and most > 31 and low < -31
        return (
            Range(-128, 127, "Numbers from -128 to 127 are rare.")
            if is_shifted
            else None
        )
    return _large(known, most)


def _unit(known: Evidence, most: float) -> Range:
    """The range 0 to 1, with a doubt where numbers lie beyond."""
    doubt = ""
    if (
        known.beyond(-_OVERSHOOT, 1 + _OVERSHOOT)
        or min(known.low, 1 - known.high) < -_OVERSHOOT
    ):
        doubt = f"A few numbers lie far beyond: {known.low:g} to {known.high:g}."
    elif known.beyond(0, 1) > _MANY / 2:
        doubt = f"Many numbers lie beyond: {known.low:g} to {known.high:g}."
    elif most <= 0.25:
        doubt = f"Nearly all numbers are at most {most:g}."
    return Range(0, 1, doubt, (f"{known.low:g}-{known.high:g}",) if doubt else ())


def _large(known: Evidence, most: float) -> Range | None:
    """Numbers with fractions, beyond 1 and hardly below 0."""
    tops = (16, 255, 1023, 4095, 16_383, 65_535)
    top = next((top for top in tops if _fits(known, 0, top)), None)
    if top is None or (top == 16 and most < 15):
        return None
    fills = most > 0.5 * top if top == 255 else most > 0.9 * top
    doubt = "" if fills and top != 16 else f"Nearly all numbers are at most {most:g}."
    return Range(0, top, doubt, (f"0-{known.high:g}",) if doubt else ())


def _fits(known: Evidence, low: float, high: float) -> bool:
    """Whether all but a few numbers are in a range, some of them a little beyond it."""
    slack = _OVERSHOOT * (high - low)
    is_near = known.beyond(low - slack, high + slack) <= _FEW
    return is_near and known.beyond(low, high) <= _MANY


def stretched(known: Evidence) -> Range:
    """The range from about the least to about the greatest number."""
    low, high = known.low, known.high
    least, most = known.quantile(_FEW), known.quantile(1 - _FEW)
    if high - low > 4 * (most - least) > 0:
        low, high = least, most
    return Range(low, high if high > low else low + 1)


def eight_bits(values: Values, black: float, white: float) -> Values:
    """Numbers as uint8, rounded: `black` and what is below become 0, `white` and what is above 255;
    what is infinite or not a number becomes 0.
    """
    if values.dtype == np.uint8 and (black, white) == (0, 255):
        return values
    if values.dtype.kind == "u" and values.dtype.itemsize <= 2:
        every = np.arange(1 << 8 * values.dtype.itemsize)
        table: Values = _scaled(every, black, white)[values]
        return table
    made = np.empty(values.shape, np.uint8)
    flat, out = values.reshape(-1), made.reshape(-1)
    for start in range(0, len(flat), _BLOCK):
        out[start : start + _BLOCK] = _scaled(
            flat[start : start + _BLOCK], black, white
        )
    return made


def _scaled(values: Values, black: float, white: float) -> Values:
    numbers = (values.astype(np.float64) - black) * (255 / (white - black))
    numbers = np.nan_to_num(numbers, posinf=0.0, neginf=0.0)
    scaled: Values = np.round(np.clip(numbers, 0, 255)).astype(np.uint8)
    return scaled


def num_clipped(values: Values, black: float, white: float) -> int:
    """How many numbers are below black or above white."""
    return int(np.count_nonzero(values < black) + np.count_nonzero(values > white))
