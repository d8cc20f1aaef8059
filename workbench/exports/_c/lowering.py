"""Lowering of LiteRT's operators to steps: which tensor is where, and functions of one number as
tables.

A tensor that each number of another one decides by itself is not computed until a kernel needs it;
however many operators are between, they are one table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.exports._c.flat import FlatModel, NoCodeError, Operator, Tensor, Values, limits
from workbench.exports._c.program import Argument, Buffer, Output, Program, Step, Table

# pointwise -----------------------------------------------------------------------------------
# Operators that compute each number from those at the same place, in float64.

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


# lowering ------------------------------------------------------------------------------------

SCORES = "scores"
"""The name of the answers, in the signature and in C."""

_BYTES = np.arange(256, dtype=np.uint8)


@dataclass(frozen=True)
class Stored:
    """A tensor in memory."""

    buffer: Buffer


@dataclass(frozen=True)
class LookupTensor:
    """A tensor looked up in a table: real values (256,), one for each byte of a buffer."""

    source: Buffer
    values: Values


@dataclass(frozen=True)
class Fixed:
    """A constant, by the real values that its numbers stand for."""

    values: Values


class Network:
    """A network on its way to C.

    Attributes:
        tensors: The tensors of the converted model, by index.
        program: The steps so far.
    """

    def __init__(self, model: FlatModel) -> None:
        self.tensors = model.tensors
        self._answers = dict(model.answers)
        self.program = Program(
            image=Buffer(self.tensors[model.image].size, "image"), scores=self._output(SCORES)
        )
        self._values: dict[int, Stored | LookupTensor | Fixed] = {
            model.image: Stored(self.program.image)
        }

    def _output(self, name: str) -> Output:
        tensor = self.tensors[self._answers[name]]
        place = name if name == SCORES else f"model_{name}"
        return Output(Buffer(tensor.size, place), tensor.scale, tensor.zero)

    def step(
        self, kernel: str, *arguments: Argument, tensor: Tensor, shares: Buffer | None = None
    ) -> None:
        """Adds a call."""
        self.program.steps.append(Step(kernel, arguments, tensor.name, shares))

    def new(self, index: int) -> Buffer:
        """A buffer for a tensor that a kernel writes."""
        tensor = self.tensors[index]
        if tensor.dtype != np.int8:
            raise NoCodeError(f"numbers of type {tensor.dtype}", tensor)
        buffer = Buffer(tensor.size)
        self._values[index] = Stored(buffer)
        return buffer

    def alias(self, index: int, source: int) -> None:
        """Gives a tensor the numbers of another one."""
        value = self._value(source)
        if isinstance(value, Fixed):
            value = Fixed(value.values.reshape(self.tensors[index].shape))
        self._values[index] = value

    def fix(self, index: int, values: Values) -> None:
        """Makes a tensor constant."""
        self._values[index] = Fixed(values)

    def constant(self, index: int) -> Values | None:
        """What the numbers of a constant stand for; None for another tensor."""
        value = self._value(index)
        return value.values if isinstance(value, Fixed) else None

    def integers(self, index: int) -> list[int]:
        """A constant list of integers.

        Raises:
            NoCodeError: it is computed.
        """
        found = self.constant(index)
        if found is None:
            raise NoCodeError("sizes that are computed", self.tensors[index])
        return [int(number) for number in found.ravel()]

    def numbers(self, index: int) -> Values:
        """The numbers of a constant as they are stored.

        Raises:
            NoCodeError: it is computed.
        """
        tensor = self.tensors[index]
        if tensor.data is None:
            raise NoCodeError("weights that are computed", tensor)
        return tensor.data

    def stored(self, index: int) -> Buffer:
        """The tensor in memory as int8; a step puts it there if it is not.

        Raises:
            NoCodeError: its numbers have not 8 bits.
        """
        tensor, value = self.tensors[index], self._value(index)
        if isinstance(value, Stored) and value.buffer is not self.program.image:
            return value.buffer
        if not tensor.is_quantized or isinstance(value, Fixed):
            raise NoCodeError(f"numbers of type {tensor.dtype}", tensor)
        return self._tabled(index, tensor)

    def rescaled(self, index: int, like: Tensor) -> Buffer:
        """The tensor in memory with scale and zero of another one."""
        tensor = self.tensors[index]
        if (tensor.scale, tensor.zero) == (like.scale, like.zero):
            return self.stored(index)
        mapped = self._as_lookup(index)
        if mapped is None:
            raise NoCodeError("a constant of another scale", tensor)
        return self._lookup(mapped, like, Buffer(tensor.size))

    def _tabled(self, index: int, tensor: Tensor) -> Buffer:
        mapped = self._as_lookup(index)
        assert mapped is not None  # noqa: S101 - a constant is none of memory
        buffer = self._lookup(mapped, tensor, Buffer(tensor.size))
        self._values[index] = Stored(buffer)
        return buffer

    def _lookup(self, mapped: LookupTensor, like: Tensor, buffer: Buffer) -> Buffer:
        table = like.numbers(mapped.values).astype(like.dtype).view(np.uint8)
        arguments = (mapped.source, Table("uint8_t", table), buffer.size, buffer)
        self.step("lookup", *arguments, tensor=like, shares=mapped.source)
        return buffer

    def _value(self, index: int) -> Stored | LookupTensor | Fixed:
        tensor = self.tensors[index]
        if index not in self._values:
            if tensor.data is None:
                raise NoCodeError("a tensor without numbers", tensor)
            self._values[index] = Fixed(tensor.real(tensor.data))
        return self._values[index]

    def _as_lookup(self, index: int) -> LookupTensor | None:
        """The tensor as a function of one in memory; None for a constant."""
        value, tensor = self._value(index), self.tensors[index]
        if isinstance(value, Stored):
            return LookupTensor(value.buffer, tensor.real(_BYTES.view(tensor.dtype)))
        return value if isinstance(value, LookupTensor) else None

    def is_pointwise(self, op: Operator) -> bool:
        """Computes an operator as a function of one number, where it is one, or a constant."""
        if op.kind not in POINTWISE:
            return False
        (index,) = op.outputs
        tensor = self.tensors[index]
        values = [self._value(each) for each in op.inputs]
        if all(isinstance(value, Fixed) for value in values):
            inputs = [value.values for value in values if isinstance(value, Fixed)]
            self.fix(index, compute(op, inputs, tensor))
            return True
        mapped = [self._as_lookup(each) for each in op.inputs]
        sources = {each.source for each in mapped if each is not None}
        if len(sources) != 1 or any(
            isinstance(value, Fixed) and value.values.size != 1
            if isinstance(value, Fixed)
            else self.tensors[each].shape != tensor.shape
            for each, value in zip(op.inputs, values, strict=True)
        ):
            return False
        inputs = [
            value.values.reshape(()) if isinstance(value, Fixed) else of.values  # type: ignore[union-attr]
            for value, of in zip(values, mapped, strict=True)
        ]
        found = np.broadcast_to(compute(op, inputs, tensor), (256,))
        self._values[index] = LookupTensor(sources.pop(), found)
        return True

    def finish(self) -> Program:
        """The program, with last steps that write the outputs."""
        layers = {name: self._output(name) for name in self._answers if name != SCORES}
        self.program.layers.update(layers)
        for name, output in {SCORES: self.program.scores, **layers}.items():
            index = self._answers[name]
            tensor, mapped = self.tensors[index], self._as_lookup(index)
            if tensor.dtype != np.uint8 or mapped is None:
                raise NoCodeError(f"answers of type {tensor.dtype}", tensor)
            self._lookup(mapped, tensor, output.buffer)
        return self.program
