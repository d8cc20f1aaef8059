"""Seconds to the published accuracy: the speed-run template against plain Keras."""

from __future__ import annotations

import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

from tests.benchmarks._engine_speed import ROOT
from tests.benchmarks.published_cifar import PUBLISHED_ACCURACY

GOAL = 20.0
_RESULTS = ROOT / "tests" / "proofs" / "RESULTS.md"
_COUNTED = re.compile(r"(reached after|needs more than) (\d+) epochs")
_EPOCH = re.compile(r"^epoch (\d+): test accuracy [\d.]+, ([\d,]+) s", re.MULTILINE)
_EPOCHS_TIMED = 4
"""The second epoch was seen to take up to twice as long as all after it; the last one counts."""


def print_time_to_accuracy(pictures: Path, published_epochs: int | None, rounds: int) -> bool:
    """(c): three seeds of `cifar10_speedrun`, and seconds an epoch of the published network.

    The published network needs the better part of an hour, so its epochs are taken from an
    earlier whole run, and only the seconds of an epoch are measured here, in turns with the
    template.
    """
    from tests.benchmarks.speedrun import SEEDS, speed_run

    if not pictures.is_file():
        print("not measured: ../shared/data/cifar10.npz is not there")
        return False
    epochs = published_epochs or _epochs_in_results()
    if epochs is None:
        print(
            "not measured: run `bash packaging/bench.sh published_cifar NPZ` once (it needs about "
            "three quarters of an hour) and give the epochs it needs: --published-epochs N"
        )
        return False
    runs, epoch_s = [], []
    for seed in SEEDS[: max(1, rounds)]:
        run = speed_run(pictures, seed)
        runs.append(run)
        words = f"{run.training_s:.1f} s" if run.is_there else "never"
        print(f"seed {seed}: {PUBLISHED_ACCURACY:.2%} after {words}", flush=True)
        epoch_s.append(_plain_epoch_s(pictures))
    ours = statistics.median(run.training_s for run in runs)
    seconds = statistics.median(epoch_s)
    plain = epochs * seconds
    print(
        f"published network in plain Keras: {epochs} epochs (counted in an earlier run) x "
        f"{seconds:.1f} s an epoch with its test (measured now) = {plain:,.0f} s; "
        f"cifar10_speedrun {ours:.1f} s: {plain / ours:.1f} x faster (goal {GOAL:.0f})"
    )
    return all(run.is_there for run in runs) and plain / ours >= GOAL


def _epochs_in_results() -> int | None:
    """The epochs that the last run of `published_cifar` in RESULTS.md needed, or if it was ended
    before, one more than it had: then the time of plain Keras is a lower bound.
    """
    found = _COUNTED.findall(_RESULTS.read_text(encoding="utf-8")) if _RESULTS.exists() else []
    if not found:
        return None
    words, epochs = found[-1]
    return int(epochs) + (words == "needs more than")


def _plain_epoch_s(pictures: Path) -> float:
    """Seconds of one epoch with its test, once the script has warmed up."""
    command = [sys.executable, "-m", "tests.benchmarks.published_cifar", str(pictures)]
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    result = subprocess.run(
        [*command, str(_EPOCHS_TIMED)],
        capture_output=True, text=True, check=True, cwd=ROOT, env=environment,
    )  # fmt: skip
    totals = [float(total.replace(",", "")) for _, total in _EPOCH.findall(result.stdout)]
    return totals[-1] - totals[-2]
