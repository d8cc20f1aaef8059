"""Runs benchmarks by name, or all: each in a process of its own, figures on stdout.

What follows a single name and is no name itself (a file, a number, --option) is handed on.
"""

from __future__ import annotations

import pkgutil
import subprocess
import sys
from pathlib import Path

import tests.benchmarks


def main(names: list[str]) -> int:
    """Returns 0 when every benchmark ran."""
    known = [
        info.name
        for info in pkgutil.iter_modules(tests.benchmarks.__path__)
        if not info.name.startswith("_")
    ]
    options: list[str] = []
    if len(names) > 1 and names[0] in known and not set(names[1:]) & set(known):
        names, options = names[:1], names[1:]
    wanted = known if names == ["all"] else names
    unknown = [name for name in wanted if name not in known]
    if unknown:
        print(f"No such benchmark: {', '.join(unknown)}. There are: {', '.join(known)}.")
        return 2
    codes = []
    for name in wanted:
        print(f"== {name}", flush=True)
        command = [sys.executable, "-m", f"tests.benchmarks.{name}", *options]
        codes.append(subprocess.run(command, cwd=Path(__file__).parents[2], check=False).returncode)
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
