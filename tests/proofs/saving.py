"""Kills a process that saves without pause: the file is always the old one or the new one.

`python -m tests.proofs.saving --kills 500 [--seed N]` prints one summary line and ends with 1
when any file was corrupt, or older than a save that had been reported as done.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import os
import random
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from workbench.core.storage.save import save_bytes, sweep_leftovers

_BODY_BYTES = 300_000
_WINDOW_S = 0.04


@dataclass
class Tally:
    """What the kills left behind."""

    kills: int = 0
    corrupt: int = 0
    lost: int = 0
    leftovers: int = 0
    saves: int = 0

    @property
    def is_kept(self) -> bool:
        """True when the promise held each time."""
        return self.corrupt == 0 and self.lost == 0


def content(number: int) -> bytes:
    """The text of a save: its number, a body, and the checksum of both."""
    body = f"{number}\n" + random.Random(number).randbytes(32).hex() * (_BODY_BYTES // 64) + "\n"
    return (body + hashlib.sha256(body.encode()).hexdigest()).encode()


def number_of(data: bytes) -> int:
    """The number of a whole content; raises ValueError for a damaged one."""
    body, _, checksum = data.decode().rpartition("\n")
    if hashlib.sha256(f"{body}\n".encode()).hexdigest() != checksum:
        raise ValueError("damaged")
    return int(body.split("\n", 1)[0])


def kill_savers(folder: Path, kills: int, seed: int) -> Tally:
    """Lets a child save, kills it at a random moment, and reads the file; `kills` times."""
    rng, tally, path = random.Random(seed), Tally(), folder / "project.workbench"
    save_bytes(path, content(0))
    for _ in range(kills):
        start = number_of(path.read_bytes())
        done = _kill_one(path, start, rng.random() * _WINDOW_S)
        tally.kills += 1
        try:
            found = number_of(path.read_bytes())
        except (ValueError, OSError):
            tally.corrupt += 1
            save_bytes(path, content(0))
            continue
        tally.lost += found < done
        tally.saves += found - start
    hour_ago = time.time() - 7200
    for leftover in folder.glob(".workbench-save-*"):
        os.utime(leftover, (hour_ago, hour_ago))
    tally.leftovers = sweep_leftovers(folder)
    return tally


def _kill_one(path: Path, start: int, after_s: float) -> int:
    """Kills one saver; returns the number of the last save it reported as done."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        _save_without_pause(path, start, writer)
    os.close(writer)
    os.read(reader, 1)  # it runs
    time.sleep(after_s)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    reported = b""
    while part := os.read(reader, 65536):
        reported += part
    os.close(reader)
    return start + len(reported)


def _save_without_pause(path: Path, start: int, writer: int) -> None:
    """The child: one byte to the parent when it begins, and one after each save."""
    with contextlib.suppress(BaseException):
        os.write(writer, b".")
        number = start
        while True:
            number += 1
            save_bytes(path, content(number))
            os.write(writer, b".")
    os._exit(1)


def main() -> int:
    """Runs the kills and prints the summary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        tally = kill_savers(Path(folder), options.kills, options.seed)
    print(
        f"saving: {tally.kills:,} kills, {tally.corrupt} corrupt, {tally.lost} lost after "
        f'"saved", {tally.saves:,} saves, {tally.leftovers:,} temporary files swept, '
        f"{time.perf_counter() - started:.0f} s"
    )
    return 0 if tally.is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
