"""Conversion of a LiteRT model to the text of a C header."""

from __future__ import annotations

from workbench.exports._c import combining, moving, windows
from workbench.exports._c.flat import FlatModel, NoCodeError
from workbench.exports._c.lowering import Network
from workbench.exports._c.program import Program

_KERNELS = {**windows.KERNELS, **combining.KERNELS, **moving.KERNELS}


def lower(model: FlatModel) -> Program:
    """A network as calls of kernels.

    Raises:
        NoCodeError: there is no C code for an operator.
    """
    network = Network(model)
    for op in model.operators:
        if network.is_pointwise(op):
            continue
        if op.kind not in _KERNELS:
            tensor = model.tensors[op.outputs[0]]
            raise NoCodeError(f"no C code for the operator {op.kind}", tensor)
        _KERNELS[op.kind](network, op)
    return network.finish()
