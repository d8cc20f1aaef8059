"""What the TPU compiler's answers mean: fits, needs more memory than there is, or refused."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

import msgspec

from workbench.errors import TpuError

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
