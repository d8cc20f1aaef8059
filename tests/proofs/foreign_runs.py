"""Plants pipes, devices, folders, loops and very long files under each name of a run, and changes files.

`python -m tests.proofs.foreign_runs [--count N] [--seed N]`: each kind under each name, then N
runs with one file changed at random, through list, compare, coach and report in this process. It
prints what took longest and most memory, and ends with 1 where anything but an error in words was
raised, a run was missing in the list, or a limit of 5 s or 256 MiB was exceeded.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.mutated_runs import CHANGED, FILES, doors, mutated, outcome_of_door, written_base
from tests.planted_kinds import KINDS, plant_kind

_MOST_S, _MOST_MIB = 5.0, 256
_MORE_NAMES = (
    "weights.npz", "control", "retry", "initial.npz", "cluster.json", "image_map.npz", "log.txt",
    "crash.txt", "class_scores.npz", "checkpoints/1.npz", "checkpoints", "tensorboard", "machines",
    "../.runs-index", "../.run-numbers", "../.queue.lock", "../../known-places.json",
    "../../outside-runs.json", "../../settings.json", "../../queue.key", "../../cache/speeds.json",
)  # fmt: skip


@dataclass
class Tally:
    """What came of the tries.

    Attributes:
        outcomes: By door and outcome.
        broken: What must not be, a line each.
        slowest_s, most_mib: Of one try; memory beyond what the process had before.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    slowest_s: float = 0.0
    most_mib: int = 0

    def try_doors(self, home: Path, what: str) -> None:
        """Tries all that shows runs."""
        for name, door in doors(home):
            started, before = time.monotonic(), _peak_mib()
            try:
                error = outcome_of_door(door)
                self.outcomes["refused in words" if error is not None else "answered"] += 1
            except Exception:  # noqa: BLE001 - what this proof looks for
                self.broken.append(f"{what}: {name}: {traceback.format_exc(limit=-3)}")
            seconds, mib = time.monotonic() - started, _peak_mib() - before
            self.slowest_s, self.most_mib = max(self.slowest_s, seconds), max(self.most_mib, mib)
            if seconds > _MOST_S or mib > _MOST_MIB:
                self.broken.append(f"{what}: {name}: {seconds:.1f} s, {mib} MiB")

    def report(self, words: str) -> None:
        """Prints a line."""
        counts = ", ".join(f"{count:,} {outcome}" for outcome, count in self.outcomes.items())
        print(
            f"{words}: {counts}, {len(self.broken)} broken; at most {self.slowest_s:.1f} s and "
            f"{self.most_mib} MiB more", flush=True,
        )  # fmt: skip


def _peak_mib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> int:
    """Runs both parts and prints the summaries."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="workbench-foreign-") as folder:
        os.environ["WORKBENCH_HOME"] = folder
        home = Path(folder) / "runs"
        home.mkdir()
        base = written_base(home)
        planted = _planted(home, base)
        changed = _changed(home, base, options.count, options.seed)
    broken = [*planted.broken, *changed.broken]
    print(*broken[:40], sep="\n")
    return 1 if broken else 0


def _planted(home: Path, base: Path) -> Tally:
    tally = Tally()
    for name in dict.fromkeys((*FILES, *_MORE_NAMES)):
        for kind in KINDS:
            run = home / CHANGED
            shutil.rmtree(run, ignore_errors=True)
            shutil.copytree(base, run)
            path = run / name
            plant_kind(path, kind)
            tally.try_doors(home, f"{name}, {kind}")
            if name.startswith("../"):
                shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    tally.report("planted")
    return tally


def _changed(home: Path, base: Path, count: int, seed: int) -> Tally:
    tally = Tally()
    for number in range(count):
        name = mutated(home, base, seed + number)
        tally.try_doors(home, f"{name}, seed {seed + number}")
    tally.report(f"{count:,} runs changed")
    return tally


if __name__ == "__main__":
    sys.exit(main())
