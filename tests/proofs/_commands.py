"""Commands of the program, as a user types them, with a home of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


def workbench(home: str | Path, *arguments: str) -> str:
    """What a command prints; ends the proof with what went wrong where it fails."""
    command = [sys.executable, "-m", "workbench", *arguments]
    environment = {**os.environ, "WORKBENCH_HOME": str(Path(home) / "home")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def events_of(home: str | Path, *arguments: str) -> list[dict[str, Any]]:
    """The lines of JSON that a command prints."""
    lines = workbench(home, *arguments, "--json").splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]
