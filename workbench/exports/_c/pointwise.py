"""Operators that compute each number from those at the same place, in float64."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.exports._c.fixed_point import limits
from workbench.exports._c.flat import Operator, Tensor, Values

Function = Callable[..., Any]
_SQRT_2, _GELU = math.sqrt(2), math.sqrt(2 / math.pi)
_erf = np.vectorize(math.erf, otypes=[np.float64])


def _gelu(x: Values, options: Mapping[str, Any]) -> Any:
    if options.get("approximate"):
        return 0.5 * x * (1 + np.tanh(_GELU * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + _erf(x / _SQRT_2))


def _sigmoid(x: Values) -> Any:
    return 0.5 * (1 + np.tanh(0.5 * x))


_ONE: dict[str, Function] = {
    "ABS": np.abs,
    "CAST": lambda x: x,
    "CEIL": np.ceil,
    "COS": np.cos,
    "DEQUANTIZE": lambda x: x,
    "ELU": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "EXP": np.exp,
    "FLOOR": np.floor,
    "HARD_SWISH": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "LOG": lambda x: np.log(np.maximum(x, 1e-300)),
    "LOGICAL_NOT": lambda x: 1 - x,
    "LOGISTIC": _sigmoid,
    "NEG": np.negative,
    "QUANTIZE": lambda x: x,
    "RELU": lambda x: np.maximum(x, 0),
    "RELU6": lambda x: np.clip(x, 0, 6),
    "RELU_0_TO_1": lambda x: np.clip(x, 0, 1),
    "RELU_N1_TO_1": lambda x: np.clip(x, -1, 1),
    "ROUND": np.rint,
    "RSQRT": lambda x: 1 / np.sqrt(np.maximum(x, 1e-300)),
    "SIGN": np.sign,
    "SIN": np.sin,
    "SQRT": lambda x: np.sqrt(np.maximum(x, 0)),
    "SQUARE": np.square,
    "TANH": np.tanh,
}

_SEVERAL: dict[str, Function] = {
    "ADD": np.add,
    "DIV": lambda a, b: a / np.where(b == 0, 1e-300, b),
    "EQUAL": np.equal,
    "GREATER": np.greater,
    "GREATER_EQUAL": np.greater_equal,
    "LESS": np.less,
    "LESS_EQUAL": np.less_equal,
    "LOGICAL_AND": np.logical_and,
    "LOGICAL_OR": np.logical_or,
    "MAXIMUM": np.maximum,
    "MINIMUM": np.minimum,
    "MUL": np.multiply,
    "NOT_EQUAL": np.not_equal,
    "POW": lambda a, b: np.power(np.maximum(a, 0), b),
    "PRELU": lambda a, b: np.where(a >= 0, a, a * b),
    "SELECT": lambda a, b, c: np.where(a != 0, b, c),
    "SELECT_V2": lambda a, b, c: np.where(a != 0, b, c),
    "SQUARED_DIFFERENCE": lambda a, b: np.square(a - b),
    "SUB": np.subtract,
}

_WITH_OPTIONS: dict[str, Function] = {
    "GELU": _gelu,
    "LEAKY_RELU": lambda x, options: np.where(x >= 0, x, x * options["alpha"]),
}

POINTWISE = frozenset({*_ONE, *_SEVERAL, *_WITH_OPTIONS})
"""Names of the operators."""


def compute(op: Operator, inputs: Sequence[Values], output: Tensor) -> Values:
    """What an operator's output stands for, rounded to the numbers that its tensor has."""
    if op.kind in _WITH_OPTIONS:
        found = _WITH_OPTIONS[op.kind](*inputs, op.options)
    else:
        found = (_ONE.get(op.kind) or _SEVERAL[op.kind])(*inputs)
    found = np.clip(np.asarray(found, np.float64), *limits(op.options, output))
    return output.real(output.numbers(found)) if output.is_quantized else found
