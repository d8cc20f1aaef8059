"""The text of a C header: kernels that are used, constants, and the calls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from workbench.exports._c.flat import Values
from workbench.exports._c.program import (
    Argument,
    Buffer,
    Options,
    Output,
    Part,
    Patch,
    Program,
    Step,
    Table,
)
from workbench.programs.texts import comment_text, fill, read

# arena ---------------------------------------------------------------------------------------
# The places of buffers in one piece of memory: those that are not needed at once share bytes.

Span = tuple[int, int]
"""The first and the last step that a buffer is of."""


def plan(steps: list[Step]) -> tuple[dict[Buffer, int], int]:
    """(offset of each buffer without a name, size of all), in bytes.

    The largest buffer is placed first, as low as it fits beside those that live at the same time.
    """
    lives = _lives(steps)
    owners = _owners(steps, lives)
    spans: dict[Buffer, Span] = {}
    for buffer, owner in owners.items():
        (first, last), (begin, end) = lives[buffer], spans.get(owner, lives[buffer])
        spans[owner] = (min(first, begin), max(last, end))
    places: dict[Buffer, int] = {}
    for owner in sorted(spans, key=lambda each: (-each.size, spans[each])):
        places[owner] = _place(owner, places, spans)
    size = max((place + owner.size for owner, place in places.items()), default=0)
    return {buffer: places[owner] for buffer, owner in owners.items()}, size


def _lives(steps: list[Step]) -> dict[Buffer, Span]:
    lives: dict[Buffer, Span] = {}
    for number, step in enumerate(steps):
        for buffer in step.buffers:
            if not buffer.name:
                lives[buffer] = (lives.get(buffer, (number,))[0], number)
    return lives


def _owners(steps: list[Step], lives: dict[Buffer, Span]) -> dict[Buffer, Buffer]:
    """Whose place each buffer has: its own, or that of one that its step is the last to read, and
    reads no more where it has written.
    """
    owners = {buffer: buffer for buffer in lives}
    for number, step in enumerate(steps):
        source, target = step.shares, step.output
        if source not in owners or target not in owners or target.size > source.size:
            continue
        tenants = [each for each, owner in owners.items() if owner is owners[source]]
        if lives[target][0] == number and all(
            lives[each][1] <= number for each in tenants if each is not target
        ):
            owners[target] = owners[source]
    return owners


def _place(owner: Buffer, places: dict[Buffer, int], spans: dict[Buffer, Span]) -> int:
    begin, end = spans[owner]
    place = 0
    for low, high in sorted(
        (low, low + other.size)
        for other, low in places.items()
        if spans[other][0] <= end and begin <= spans[other][1]
    ):
        if place + owner.size <= low:
            break
        place = max(place, high)
    return place


# header --------------------------------------------------------------------------------------

_NEEDS = {
    "conv2d": ("weights",),
    "dense": ("weights",),
    "depthwise_conv2d": ("weights",),
    "transpose_conv": ("weights",),
    "sum": ("reduce",),
    "largest": ("reduce",),
    "combine": (),
    **dict.fromkeys(
        ("add", "maximum", "minimum", "multiply", "prelu", "squared_difference"), ("combine",)
    ),
}
_WIDTH = 100


class _Constants:
    """Constants of the header, each once."""

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}
        self.lines: list[str] = []
        self.size = 0

    def identifier(self, value: Table | Options) -> str:
        """The C identifier of a constant; its definition is written on first use."""
        if isinstance(value, Table):
            key: Any = (value.kind, value.values.tobytes())
            return self._names.get(key) or self._table(key, value)
        fields = ", ".join(map(self._field, value.fields))
        key = (value.kind, fields)
        if key not in self._names:
            name = self._names[key] = f"model_{value.kind}_{len(self._names)}"
            self.lines.append(f"static const model_{value.kind} {name} = {{{fields}}};")
        return self._names[key]

    def _table(self, key: Any, value: Table) -> str:
        name = self._names[key] = f"model_numbers_{len(self._names)}"
        values = value.values.ravel()
        self.lines.append(f"static const {value.kind} {name}[{values.size}] = {{")
        self.lines += _rows(values)
        self.lines.append("};")
        self.size += value.values.nbytes
        return name

    def _field(self, value: Any) -> str:
        if isinstance(value, Table | Options):
            return self.identifier(value)
        if isinstance(value, Sequence):
            return "{" + ", ".join(map(str, value)) + "}"
        return str(value)


def _rows(values: Values) -> Iterable[str]:
    """Numbers in lines of equal width, at most."""
    if not values.size:
        return
    longest = max(len(str(values.min())), len(str(values.max())))
    count = (_WIDTH - 4) // (longest + 2)
    texts = list(map(str, values.tolist()))
    for start in range(0, len(texts), count):
        yield "    " + ", ".join(texts[start : start + count]) + ","


def header_text(
    program: Program, *, shape: Sequence[int], class_names: Sequence[str], title: str
) -> str:
    """The header.

    Args:
        program: The network.
        shape: (height, width, channels) of an image.
        class_names: In the order of the scores.
        title: For the comment.
    """
    places, arena = plan(program.steps)
    constants = _Constants()
    calls = [line for step in program.steps for line in _call(step, places, constants)]
    height, width, channels = shape
    arguments = [each for step in program.steps for each in step.arguments]
    values = {
        "title": title_text(title),
        "height": height,
        "width": width,
        "channels": channels,
        "num_classes": program.scores.buffer.size,
        "arena": max(arena, 1),
        "patch": max((a.count for a in arguments if isinstance(a, Patch)), default=0),
        "constants_size": constants.size,
        "scale": _scale(program.scores),
        "zero": program.scores.zero,
        "layers": _layers(program.layers),
        "names": ",\n".join(map(_text, class_names)),
        "kernels": "\n".join(read(f"c/{name}.c") for name in _kernels(program.steps)),
        "constants": "\n".join(constants.lines),
        "calls": "\n".join(calls),
    }
    return fill(read("c/header.txt"), values)


def _scale(output: Output) -> str:
    return f"{float(np.float32(output.scale))!r}F"


def _layers(layers: Mapping[str, Output]) -> str:
    """Variables for the outputs of layers, and a macro that is called with each."""
    if not layers:
        return ""
    lines = [f"static uint8_t model_{name}[{each.buffer.size}];" for name, each in layers.items()]
    lines.append("#define MODEL_LAYERS(show) \\")
    lines += [
        f"    show(model_{name}, {_scale(each)}, ({each.zero})) \\" for name, each in layers.items()
    ]
    return "\n".join([*lines, "", ""])


def title_text(title: str) -> str:
    """A title inside a comment."""
    return _comment(title) or "A network"


def _comment(text: str) -> str:
    return comment_text(text).replace("*", "")


def _kernels(steps: Iterable[Step]) -> list[str]:
    """Names of the texts that some steps need, in the order of their definitions."""
    found = ["base"]
    for step in steps:
        for name in (step.kernel, *(a for a in step.arguments if isinstance(a, str))):
            found += [each for each in (*_NEEDS.get(name, ()), name) if each not in found]
    return found


def _call(step: Step, places: dict[Buffer, int], constants: _Constants) -> list[str]:
    layer = _comment(step.layer.partition(";")[0])
    *inputs, output = step.arguments
    is_bytes = step.kernel == "lookup"
    texts = [_argument(each, places, constants, is_bytes=is_bytes) for each in inputs]
    texts.append(_argument(output, places, constants, is_bytes=is_bytes, is_output=True))
    return [f"/* {layer} */", f"model_{step.kernel}({', '.join(texts)});"]


def _argument(
    value: Argument,
    places: dict[Buffer, int],
    constants: _Constants,
    *,
    is_bytes: bool = False,
    is_output: bool = False,
) -> str:
    if isinstance(value, Options):
        return f"&{constants.identifier(value)}"
    if isinstance(value, Table):
        return constants.identifier(value)
    if isinstance(value, Patch):
        return "model_patch"
    if isinstance(value, Buffer | Part):
        buffer, offset = (value.buffer, value.offset) if isinstance(value, Part) else (value, 0)
        if buffer.name:
            return buffer.name
        place = f"model_arena + {places[buffer] + offset}"
        kind = "uint8_t *" if is_output else "const uint8_t *"
        return f"({kind})({place})" if is_bytes else place
    return f"model_{value}" if isinstance(value, str) else str(value)


def _text(name: str) -> str:
    """A string of C; what is not plain ASCII as octal numbers of its UTF-8 bytes."""
    plain = [
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\?' else f"\\{byte:03o}"
        for byte in name.encode("utf-8", "replace")
    ]
    return f'"{"".join(plain)}"'
