"""The generations of TPUs: cores, memory, speed, and how their slices are named. Not a target.

Figures per core as TensorFlow sees cores: v4 and v5p show both cores of a chip as one.
Memory is what the compiler grants a program, measured with libtpu 0.0.51 (a few hundred MB
less than the data sheets say); speeds are Google's, from the pages of each generation.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from workbench.errors import UsageError

GIB = 1 << 30

_FLAT: Mapping[int, str] = MappingProxyType(
    {1: "1x1", 2: "1x2", 4: "2x2", 8: "2x4", 16: "4x4", 32: "4x8", 64: "8x8", 128: "8x16",
     256: "16x16"}
)  # fmt: skip
_CUBE: Mapping[int, str] = MappingProxyType(
    {1: "1x1x1", 4: "2x2x1", 8: "2x2x2", 16: "2x2x4", 32: "2x4x4", 64: "4x4x4", 128: "4x4x8",
     256: "4x8x8"}
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class TpuGeneration:
    """One generation of TPUs.

    Attributes:
        name: As Google says it, e.g. "v5e".
        cores: Cores of a chip that each train a part of the batch.
        named_per_chip: What the number behind the name counts up for one chip: "v3-8" are
            four chips, "v5e-8" eight.
        hbm_bytes: Memory that the compiler grants a core.
        peak_flops: bfloat16 operations a second of a core.
        bandwidth: Bytes a second between a core and its memory.
        clock_hz: Clock of a core in Hz, for the compiler's cycles.
        matrix_width: Rows and columns of its matrix units.
        sublanes: Rows of the tile that arrays are padded to.
        slices: Number of chips -> name of the topology.
        is_megacore: The compiler is told that two cores work as one.
        needs_jax: TensorFlow has no support for it.
    """

    name: str
    cores: int
    named_per_chip: int
    hbm_bytes: int
    peak_flops: float
    bandwidth: float
    clock_hz: float
    matrix_width: int = 128
    sublanes: int = 8
    slices: Mapping[int, str] = field(default_factory=lambda: _FLAT)
    is_megacore: bool = False
    needs_jax: bool = False

    @property
    def sizes(self) -> tuple[str, ...]:
        """The names of all its slices, e.g. "v5e-1", "v5e-4"."""
        return tuple(f"{self.name}-{chips * self.named_per_chip}" for chips in self.slices)


GENERATIONS: tuple[TpuGeneration, ...] = (
    TpuGeneration(
        name="v2", cores=2, named_per_chip=2, hbm_bytes=int(7.48 * GIB),
        peak_flops=23e12, bandwidth=350e9, clock_hz=0.70e9,
    ),
    TpuGeneration(
        name="v3", cores=2, named_per_chip=2, hbm_bytes=int(15.48 * GIB),
        peak_flops=61.5e12, bandwidth=450e9, clock_hz=0.94e9,
    ),
    TpuGeneration(
        name="v4", cores=1, named_per_chip=2, hbm_bytes=int(30.75 * GIB),
        peak_flops=275e12, bandwidth=1230e9, clock_hz=1.05e9, slices=_CUBE, is_megacore=True,
    ),
    TpuGeneration(
        name="v5e", cores=1, named_per_chip=1, hbm_bytes=int(15.75 * GIB),
        peak_flops=197e12, bandwidth=819e9, clock_hz=1.50e9,
    ),
    TpuGeneration(
        name="v5p", cores=1, named_per_chip=2, hbm_bytes=int(95.73 * GIB),
        peak_flops=459e12, bandwidth=2765e9, clock_hz=1.75e9, slices=_CUBE,
    ),
    TpuGeneration(
        name="v6e", cores=1, named_per_chip=1, hbm_bytes=int(31.24 * GIB),
        peak_flops=918e12, bandwidth=1640e9, clock_hz=1.75e9, matrix_width=256,
    ),
    TpuGeneration(
        name="tpu7x", cores=2, named_per_chip=2, hbm_bytes=int(94.74 * GIB),
        peak_flops=1153.5e12, bandwidth=3700e9, clock_hz=1.0e9, matrix_width=256,
        slices=_CUBE, needs_jax=True,
    ),
)  # fmt: skip
"""From the oldest on; the last can only be refused."""

_OTHER_NAMES: Mapping[str, str] = MappingProxyType(
    {"v5litepod": "v5e", "v5lite": "v5e", "v7x": "tpu7x", "v7": "tpu7x", "ironwood": "tpu7x",
     "trillium": "v6e"}
)  # fmt: skip

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
        """As Google names it, e.g. "v3-8"."""
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
    """The TPU that a text names: "v5e" is one chip; behind a dash stands Google's number,
    chips for v5e and v6e, cores (two a chip) for the others.

    Raises:
        UsageError: no such generation or size; those that there are are listed.
    """
    match = _TEXT.fullmatch(text.strip().lower())
    name = _OTHER_NAMES.get(match[1], match[1]) if match else ""
    known = {generation.name: generation for generation in GENERATIONS}
    if match is None or name not in known:
        raise UsageError(
            "Unknown TPU type.",
            where="--tpu",
            received=repr(text[:40]),
            expected="one of " + ", ".join(g.name for g in GENERATIONS if not g.needs_jax),
            fix='Add the size after a dash, for example "v5e-8".',
        )
    generation = known[name]
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
