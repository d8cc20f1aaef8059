"""The computer the application runs on: its processor, through a one-device strategy."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from workbench.core.format import plural
from workbench.core.params import Params
from workbench.core.specs import TargetSpec

_CPU_FILE = Path("/proc/cpuinfo")
HIDE_BFLOAT16 = "WORKBENCH_HIDE_BFLOAT16"
"""Environment variable: "1" lets this processor pass for one without bfloat16 units."""

_UNITS = (
    ("amx_bf16", "native bfloat16 (AMX)"),
    ("avx512_bf16", "native bfloat16"),
    ("avx512f", "AVX-512"),
    ("avx2", "AVX2"),
)


@cache
def cpu_flags() -> frozenset[str]:
    """The processor's features, by the kernel's names; empty where unknown."""
    return frozenset(_cpu_line("flags", "Features").split())


@cache
def cpu_model() -> str:
    """The processor's name; "" where unknown."""
    return _cpu_line("model name").strip()


def _cpu_line(*names: str) -> str:
    """What the kernel reports of the first processor under one of these names."""
    try:
        text = _CPU_FILE.read_text(errors="replace")
    except OSError:
        return ""
    lines = (line for line in text.splitlines() if line.startswith(names))
    return next(lines, "").partition(":")[2]


def computes_bfloat16(flags: frozenset[str] | None = None) -> bool:
    """True where bfloat16 is computed in hardware, by `flags` or this computer's, and is not
    hidden; elsewhere it is slower than float32.
    """
    if os.environ.get(HIDE_BFLOAT16, "").strip() not in {"", "0"}:
        return False
    return bool((cpu_flags() if flags is None else flags) & {"amx_bf16", "avx512_bf16"})


def num_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0))


def _describe(params: Params) -> str:
    units = next((words for flag, words in _UNITS if flag in cpu_flags()), "")
    return ", ".join(filter(None, (plural(num_cores(), "core"), units)))


def _environment(params: Params) -> Mapping[str, str]:
    return {
        # The log panel is for people. TensorFlow calls it an error that there is no CUDA;
        # what really fails comes as an exception all the same.
        "TF_CPP_MIN_LOG_LEVEL": "3",
        # This target is the processor; a GPU driver that is half there must not slow the start.
        "CUDA_VISIBLE_DEVICES": "-1",
        "TF_USE_LEGACY_KERAS": "0",
        "KERAS_BACKEND": "tensorflow",
        "OMP_NUM_THREADS": str(num_cores()),
        "GLIBC_TUNABLES": _with_huge_pages(os.environ.get("GLIBC_TUNABLES", "")),
    }


def _with_huge_pages(tunables: str) -> str:
    """The user's settings of the C library, and memory in large pages.

    A step allocates and frees hundreds of megabytes; in pages of 2 MB instead of 4 kB there
    are fewer to be cleared and looked up: with the CIFAR-10 template a quarter of the page
    faults, and 548 to 568 instead of 642 microseconds of processor time per image, measured on
    a busy machine. Has no effect where the kernel or the library has no such pages;
    `GLIBC_TUNABLES=glibc.malloc.hugetlb=0` leaves them out.
    """
    if "glibc.malloc.hugetlb" in tunables:
        return tunables
    return ":".join(part for part in (tunables, "glibc.malloc.hugetlb=1") if part)


def _connect(tf: Any, params: Params) -> Any:
    return tf.distribute.OneDeviceStrategy("/cpu:0")


SPEC = TargetSpec(
    key="this_computer",
    rank=3,
    title="This computer",
    summary="Trains on all CPU cores of this computer.",
    environment=_environment,
    connect=_connect,
    describe=_describe,
)
