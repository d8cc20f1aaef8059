"""The memory of this process: what it holds, and the most that it has held."""

from __future__ import annotations

import re
from pathlib import Path

_STATUS = Path("/proc/self/status")


def memory_sizes() -> dict[str, int]:
    """Sizes of this process in bytes by Linux's names, "VmRSS" and others; empty elsewhere."""
    try:
        text = _STATUS.read_text(encoding="ascii", errors="replace")
    except OSError:
        return {}
    found = re.findall(r"^(Vm\w+):\s+(\d+) kB$", text, re.MULTILINE)
    return {name: int(kilobytes) * 1024 for name, kilobytes in found}


def resident_bytes() -> int:
    """Memory this process holds; 0 where the system does not tell."""
    return memory_sizes().get("VmRSS", 0)


def peak_bytes() -> int:
    """The most memory that this process has held; 0 where the system does not tell.

    Not `ru_maxrss` where there is another way: Linux hands that on to what a process starts,
    so a run that a trainer has started would have the memory of the run before it.
    """
    peak = memory_sizes().get("VmHWM")
    if peak is not None:
        return peak
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
