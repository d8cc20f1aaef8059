"""Plants what is no file, very long and changed files under each name of runs and settings.

`python -m tests.proofs.foreign_runs [--only files|mutations] [--count N] [--seed N] [--places WORDS]`

One run is trained, evaluated and exported by real commands. "files": each kind under each name,
through the commands and a window (`_foreign_places`). "mutations": N files are changed at random,
request, log and card alone, others a few in a run; it goes through list, compare, coach and report. Ends with 1 where anything but
an error in words came, a run was missing in the list, something was connected to or written
elsewhere, or 5 s or 256 MiB more were needed than with files as they are.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from tests.mutated_runs import OTHER, changed_names, doors, mutated, outcome_of_door
from tests.proofs import _foreign_places
from tests.proofs._foreign_tally import MOST_MIB, MOST_S, Tally, in_processes
from tests.proofs._foreign_tries import peak_mib, watch
from tests.traced import Sandbox

_TOGETHER = 100
"""Changed files of one part of the work."""

_LONGEST_S = 60


def _changed(base: Sandbox, seeds: Sequence[int]) -> Tally:
    """Runs with one file changed each, through list, compare, coach and report."""
    tally = Tally()
    with tempfile.TemporaryDirectory(dir=base.root, prefix="changed-") as folder:
        os.environ["WORKBENCH_HOME"] = folder
        home, kept = Path(folder) / "runs", base.root / "kept" / "trained"
        shutil.copytree(kept, home / OTHER)
        for seed, names in mutated(home, kept, seeds):
            tally.outcomes["files changed"] += len(names)
            tally.outcomes["of them alone in their run"] += len(names) == 1
            for door, show in doors(home):
                if door != ("compare", "compare back")[seed % 2]:
                    _show(tally, f"{' '.join(names)}, seed {seed}: {door}", show)
    return tally


def _show(tally: Tally, what: str, show: Callable[[], object]) -> None:
    started, before, outcome = time.monotonic(), peak_mib(), "answered"
    faulthandler.dump_traceback_later(_LONGEST_S, exit=True)
    try:
        if outcome_of_door(show) is not None:
            outcome = "refused in words"
    except Exception:  # noqa: BLE001 - what this proof looks for
        outcome = "other exception"
        tally.broken.append(f"BROKEN {what}: {traceback.format_exc(limit=-4)}")
    faulthandler.cancel_dump_traceback_later()
    seconds, mib = time.monotonic() - started, peak_mib() - before
    tally.count(outcome, seconds, mib)
    if seconds > MOST_S or mib > MOST_MIB:
        tally.broken.append(f"BROKEN {what}: {seconds:.1f} s, {mib} MiB more")


def _mutations(base: Sandbox, count: int, seed: int) -> Tally:
    end = seed
    while count > 0:
        count, end = count - len(changed_names(end)), end + 1
    parts = [range(start, min(end, start + _TOGETHER)) for start in range(seed, end, _TOGETHER)]
    words = f"{end - seed:,} runs with changed files (seeds {seed} to {end - 1})"
    return in_processes(partial(_changed, base), parts, words, partial(_begin, base))


def _begin(base: Sandbox) -> None:
    """Whatever one of these processes writes elsewhere, or connects to, ends the proof."""
    os.chdir(base.work)  # in which names without a folder are
    watch(base.root, is_fatal=True)


def main() -> int:
    """Runs both parts and prints the summaries."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("files", "mutations"), help="one part")
    parser.add_argument("--count", type=int, default=100_000, help="of mutations")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--places", default="", metavar="WORDS", help="only parts, names and kinds with these words"
    )
    parser.add_argument("--prepared", metavar="FOLDER", type=Path, help="kept for the next time")
    options = parser.parse_args()
    num_broken = 0
    with tempfile.TemporaryDirectory(prefix="workbench-foreign-") as folder:
        base = Sandbox(options.prepared or Path(folder))
        if not (base.root / "kept" / "queued").is_dir():
            _foreign_places.prepare(base)
        if options.only != "files":
            num_broken += len(_mutations(base, options.count, options.seed).broken)
        if options.only != "mutations":
            num_broken += sum(len(t.broken) for t in _foreign_places.files(base, options.places))
    return 1 if num_broken else 0


if __name__ == "__main__":
    sys.exit(main())
