"""A folder classified into a CSV table by the command line, which is killed and continued."""

from __future__ import annotations

import csv
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from workbench.runs.export.classified_table import is_unfinished

_LOOK_S = 0.005
_GIVE_UP_S = 900


@dataclass(frozen=True)
class Killed:
    """What came of it.

    Attributes:
        rows_at_kills: The number of whole rows in the table at each kill.
        seconds: Of the last command, which was not killed.
        rows: What the table holds in the end, by file.
        num_bad: Images that could not be read.
    """

    rows_at_kills: list[int]
    seconds: float
    rows: Counter[str]
    num_bad: int


def classify_killed(run: str, folder: Path, table: Path, *, least: list[int]) -> Killed:
    """Classifies; kills the command again and again.

    Args:
        run: The model.
        folder: The images.
        table: The CSV file.
        least: SIGKILL comes as soon as the table has so many rows.
    """
    command = [sys.executable, "-m", "workbench", "classify", run, str(folder), "--csv", str(table)]
    at_kills = []
    for number, rows in enumerate(least, start=1):
        with subprocess.Popen([*command, "--json"], stdout=subprocess.DEVNULL) as process:
            _wait_for_rows(process, table, rows)
            process.kill()
        if not is_unfinished(table):
            raise SystemExit(f"the table was complete before kill {number}")
        at_kills.append(_whole_rows(table))
    began = time.monotonic()
    done = subprocess.run([*command, "--json"], stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit code {done.returncode}")
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return Killed(
        rows_at_kills=at_kills,
        seconds=time.monotonic() - began,
        rows=Counter(row["file"] for row in rows),
        num_bad=sum(bool(row["error"]) for row in rows),
    )


def _wait_for_rows(process: subprocess.Popen[bytes], table: Path, rows: int) -> None:
    until = time.monotonic() + _GIVE_UP_S
    while _whole_rows(table) < rows:
        if process.poll() is not None or time.monotonic() > until:
            raise SystemExit(f"no {rows:,} rows: exit code {process.returncode}")
        time.sleep(_LOOK_S)


def _whole_rows(table: Path) -> int:
    """Without the heading."""
    return max(0, table.read_bytes().count(b"\n") - 1) if table.exists() else 0
