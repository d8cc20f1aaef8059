"""How much memory this computer has, and how much of it a process here may have.

A container, or a service with a limit, is a control group (cgroup) of the kernel: the limits of
a process's own group and of all groups above it hold. Version 1 has a tree for memory alone,
version 2 one tree for everything.
"""

import os
from typing import Iterator, List, Tuple

_UNLIMITED = 1 << 60  # without a limit, version 1 reports a little more


def memory_limit(root: str = "/") -> int:
    """Bytes of memory that a process here can have, 0 if unknown; `root` has the kernel's files."""
    try:
        total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (ValueError, OSError):
        return 0
    return min([total] + [limit for limit, _ in group_limits(root)])


def group_limits(root: str = "/") -> List[Tuple[int, int]]:
    """(bytes allowed, bytes in use) of each control group around this process that has a limit.

    Pages of files that were not used for a while are not counted as used: the kernel drops
    them before it rejects memory.
    """
    found = []
    for line in _text(root, "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            trees = ["sys/fs/cgroup", "sys/fs/cgroup/unified"]
            names = ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            trees = ["sys/fs/cgroup/memory"]
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        for folder in [folder for tree in trees for folder in _upwards(tree, path)]:
            limit = _text(root, folder, names[0])
            if limit.isdigit() and int(limit) < _UNLIMITED:
                used = int(_text(root, folder, names[1]) or 0)
                found.append((int(limit), max(0, used - _counted(root, folder, names[2]))))
    return found


def _upwards(tree: str, path: str) -> Iterator[str]:
    """A group's folder and all above it. In a container the path may be one of the computer
    outside: what is there of it is the tree itself, with the container's own limit.
    """
    parts = [part for part in path.split("/") if part and part != ".."]
    for count in range(len(parts), -1, -1):
        yield os.path.join(tree, *parts[:count])


def _counted(root: str, folder: str, name: str) -> int:
    for line in _text(root, folder, "memory.stat").splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == name:
            return int(words[1])
    return 0


def _text(*path: str) -> str:
    try:
        with open(os.path.join(*path), encoding="ascii", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""
