"""C for microcontrollers: one header with integers of 8 bits, without any runtime."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

from workbench.core.outside_text import markdown_code
from workbench.core.specs import ExportReader, ExportRuntime, ExportSpec
from workbench.exports._c import combining, moving, windows
from workbench.exports._c.flat import FlatModel, NoCodeError, read_flat_model
from workbench.exports._c.header import header_text, title_text
from workbench.exports._c.lowering import Network
from workbench.exports._c.program import Program
from workbench.exports._lite import converted, integers_only

_COMPILERS = ("cc", "gcc", "clang")
_LAYERS = re.compile(r"^static uint8_t model_(layer_\d+)\[(\d+)\];$", re.MULTILINE)
_SIZES = re.compile(r"^#define MODEL_(ARENA|PATCH|CONSTANTS)_SIZE (\d+)$", re.MULTILINE)
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


def _write(context: Any, path: str) -> None:
    data = converted(context, integers_only, is_integer=True, is_calibrated=True, count=1)
    card = context.card
    text = header_text(
        lower(read_flat_model(data)),
        shape=card.input_shape,
        class_names=card.class_names,
        title=card.title,
    )
    Path(path).write_text(text, encoding="utf-8")


def _values(context: Any, path: Path) -> dict[str, Any]:
    sizes = _LAYERS.findall(path.read_text("utf-8")) if context.has_layers else []
    return {
        "title": title_text(context.card.title),
        "header": path.name,
        "has_layers": context.has_layers,
        "layer_sizes": repr({name: int(size) for name, size in sizes}),
    }


def _about(_context: Any, path: Path) -> str:
    sizes = {name: int(size) for name, size in _SIZES.findall(path.read_text("utf-8"))}
    constants, arena = f"{sizes['CONSTANTS']:,}", f"{sizes['ARENA'] + 2 * sizes['PATCH']:,}"
    header = markdown_code(path.name)
    return f"""\
In C, include {header} in one source file and call `model_classify(image, scores)`. It needs
`stdint.h` alone, {constants} bytes of constants (flash) beside its code, and {arena} bytes
of memory (RAM) beside image and scores; nothing is allocated. `classify.c` shows how:

    cc -std=c99 -O3 -o classify classify.c
    ./classify IMAGE.ppm

It takes PPM and PGM files, and raw numbers, of the shape below. Images and scores are integers of
8 bits (`uint8_t`): an image is passed as it is, 0 to 255, and a score stands for the probability
(score - MODEL_SCORE_ZERO) * MODEL_SCORE_SCALE."""


def _missing() -> str:
    return "" if any(map(shutil.which, _COMPILERS)) else f"no program {', '.join(_COMPILERS)}"


_READER = ExportReader(
    runtime=ExportRuntime(
        name="a C compiler",
        package="a C compiler",
        missing=_missing,
        install=lambda: "sudo apt-get install -y gcc libc6-dev",
        command=lambda: (sys.executable, "-P"),
        child="reader_child.py",
        texts=("classify.py", "classify.txt"),
        scripts={"classify.py": "script", "classify.c": "c_program"},
        setup="pip install numpy pillow",
        start="python",
        about=_about,
    ),
    section="c",
    values=_values,
    files=lambda _path: {"classify.c": "the same in C, for images of the network's size"},
    is_exact=False,
    has_temperature=True,
)

SPEC = ExportSpec(
    key="c",
    title="C header",
    summary="For microcontrollers: one file of C99 with all weights, in 8-bit integers, without "
    "any runtime. The range of each layer is measured on training images.",
    suffix=".h",
    group="Phones and small devices",
    order=4,
    write=_write,
    has_layers=True,
    is_standard=False,
    is_calibrated_by=200,
    reader=_READER,
)
