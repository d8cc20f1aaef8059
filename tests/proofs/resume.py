"""Kills trainings at random moments: each resumed run equals the uninterrupted one to the bit.

`python -m tests.proofs.resume --kills 200 --runs 20 [--seed N] [--jobs N]`. Kills fall into
every part of a trainer's life: while it starts or resumes, while it trains, and while it writes
a checkpoint. All logged steps, epochs, scores and the final weights are compared. Ends with 1
when anything differs, or an epoch is lost.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.proofs._tiny_runs import (
    RECIPES,
    Tail,
    differences,
    history_of,
    kill,
    tiny_project,
    wait_for_end,
    write_stripes,
)
from workbench.protocol.events import Batch, RunFinished, RunStarted
from workbench.runs.folder import RunFolder, create_run
from workbench.runs.log.event_log import read_all
from workbench.runs.start import reap, start_trainer
from workbench.runs.state.outcome import outcome_of

_SPREAD_S = 2.5
_STARTING_S = 6.0
_LOOK_S = 0.0002


@dataclass
class Tally:
    """What happened to the runs that were killed."""

    kills: Counter[str] = field(default_factory=Counter)
    resumes: int = 0
    repeated_steps: int = 0
    problems: list[str] = field(default_factory=list)


def train_whole(run: RunFolder) -> RunFolder:
    """Trains a run without any interruption."""
    start_trainer(run)
    wait_for_end(run)
    finished = history_of(run).finished
    if finished is None or finished.outcome != "completed":
        raise RuntimeError(f"{run.path}: {outcome_of(run).sentence()}")
    return run


def train_killed(run: RunFolder, kills: int, rng: random.Random) -> Tally:
    """Trains a run that is killed again and again, then to its end."""
    tally, left = Tally(), kills
    pid = start_trainer(run)
    while True:
        when = _draw(rng, is_resumed=tally.resumes > 0) if left else "never"
        if not _killed_in_time(run, pid, when, rng):
            break
        left -= 1
        tally.kills[when] += 1
        outcome = outcome_of(run)
        if not outcome.can_resume:
            tally.problems.append(f"{run.name}: not resumable: {outcome.sentence()}")
            break
        pid = start_trainer(run, resume=True)
        tally.resumes += 1
    _check_log(run, tally)
    return tally


def _draw(rng: random.Random, *, is_resumed: bool) -> str:
    """When a trainer is killed."""
    start = "resuming" if is_resumed else "starting"
    return rng.choices([start, "training", "checkpoint"], [1, 3, 2])[0]


def _killed_in_time(run: RunFolder, pid: int, when: str, rng: random.Random) -> bool:
    """Kills a trainer at its time; False when it ended before by itself."""
    if when in {"starting", "resuming"}:
        return _kill_after(run, pid, rng.random() * _STARTING_S)
    tail = Tail(run)
    if when == "never":
        tail.until(lambda event: isinstance(event, RunFinished))
        wait_for_end(run)
        return False
    if tail.until(lambda event: isinstance(event, Batch)) is None:
        return False
    if when == "training":
        return _kill_after(run, pid, rng.random() * _SPREAD_S)
    return _kill_in_checkpoint(run, pid, rng)


def _kill_after(run: RunFolder, pid: int, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not run.is_alive():
            return False
        time.sleep(min(0.05, max(0.0, deadline - time.monotonic())))
    return _kill_unfinished(run, pid)


def _kill_in_checkpoint(run: RunFolder, pid: int, rng: random.Random) -> bool:
    """Kills while a new generation is being written: its temporary file is there."""
    time.sleep(rng.random() * _SPREAD_S)  # not always the first one
    looks = 0
    while not _is_being_written(run):
        looks += 1
        if looks % 100 == 0 and not run.is_alive():
            return False
        time.sleep(_LOOK_S)
    time.sleep(rng.random() * 0.004)
    return _kill_unfinished(run, pid)


def _is_being_written(run: RunFolder) -> bool:
    try:
        with os.scandir(run.checkpoints_path) as entries:
            return any(entry.name.startswith(".workbench-save-") for entry in entries)
    except OSError:
        return False


def _kill_unfinished(run: RunFolder, pid: int) -> bool:
    """Kills; False when the last event was there before."""
    try:
        kill(run, pid)
    except ProcessLookupError:
        return False
    return history_of(run).finished is None


def _check_log(run: RunFolder, tally: Tally) -> None:
    """Every resume was exact, nothing is missing, and events count on without gaps."""
    events = read_all(run.events_path)
    done = 0
    for event in events:
        if isinstance(event, RunStarted) and event.resumed_at_step is not None:
            tally.repeated_steps += max(0, done - event.resumed_at_step)
            if event.bit_exact is not True:
                tally.problems.append(f"{run.name}: resumed, but {event.bit_exact}")
        elif isinstance(event, Batch):
            done = event.step
    seqs = [event.seq for event in events]
    if seqs != list(range(1, len(seqs) + 1)):
        tally.problems.append(f"{run.name}: the numbers of the events have gaps")


def prove(folder: Path, *, kills: int, runs: int, seed: int, jobs: int, epochs: int) -> Tally:
    """Trains each recipe once without and `runs` times with interruptions, and compares."""
    data = write_stripes(folder / "stripes.npz")
    numbers = range(min(runs, len(RECIPES)))

    def whole(number: int) -> RunFolder:
        project = tiny_project(data, number=number, epochs=epochs)
        return train_whole(create_run(project, path=folder / f"whole-{number}"))

    def killed(number: int) -> tuple[RunFolder, Tally]:
        run = create_run(
            tiny_project(data, number=number, epochs=epochs), path=folder / f"killed-{number}"
        )
        share = kills // runs + (number < kills % runs)
        return run, train_killed(run, share, random.Random(1_000 * seed + number))

    with ThreadPoolExecutor(jobs) as pool:
        references = list(pool.map(whole, numbers))
        results = list(pool.map(killed, range(runs)))
    return _sum_up(references, results)


def _sum_up(references: Sequence[RunFolder], results: Sequence[tuple[RunFolder, Tally]]) -> Tally:
    total = Tally()
    for number, (run, tally) in enumerate(results):
        total.kills += tally.kills
        total.resumes += tally.resumes
        total.repeated_steps += tally.repeated_steps
        total.problems += tally.problems
        reference = references[number % len(references)]
        total.problems += [f"{run.name}: {words}" for words in differences(run, reference)]
    return total


def main() -> int:
    """Runs the proof and prints one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["WORKBENCH_HOME"] = str(Path(folder) / "home")
        tally = prove(
            Path(folder),
            kills=options.kills,
            runs=options.runs,
            seed=options.seed,
            jobs=options.jobs,
            epochs=options.epochs,
        )
        reap()
    for problem in tally.problems:
        print(problem)
    done = tally.kills.total()
    parts = ", ".join(f"{count} {part}" for part, count in sorted(tally.kills.items()))
    print(
        f"resume: {done} kills ({parts}) over {options.runs} runs: {len(tally.problems)} "
        f"differences to the uninterrupted runs, {tally.repeated_steps:,} steps trained twice, "
        f"{time.perf_counter() - started:.0f} s"
    )
    return 0 if not tally.problems and done == options.kills else 1


if __name__ == "__main__":
    sys.exit(main())
