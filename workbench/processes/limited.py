"""A child process for what comes from elsewhere: it limits itself before it reads the first byte.

Run by path as `python -I limited.py MEMORY_BYTES CPU_S SCRIPT`. Neither this nor the script imports
anything of Workbench.
"""

from __future__ import annotations

import resource
import runpy
import sys
from pathlib import Path

ARCHIVE_READER = Path(__file__).resolve().with_name("archive_reader.py")
"""The script that reads foreign archives."""

_MAX_OPEN_FILES = 64


def limited_command(script: Path, *, memory_bytes: int, cpu_s: int) -> list[str]:
    """The command that runs a script which writes no file, with so much memory and processor time
    at most.
    """
    limited = str(Path(__file__).resolve())
    return [sys.executable, "-I", limited, str(memory_bytes), str(cpu_s), str(script)]


def main(memory_bytes: str, cpu_s: str, script: str) -> None:
    """Sets the limits and runs the script, which ends the process."""
    for kind, value in (
        (resource.RLIMIT_AS, int(memory_bytes)),
        (resource.RLIMIT_CPU, int(cpu_s)),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, _MAX_OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)  # noqa: PLW2901
        resource.setrlimit(kind, (value, value))
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
