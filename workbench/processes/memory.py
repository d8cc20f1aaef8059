"""How much memory there is, how much a process may have, and how much this one has."""

from __future__ import annotations

import os
import re
import resource
from pathlib import Path

from workbench.host.memory import group_limits, memory_limit

_STATUS = Path("/proc/self/status")
_MEMINFO = Path("/proc/meminfo")


def available_memory() -> int:
    """Bytes that programs of this computer or container may still take without swapping."""
    free = _sizes(_MEMINFO).get("MemAvailable")
    if free is None:  # not Linux, or a container that hides it
        free = os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(0, min([free, *(limit - used for limit, used in group_limits())]))


def own_limits() -> list[tuple[int, int]]:
    """(bytes allowed, bytes held) of this process by each rule: computer or container, and the
    limits (ulimit) set before it was started.
    """
    sizes = memory_sizes()
    limits = [(memory_limit(), sizes.get("VmRSS", 0))]
    for kind, held in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
        soft = resource.getrlimit(kind)[0]
        if soft != resource.RLIM_INFINITY:
            limits.append((soft, sizes.get(held, 0)))
    return limits


def memory_sizes() -> dict[str, int]:
    """Sizes of this process in bytes by Linux's names, "VmRSS" and others; empty elsewhere."""
    return _sizes(_STATUS)


def resident_bytes() -> int:
    """Memory this process holds; 0 where the system does not report it."""
    return memory_sizes().get("VmRSS", 0)


def peak_bytes() -> int:
    """The most memory that this process has held; 0 where the system does not report it.

    Not `ru_maxrss` where there is another way: Linux hands that on to what a process starts,
    so a run that a trainer has started would have the memory of the run before it.
    """
    peak = memory_sizes().get("VmHWM")
    if peak is not None:
        return peak
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _sizes(path: Path) -> dict[str, int]:
    """The lines "NAME: COUNT kB" of a file of the kernel's, in bytes."""
    try:
        text = path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return {}
    found = re.findall(r"^(\w+):\s+(\d+) kB$", text, re.MULTILINE)
    return {name: int(kilobytes) * 1024 for name, kilobytes in found}
