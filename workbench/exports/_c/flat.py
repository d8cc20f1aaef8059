"""What LiteRT's converter has written: tensors and operators of its flatbuffer."""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from workbench.core.specs import UnsupportedError

Values = np.ndarray[Any, np.dtype[Any]]

_SCHEMA = "tensorflow.lite.python.schema_py_generated"
_TYPES = {
    "FLOAT32": np.float32,
    "INT32": np.int32,
    "UINT8": np.uint8,
    "INT64": np.int64,
    "BOOL": np.bool_,
    "INT8": np.int8,
}


class NoCodeError(UnsupportedError):
    """An operator that there is no C code for; its tensor names the layer."""

    def __init__(self, reason: str, tensor: Tensor) -> None:
        super().__init__(reason, tensor.name)


@dataclass(frozen=True, eq=False)
class Tensor:
    """One tensor.

    Attributes:
        name: Name that the converter gave it, a path with the name of the Keras layer in it.
        dtype: Type of its numbers; numpy's object for one that is not known here.
        scales: float64 (1,), or one for each channel; empty where it is not quantized.
        zero: The number that stands for 0.
        data: Its numbers where they are constant.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    scales: Values
    zero: int
    data: Values | None

    @property
    def size(self) -> int:
        """The number of numbers."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def scale(self) -> float:
        """Its only scale.

        Raises:
            NoCodeError: it has none, or several.
        """
        if len(self.scales) != 1:
            raise NoCodeError("no scale of its own", self)
        return float(self.scales[0])

    @property
    def is_quantized(self) -> bool:
        """Whether its numbers have 8 bits and one scale."""
        return self.dtype in (np.int8, np.uint8) and len(self.scales) == 1

    def real(self, numbers: Values) -> Values:
        """What numbers of it stand for, float64; all numbers themselves where it has no scale."""
        if not self.is_quantized:
            return numbers.astype(np.float64)
        real: Values = (numbers.astype(np.float64) - self.zero) * self.scale
        return real

    def numbers(self, real: Values) -> Values:
        """The numbers, int64, that are nearest to real ones."""
        limits = np.iinfo(self.dtype)
        rounded: Values = np.rint(real / self.scale).clip(
            limits.min - self.zero, limits.max - self.zero
        )
        return rounded.astype(np.int64) + self.zero


@dataclass(frozen=True)
class Operator:
    """One operator: its LiteRT name, indexes of tensors (-1 for none) and options."""

    kind: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    options: Mapping[str, Any]


@dataclass(frozen=True)
class FlatModel:
    """Tensors, and operators in the order they are computed.

    Attributes:
        image: Index of the input.
        answers: Index of the output by its name in the signature.
    """

    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    image: int
    answers: Mapping[str, int]


def read_flat_model(data: bytes) -> FlatModel:
    """Reads a converted model with one subgraph and one signature."""
    schema = importlib.import_module(_SCHEMA)
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(data, 0))
    (graph,) = model.subgraphs
    types, kinds = _names(schema.TensorType), _names(schema.BuiltinOperator)
    codes = [
        kinds[max(code.builtinCode, code.deprecatedBuiltinCode)] for code in model.operatorCodes
    ]
    tensors = tuple(_tensor(each, types, model.buffers) for each in graph.tensors)
    operators = tuple(
        Operator(
            codes[each.opcodeIndex],
            tuple(map(int, each.inputs)),
            tuple(map(int, each.outputs)),
            vars(each.builtinOptions) if each.builtinOptions is not None else {},
        )
        for each in graph.operators
    )
    (signature,) = model.signatureDefs
    (image,) = (int(index) for index in graph.inputs)
    sources = {op.outputs[0]: op.inputs[0] for op in operators if op.inputs}
    # The converter puts a QUANTIZE behind each output, and leaves the signature as it was.
    ends = {int(index): int(index) for index in graph.outputs}
    ends |= {sources[end]: end for end in list(ends) if end in sources}
    answers = {each.name.decode(): ends[int(each.tensorIndex)] for each in signature.outputs}
    return FlatModel(tensors, operators, image, answers)


def _names(numbered: Any) -> dict[int, str]:
    return {number: name for name, number in vars(numbered).items() if isinstance(number, int)}


def _tensor(tensor: Any, types: Mapping[int, str], buffers: Any) -> Tensor:
    shape = () if tensor.shape is None else tuple(map(int, tensor.shape))
    dtype = np.dtype(_TYPES.get(types[tensor.type], np.object_))
    found, data = buffers[tensor.buffer].data, None
    if found is not None and len(found) and dtype != np.object_:
        data = np.asarray(found, np.uint8).view(dtype).reshape(shape)
    quantization = tensor.quantization
    known = quantization is not None and quantization.scale is not None
    scales = np.asarray(quantization.scale if known else [], np.float64)
    zero = int(quantization.zeroPoint[0]) if known else 0
    return Tensor(tensor.name.decode(), shape, dtype, scales, zero, data)


# fixed point ---------------------------------------------------------------------------------
# Scales as integer multipliers, and ranges of numbers of 8 bits.

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
