"""The generations of TPUs: cores, memory, speed, and how their slices are named. Not a target."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import msgspec

from workbench.errors import UsageError

GIB = 1 << 30


def _slices(names: str) -> Mapping[int, str]:
    return MappingProxyType({math.prod(map(int, name.split("x"))): name for name in names.split()})


_FLAT = _slices("1x1 1x2 2x2 2x4 4x4 4x8 8x8 8x16 16x16")
_CUBE = _slices("1x1x1 2x2x1 2x2x2 2x2x4 2x4x4 4x4x4 4x4x8 4x8x8")


class TpuGeneration(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One generation of TPUs.

    Attributes:
        name: As Google says it, e.g. "v5e".
        other_names: What it is called besides.
        cores: Cores of a chip that each train a part of the batch.
        named_per_chip: What the number behind the name counts up for one chip: "v3-8" are
            four chips, "v5e-8" eight.
        hbm_gib: Memory that the compiler grants a core, in GiB.
        peak_flops: bfloat16 operations a second of a core.
        bandwidth: Bytes per second between a core and its memory.
        clock_hz: Clock of a core in Hz, for the compiler's cycles.
        matrix_width: Rows and columns of its matrix units.
        sublanes: Rows of the tile that arrays are padded to.
        is_cube: Its slices have three axes, not two.
        is_megacore: Two cores are compiled for as one.
        needs_jax: TensorFlow has no support for it.
    """

    name: str
    other_names: tuple[str, ...] = ()
    cores: int
    named_per_chip: int
    hbm_gib: float
    peak_flops: float
    bandwidth: float
    clock_hz: float
    matrix_width: int = 128
    sublanes: int = 8
    is_cube: bool = False
    is_megacore: bool = False
    needs_jax: bool = False

    @property
    def hbm_bytes(self) -> int:
        """Memory that the compiler grants a core."""
        return int(self.hbm_gib * GIB)

    @property
    def slices(self) -> Mapping[int, str]:
        """Number of chips -> name of the topology."""
        return _CUBE if self.is_cube else _FLAT

    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of all its slices, e.g. "v5e-1", "v5e-4"."""
        return tuple(f"{self.name}-{chips * self.named_per_chip}" for chips in self.slices)


def _read_generations() -> tuple[TpuGeneration, ...]:
    # Beside the code, not in resources/: other computers have it too.
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    return msgspec.convert(table["generation"], tuple[TpuGeneration, ...])


GENERATIONS = _read_generations()
"""From the oldest on; the last can only be rejected."""

_TEXT = re.compile(r"([a-z][a-z0-9]{1,11})(?:-([0-9]{1,5}))?")


@dataclass(frozen=True)
class ChipChoice:
    """A TPU of a generation and a size."""

    generation: TpuGeneration
    chips: int = 1

    @property
    def cores(self) -> int:
        """Cores that share each batch, as replicas do."""
        return self.chips * self.generation.cores

    @property
    def name(self) -> str:
        """Google's name of it, e.g. "v3-8"."""
        return f"{self.generation.name}-{self.chips * self.generation.named_per_chip}"

    @property
    def words(self) -> str:
        """Its name with what the number means."""
        chips = "1 chip" if self.chips == 1 else f"{self.chips:,} chips"
        cores = "1 core" if self.cores == 1 else f"{self.cores:,} cores"
        return f"{self.name} ({chips}, {cores})"

    @property
    def topology(self) -> str:
        """What the compiler calls it, e.g. "v5e:2x4"."""
        return f"{self.generation.name}:{self.generation.slices[self.chips]}"


def chip_choice(text: str) -> ChipChoice:
    """The TPU that a text names: "v5e" is one chip; behind a dash comes Google's number,
    chips for v5e and v6e, cores (two a chip) for the others.

    Raises:
        UsageError: no such generation or size; those that there are are listed.
    """
    match = _TEXT.fullmatch(text.strip().lower())
    known = {name: each for each in GENERATIONS for name in (each.name, *each.other_names)}
    if match is None or match[1] not in known:
        raise UsageError(
            "Unknown TPU type.",
            where="--tpu",
            received=repr(text[:40]),
            expected="one of " + ", ".join(g.name for g in GENERATIONS if not g.needs_jax),
            fix='Add the size after a dash, for example "v5e-8".',
        )
    generation = known[match[1]]
    if match[2] is None:
        return ChipChoice(generation)
    chips, rest = divmod(int(match[2]), generation.named_per_chip)
    if rest or chips not in generation.slices:
        raise UsageError(
            f"TPU {generation.name} is not available in this size.",
            where="--tpu",
            received=text[:40],
            expected="one of " + ", ".join(generation.sizes),
        )
    return ChipChoice(generation, chips)
