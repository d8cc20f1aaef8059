"""What the TPU compiler's answers mean: fits, needs more memory than there is, or refused."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

import msgspec

from workbench.core.format import shape_text
from workbench.core.network.graph import Graph
from workbench.core.network.roles import node_text
from workbench.core.registry import Registry
from workbench.core.specs import LayerSpec, Shape
from workbench.errors import ChildDiedError, DeadlineError, TpuError
from workbench.hardware.tpu_chips import ChipChoice
from workbench.preflight.lowered import node_of
from workbench.processes.child import Child
from workbench.protocol.preflight import Estimate, LargestBuffer

GIB = 1 << 30
_UNITS = {"": 1, "B": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}

# Two wordings: the newer one of the error, and the one that older releases and the log have.
_NEEDS_HAS = (
    re.compile(r"\(([\d.]+)([KMGT]?)\) exceeds available HBM \(([\d.]+)([KMGT]?)\)"),
    re.compile(r"Used ([\d.]+)([KMGT]?) of ([\d.]+)([KMGT]?) hbm"),
)
_TOTAL = re.compile(r"^Total bytes: (\d+)", re.MULTILINE)
_BUFFER = re.compile(
    r"^\s+[\d.]+\w+\(\s*\d+%\);\s+([\d.]+)([KMGT]?)i?B;\s+\d+;\s+(\d+); (.+)$", re.MULTILINE
)
_VALUE = re.compile(r"([a-z]+\d*)\[([\d,]*)\]")
_NUM_LARGEST = 6
_REINSTALL = (
    "Reinstall it: in the window by Run > “Will it train on a TPU?”, in a terminal by "
    "`workbench compiler remove`, then `workbench compiler install`."
)


class Buffer(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of the core's memory.

    Attributes:
        bytes: Its size.
        words: What lies in it, in the compiler's words.
        dtype, shape: Type and shape of the largest value in it; "" and () where none is named.
        operation: Path of names that the value was computed by, "" where unknown.
    """

    bytes: int
    words: str
    dtype: str = ""
    shape: tuple[int, ...] = ()
    operation: str = ""


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    """The program fits.

    Attributes:
        needs_bytes: Bytes of one core's memory that the step needs.
        flops, bytes_moved, cycles: Costs of one step, as the compiler estimates them.
        largest: Largest first.
    """

    needs_bytes: int
    flops: float
    bytes_moved: float
    cycles: int
    largest: list[Buffer]


class TooLarge(msgspec.Struct, frozen=True, kw_only=True):
    """The program needs more memory than a core has; fields as of `Compiled`."""

    needs_bytes: int
    has_bytes: int
    largest: list[Buffer]


class Rejected(msgspec.Struct, frozen=True, kw_only=True):
    """The compiler rejects the program for another reason, given in its own words."""

    words: str


CompilerAnswer = Compiled | TooLarge | Rejected


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    fits: bool | None = None
    fault: str = ""
    error: str = ""
    report: str = ""
    argument_bytes: int = 0
    output_bytes: int = 0
    alias_bytes: int = 0
    temp_bytes: int = 0
    generated_code_bytes: int = 0
    peak_bytes: int = 0
    flops: float = 0.0
    bytes_moved: float = 0.0
    cycles: int = 0
    largest: list[tuple[int, str]] = []


def read_answer(line: bytes) -> CompilerAnswer:
    """One line of `compile_child`.

    Raises:
        TpuError: the line is no answer, or says that the compiler cannot be used.
    """
    try:
        answer = msgspec.json.decode(line, type=_Answer)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise TpuError(
            "The output of the TPU compiler cannot be read.",
            where="compiler environment",
            received=line[:200].decode("utf-8", "replace"),
            fix=_REINSTALL,
        ) from error
    if answer.fits is None:
        raise fault_error(answer.fault)
    if answer.fits:
        return _compiled(answer)
    return _too_large(answer) or Rejected(words=_first_line(answer.error))


def fault_error(words: str) -> TpuError:
    """The error for a compiler that could not be started at all."""
    return TpuError(
        "The TPU compiler could not be started.",
        where="compiler environment",
        received=words[:400],
        fix=_REINSTALL,
    )


def _compiled(answer: _Answer) -> Compiled:
    # The peak leaves out some of what is there all the time, and the sum counts what is
    # freed early: the larger of both errs on the safe side.
    whole = answer.argument_bytes + answer.output_bytes - answer.alias_bytes
    whole += answer.temp_bytes + answer.generated_code_bytes
    return Compiled(
        needs_bytes=max(answer.peak_bytes, whole),
        flops=answer.flops,
        bytes_moved=answer.bytes_moved,
        cycles=answer.cycles,
        largest=[_result(size, words) for size, words in answer.largest[:_NUM_LARGEST]],
    )


def _result(size: int, words: str) -> Buffer:
    value, _, operation = words.partition(" ")
    dtype, shape = _largest_value(value)
    return Buffer(bytes=size, words=words, dtype=dtype, shape=shape, operation=operation)


def _too_large(answer: _Answer) -> TooLarge | None:
    text = f"{answer.error}\n{answer.report}"
    found = next((match for form in _NEEDS_HAS if (match := form.search(text))), None)
    if found is None:
        return None
    needs = _bytes(found[1], found[2])
    total = _TOTAL.search(answer.report)
    if total is not None and abs(int(total[1]) - needs) < GIB / 50:  # the same, to the byte
        needs = int(total[1])
    return TooLarge(
        needs_bytes=needs,
        has_bytes=_bytes(found[3], found[4]),
        largest=list(_buffers(answer.report))[:_NUM_LARGEST],
    )


def _buffers(report: str) -> Iterator[Buffer]:
    """The lines of the compiler's memory report, in its order: largest first."""
    for match in _BUFFER.finditer(report):
        dtype, shape = _largest_value(match[4])
        words = match[4].strip()[:300]
        yield Buffer(bytes=_bytes(match[1], match[2]), words=words, dtype=dtype, shape=shape)


def _largest_value(text: str) -> tuple[str, tuple[int, ...]]:
    values = (
        (match[1], tuple(int(axis) for axis in match[2].split(",") if axis))
        for match in _VALUE.finditer(text)
    )
    return max(values, key=lambda value: math.prod(value[1]), default=("", ()))


def _bytes(number: str, unit: str) -> int:
    return round(float(number) * _UNITS[unit])


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "no reason")[:400]


# compile call --------------------------------------------------------------------------------
# Calls the TPU compiler in its own environment: one child for any number of programs.

START_S = 120.0
"""Processor time for importing the compiler; takes 2 to 10 s."""

COMPILE_S = 600.0
"""Processor time for one program. Most take 5 to 60 s on two cores; but now and then the compiler
spends minutes on one fusion, and gets to the end of it.
"""

_KEPT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH")


class _Started(msgspec.Struct, frozen=True, kw_only=True):
    ready: dict[str, str] = {}
    fault: str = ""


class CompilerCall:
    """The compiler, running as long as its `with` block; restarted where it had to be ended.

    Args:
        python: Python executable of the compiler environment.
        folder: Private; for programs and the compiler's log.
        check: Called often; raises when the request is canceled.
    """

    def __init__(self, python: Path, folder: Path, *, check: Callable[[], None]) -> None:
        self._python = python
        self._folder = folder
        self._check = check
        self._child: Child | None = None
        self.versions: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._end()

    def compile(
        self, text: str, chip: ChipChoice, *, deadline_s: float = COMPILE_S
    ) -> CompilerAnswer:
        """Compiles one core's part of a program in StableHLO.

        Raises:
            TpuError: the compiler cannot be used.
            DeadlineError: it took too long.
            ChildDiedError: it has died, perhaps out of memory.
        """
        path = self._folder / "step.mlir"
        path.write_text(text, encoding="utf-8")
        order = {
            "text": str(path),
            "topology": chip.topology,
            "megacore": chip.generation.is_megacore,
        }
        try:
            child = self._child or self._start()
            return read_answer(child.request(msgspec.json.encode(order), deadline_s=deadline_s))
        except (DeadlineError, ChildDiedError) as error:
            self._end()
            if isinstance(error, DeadlineError):
                error.fix += " A smaller model or batch takes less time."
            raise

    def _end(self) -> None:
        if self._child is not None:
            self._child.end()
        self._child = None

    def _start(self) -> Child:
        logs = self._folder / "compiler-logs"
        logs.mkdir(exist_ok=True)
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ}
        self._child = Child(
            [str(self._python), "-I", str(Path(__file__).with_name("compile_child.py"))],
            environment={**environment, "TPU_LOG_DIR": str(logs)},
            name="the TPU compiler",
            check=self._check,
            counts_work=True,
        )
        line = self._child.answer(deadline_s=START_S)
        try:
            started = msgspec.json.decode(line, type=_Started)
        except (msgspec.ValidationError, msgspec.DecodeError) as error:
            raise fault_error(line[:200].decode("utf-8", "replace")) from error
        if not started.ready:
            raise fault_error(started.fault)
        self.versions = started.ready
        return self._child


# compiled words ------------------------------------------------------------------------------
# What a compiled step means for people: its time, its speed, and whose its large values are.

_TYPES = {
    "bf16": "bfloat16",
    "f32": "float32",
    "f16": "float16",
    "s32": "int32",
    "u32": "uint32",
    "s8": "int8",
    "u8": "uint8",
    "pred": "booleans",
}


def estimate_of(compiled: Compiled, chip: ChipChoice, per_core: int) -> Estimate:
    """How long a step takes by the compiler's cycles, and at least what computing and memory
    take at their peak.
    """
    generation = chip.generation
    computing = compiled.flops / generation.peak_flops
    moving = compiled.bytes_moved / generation.bandwidth
    seconds = max(computing, moving, compiled.cycles / generation.clock_hz, 1e-9)
    return Estimate(
        step_ms=round(1e3 * seconds, 3),
        images_per_second=round(per_core * chip.cores / seconds, 1),
        bound="compute" if computing > moving else "memory",
    )


def largest_buffers(
    buffers: Sequence[Buffer],
    graph: Graph,
    layers: Registry[LayerSpec],
    shapes: Mapping[str, Shape],
) -> list[LargestBuffer]:
    """The compiler's largest buffers in words, with the layers they come from.

    Args:
        buffers: As the compiler lists them.
        graph: The network.
        layers: The layer types.
        shapes: Output shape by node id.
    """
    found: Counter[tuple[str, int, str | None]] = Counter()
    for buffer in buffers:
        node = _node_of(buffer, graph, shapes)
        value = f"{shape_text(buffer.shape)} in {_TYPES.get(buffer.dtype, buffer.dtype)}"
        words = value if buffer.dtype else buffer.words
        if node is not None:
            words += f" at {node_text(graph.nodes[node], layers)}"
        if "gradient_tape" in buffer.operation:
            words += " (gradient)"
        found[words, buffer.bytes, node] += 1
    return [
        LargestBuffer(bytes=size, words=words if n == 1 else f"{n} x {words}", node=node)
        for (words, size, node), n in found.items()
    ]


def _node_of(buffer: Buffer, graph: Graph, shapes: Mapping[str, Shape]) -> str | None:
    """The node whose mark is in the operation; where the compiler names no operation, the
    first that gives such a shape.
    """
    if buffer.operation:
        return node_of(buffer.operation, graph) or None
    alike = (key for key in graph.order if shapes.get(key) == buffer.shape[1:])
    return next(alike, None) if len(buffer.shape) > 1 else None
