"""Several processes that do the same thing at the same moment."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_PATIENCE_S = 250


def race(script: Path, home: Path, go: Path, *, count: int) -> list[str]:
    """Runs `python script HOME GO` so many times and makes the file GO once all have printed
    "ready"; returns what each printed after it. All must end well.
    """
    command = [sys.executable, str(script), str(home), str(go)]
    racers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    try:
        assert [racer.stdout.readline() for racer in racers] == ["ready\n"] * count
        go.touch()
        printed = [racer.communicate(timeout=_PATIENCE_S)[0] for racer in racers]
        assert [racer.returncode for racer in racers] == [0] * count
    finally:
        for racer in racers:
            racer.kill()
            racer.wait()
            racer.stdout.close()
    return printed
