"""Arrays of numbers as images: which axis is which, and which value is white."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.core.specs import Inference, LoadContext, Option
from workbench.errors import DatasetError
from workbench.pictures.portable.ranges import (
    AUTO,
    EACH,
    MIN_MAX,
    Evidence,
    Range,
    eight_bits,
    evidence_of,
    infer,
    num_clipped,
    range_words,
    read_range,
)

Array = np.ndarray[Any, Any]

_BLOCK_BYTES = 8 * 2**20

_NUMBERS = 400_000
"""Numbers of an array that are looked at closely."""

_LOOKED_AT = 1000
"""Images whose own ranges are compared."""

_CHANNELS = frozenset({1, 3})
_MIXED_ABOVE = 16
_MOST_CUT = 0.1
"""Share of the numbers of an array that may be beyond its range."""

EXPECTED = "(n, height, width), (n, height, width, 1 or 3) or (n, 1 or 3, height, width)"


@dataclass(frozen=True)
class Axes:
    """How the axes of an array are to be read."""

    is_gray: bool = False
    is_channels_first: bool = False

    def arrange(self, block: Array) -> Array:
        """A block of images as (n, height, width, channels)."""
        if self.is_gray:
            return block[..., None]
        return np.moveaxis(block, 1, -1) if self.is_channels_first else block


def find_axes(shape: tuple[int, ...], where: str, channels: str = AUTO) -> Axes:
    """Reads the axes off a shape; `channels` says which holds the colors: auto, last or first.

    Raises:
        DatasetError: it is none of the three forms in EXPECTED.
    """
    if len(shape) == 3 and min(shape) > 0:
        return Axes(is_gray=True)
    if len(shape) == 4 and min(shape) > 0:
        if shape[3] in _CHANNELS and channels != "first":
            return Axes()
        if shape[1] in _CHANNELS and channels != "last":
            return Axes(is_channels_first=True)
    fix = "Save the images with height, width and channels as separate axes."
    if len(shape) == 2 and shape[1] > 1:
        side = int(shape[1] ** 0.5)
        if side * side == shape[1]:
            fix = f"Save them as x.reshape(-1, {side}, {side})."
    elif len(shape) == 4 and shape[3] == 4:
        fix = "Save them without transparency, as x[..., :3]."
    raise DatasetError(
        "These values are not images.",
        where=where,
        received=str(shape),
        expected=EXPECTED,
        fix=fix,
    )


def axes_inferences(shape: tuple[int, ...], channels: str) -> list[Inference]:
    """Which axis holds the colors, where the shape fits both or a person has set it."""
    is_either = len(shape) == 4 and shape[1] in _CHANNELS and shape[3] in _CHANNELS
    is_given = channels != AUTO
    if not is_either and not is_given:
        return []
    is_last = channels != "first"
    other = "first" if is_last else "last"
    doubt = "The shape fits both."
    return [
        Inference(
            "channels",
            "The color axis",
            "last" if is_last else "first",
            f"the shape {shape}",
            doubt,
            "channels",
            (Option(other, other),),
            is_told=is_given,
        )
    ]


@dataclass(frozen=True)
class Scale:
    """How the numbers of an array become 0..255.

    Attributes:
        range: Black and white; None where each image has its own.
        known: What is known of the numbers.
        num_cut: How many are beyond black and white.
    """

    range: Range | None
    known: Evidence
    num_cut: int = 0

    def apply(self, block: Array) -> Array:
        """A block of images as uint8: scaled, rounded, and clipped to black and white."""
        if self.range is not None:
            return eight_bits(block, self.range.low, self.range.high)
        made: Array = np.empty(block.shape, np.uint8)
        for image, out in zip(block, made, strict=True):
            own = _ends(evidence_of(image))
            out[:] = eight_bits(image, own.low, own.high)
        return made


def find_scales(
    arrays: Mapping[str, Array], where: str, ctx: LoadContext, given: str = AUTO
) -> dict[str, Scale]:
    """Which number is black and which is white in each array: given, or inferred from its numbers.
    Arrays of one type share a range where one range fits both.

    Args:
        arrays: By name.
        where: The file, for messages.
        ctx: Progress and canceling.
        given: AUTO, EACH, MIN_MAX or LOW-HIGH.

    Raises:
        DatasetError: numbers that are not finite, or have no usual range, or contradict the one
            that was given.
    """
    known = {name: _evidence(array, f"{where}, {name}", ctx) for name, array in arrays.items()}
    if given != AUTO:
        ranges = dict.fromkeys(known, _chosen(given, known))
    else:
        _refuse_mixture(arrays, known, where)
        ranges = {name: _inferred(each, f"{where}, {name}") for name, each in known.items()}
        ranges = _reconciled(ranges, known)
    cut = {
        name: _num_cut(array, ranges[name], known[name], where, ctx)
        for name, array in arrays.items()
    }
    return {name: Scale(ranges[name], known[name], cut[name]) for name in arrays}


def _chosen(given: str, known: Mapping[str, Evidence]) -> Range | None:
    if given == EACH:
        return None
    if given == MIN_MAX:
        low, high = min(e.low for e in known.values()), max(e.high for e in known.values())
        return Range(low, high if high > low else low + 1)
    found = read_range(given)
    if found is None:
        raise DatasetError(
            "This is no value range.", received=given, expected="black and white such as 0-4095"
        )
    return found


def _inferred(known: Evidence, where: str) -> Range:
    found = infer(known)
    if found is not None:
        return found
    raise DatasetError(
        "These values are not pixel values.",
        where=where,
        received=f"values from {known.low:g} to {known.high:g}",
        expected="0 to 255, 0 to 1, another usual range, or a value range that you choose",
        fix="Save the images before standardization, or set the value range of the data set "
        f"(range): min-max, or black and white such as {known.low:.4g}-{known.high:.4g}.",
    )


def _reconciled(ranges: dict[str, Range], known: Mapping[str, Evidence]) -> dict[str, Range]:
    """One range for arrays of one type where chance explains the difference, such as the greatest
    of few numbers; a doubt where it does not.
    """
    if len({each.text for each in ranges.values()}) < 2:
        return ranges
    wide = max(ranges.values(), key=lambda each: each.high - each.low)
    is_one_type = len({(each.kind, each.size) for each in known.values()}) == 1
    are_near = all(2 * each.high > wide.high and each.low >= wide.low for each in known.values())
    if is_one_type and (are_near or _is_constant(known)):
        return dict.fromkeys(ranges, wide)
    texts = ", ".join(f"{range_words(each.text)} in {name}" for name, each in ranges.items())
    doubt = f"The arrays have several ranges: {texts}."
    if is_one_type and wide.text == "0-255":  # bytes: a part that happens to be dark
        others = tuple(dict.fromkeys((*(o for each in ranges.values() for o in each.others), EACH)))
        return dict.fromkeys(ranges, Range(wide.low, wide.high, doubt, others))
    return {
        name: Range(each.low, each.high, f"{doubt} {each.doubt}".strip(), each.others)
        for name, each in ranges.items()
    }


def _is_constant(known: Mapping[str, Evidence]) -> bool:
    return any(each.low == each.high for each in known.values())


def _refuse_mixture(arrays: Mapping[str, Array], known: Mapping[str, Evidence], where: str) -> None:
    """Refuses an array in which some images have numbers from 0 to 1 and others to 255."""
    for name, array in arrays.items():
        if array.dtype.kind != "f" or known[name].high <= _MIXED_ABOVE or known[name].is_whole:
            continue
        chosen = np.asarray(array[:: max(1, len(array) // _LOOKED_AT)], np.float64)
        tops = chosen.reshape(len(chosen), -1).max(axis=1)
        is_real = (chosen != np.floor(chosen)).reshape(len(chosen), -1).any(axis=1)
        few = int(((tops <= 1.1) & is_real).sum())
        many = int((tops > _MIXED_ABOVE).sum())
        if min(few, many) >= max(2, 0.02 * len(chosen)):
            raise DatasetError(
                "The images have different value ranges.",
                where=f"{where}, {name}",
                received=f"of {len(chosen):,} images {few:,} with values up to 1, {many:,} with "
                f"values above {_MIXED_ABOVE}",
                expected="one value range in an array",
                fix="Bring them to one range, or set the value range of the data set (range) to "
                "each: every image is then stretched by itself.",
            )


def _num_cut(
    array: Array, chosen: Range | None, known: Evidence, where: str, ctx: LoadContext
) -> int:
    """How many numbers are beyond black and white."""
    if chosen is None or (chosen.low <= known.low and known.high <= chosen.high):
        return 0
    count = 0
    for block in blocks(array):
        ctx.check_cancelled()
        count += num_clipped(block, chosen.low, chosen.high)
    if count > _MOST_CUT * array.size:
        raise DatasetError(
            "Many values are beyond the value range.",
            where=where,
            received=f"{count:,} of {array.size:,} values, which go from {known.low:g} to "
            f"{known.high:g}",
            expected=f"values from {range_words(chosen.text)}",
            fix="Set another value range of the data set (range), or auto.",
        )
    return count


def scale_inferences(scales: Mapping[str, Scale], given: str = AUTO) -> list[Inference]:
    """How the ranges were found: one inference where all arrays have the same."""
    ranges = {each.range and each.range.text for each in scales.values()}
    if len(ranges) > 1:
        return [_inference(f" of {name}", [each], given) for name, each in scales.items()]
    return [_inference("", list(scales.values()), given)]


def _inference(of: str, scales: list[Scale], given: str) -> Inference:
    chosen, known = scales[0].range, [each.known for each in scales]
    low, high = min(each.low for each in known), max(each.high for each in known)
    evidence = f"{_type_words(known)} from {low:,.6g} to {high:,.6g}"
    found = [each.range for each in scales if each.range is not None]
    others = tuple(dict.fromkeys((*(o for each in found for o in each.others), MIN_MAX, EACH)))
    return Inference(
        "value_range",
        f"The value range{of}",
        range_words(EACH if chosen is None else chosen.text),
        evidence,
        " ".join(filter(None, dict.fromkeys(each.doubt for each in found))),
        "range",
        tuple(Option(text, range_words(text)) for text in others) if found else (),
        is_told=given != AUTO,
    )


def _type_words(known: list[Evidence]) -> str:
    kinds = {"b": "bool", "u": "uint", "i": "int", "f": "float"}
    names = [kinds[each.kind] + (f"{8 * each.size}" if each.kind != "b" else "") for each in known]
    return f"{' and '.join(dict.fromkeys(names))} values"


def scale_notes(scales: Mapping[str, Scale]) -> list[str]:
    """How many values are cut, in a sentence for each array."""
    return [
        f"{each.num_cut:,} of the values of {name} are beyond black or white and are cut."
        for name, each in scales.items()
        if each.num_cut
    ]


def _evidence(array: Array, where: str, ctx: LoadContext) -> Evidence:
    pieces = blocks(array)
    share = max(1_000, _NUMBERS // max(1, len(pieces)))
    found: Evidence | None = None
    samples = []
    for block in pieces:
        ctx.check_cancelled()
        if block.dtype.kind == "f" and not np.isfinite(block.sum(dtype=np.float64)):
            _refuse_infinite(block, where)
        known = evidence_of(np.asarray(block), share)
        samples.append(known.sample)
        ends = known if found is None else found
        found = Evidence(
            known.kind,
            known.size,
            min(ends.low, known.low),
            max(ends.high, known.high),
            known.sample,
            ends.is_whole and known.is_whole,
        )
    assert found is not None  # noqa: S101 - no axis is empty (find_axes)
    return found._replace(sample=np.sort(np.concatenate(samples)))


def _refuse_infinite(block: Array, where: str) -> None:
    if not np.isfinite(block).all():
        raise DatasetError(
            "Some values are not finite.",
            where=where,
            received="NaN or infinity",
            expected="finite values",
        )


def _ends(known: Evidence) -> Range:
    return Range(known.low, known.high if known.high > known.low else known.low + 1)


def blocks(array: Array) -> list[Array]:
    """The array in pieces of a few megabytes along its first axis (views)."""
    step = max(1, _BLOCK_BYTES // max(1, array[:1].nbytes))
    return [array[start : start + step] for start in range(0, len(array), step)]


def write_pictures(path: Path, array: Array, axes: Axes, scale: Scale, ctx: LoadContext) -> None:
    """Writes an array as uint8 (n, height, width, channels) into an .npy file, piece by piece."""
    shape = (len(array), *axes.arrange(array[:1]).shape[1:])
    with path.open("wb") as file:
        header = {"descr": "|u1", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for block in blocks(array):
            ctx.check_cancelled()
            file.write(scale.apply(axes.arrange(block)).tobytes())
