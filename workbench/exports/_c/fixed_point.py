"""Scales as integer multipliers, and ranges of numbers of 8 bits."""

from __future__ import annotations

import math
from typing import Any

from workbench.exports._c.flat import NoCodeError, Tensor

LEAST, MOST = -128, 127
_BITS = 31
_MOST_SHIFT = 62
"""Largest shift of a product of 64 bits."""

NONE, RELU, RELU_N1_TO_1, RELU6 = range(4)  # LiteRT's numbers of fused activations
_LIMITS = {
    NONE: (-math.inf, math.inf),
    RELU: (0.0, math.inf),
    RELU_N1_TO_1: (-1.0, 1.0),
    RELU6: (0.0, 6.0),
}


def multiplier(factor: float, tensor: Tensor) -> tuple[int, int]:
    """(multiplier, shift): a factor is multiplier * 2^-shift, with 31 bits of the multiplier.

    Args:
        factor: Above 0.
        tensor: What it is of, for the message.
    """
    mantissa, exponent = math.frexp(factor)
    shift = _BITS - exponent
    if shift < 1:
        raise NoCodeError("scales too far apart", tensor)
    if shift > _MOST_SHIFT:
        mantissa, shift = math.ldexp(mantissa, _MOST_SHIFT - shift), _MOST_SHIFT
    return min(round(mantissa * 2**_BITS), 2**_BITS - 1), shift


def multipliers(factors: list[float], tensor: Tensor) -> tuple[list[int], int]:
    """Multipliers of several factors, whose products are added, with one shift."""
    _, shift = multiplier(2 * max(map(abs, factors)), tensor)
    return [round(factor * 2.0**shift) for factor in factors], shift


def limits(options: Any, tensor: Tensor) -> tuple[float, float]:
    """What an activation fused with an operator limits its output to."""
    kind = options.get("fusedActivationFunction", NONE)
    if kind not in _LIMITS:
        raise NoCodeError(f"fused activation {kind}", tensor)
    return _LIMITS[kind]


def output_range(options: Any, tensor: Tensor) -> tuple[int, int]:
    """Limits of a fused activation as int8 numbers of the output."""
    low, high = limits(options, tensor)
    least = LEAST if low == -math.inf else max(LEAST, tensor.zero + round(low / tensor.scale))
    most = MOST if high == math.inf else min(MOST, tensor.zero + round(high / tensor.scale))
    return least, most
