"""What LiteRT's converter has written: tensors and operators of its flatbuffer."""

from __future__ import annotations

import importlib
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
