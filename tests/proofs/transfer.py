"""Transfer learning on the flower photos, by the commands a user types: time and accuracy.

`python -m tests.proofs.transfer [--only default,mobilenet,fine_tuned,few]` needs the photos of
../shared/data/flowers. Each line is one training from nothing: no cached images, features or
plans. It ends with 1 where an accuracy is too low, or a time limit is not kept.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.proofs._commands import events_of, workbench

FLOWERS = Path(__file__).resolve().parents[3] / "shared" / "data" / "flowers"

SMALL, LARGE = "mobilenet", "efficientnet_lite0"

PER_CLASS = 80
SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Case:
    """One training and what is asked of it.

    Attributes:
        name: In the table.
        source: Folder of images.
        options: Further arguments of `workbench new`.
        settings: Arguments of `workbench set`.
        accuracy: Least test accuracy.
        seconds: Most seconds from the start of `workbench train` to its end.
    """

    name: str
    source: Path
    options: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    accuracy: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True)
class Result:
    """What a training took, and its test accuracy; and when its first epoch was over."""

    seconds: float
    first_s: float
    accuracy: float
    count: int

    def keeps(self, case: Case) -> bool:
        """Whether it is as good and as fast as asked."""
        return self.accuracy >= case.accuracy and self.seconds <= case.seconds


def cases(folder: Path, only: Sequence[str]) -> Iterator[Case]:
    """The trainings; folders that they need are made in `folder`."""
    frozen = {"source": FLOWERS, "seconds": 45.0}
    if "default" in only:
        yield Case("as started", **frozen, accuracy=0.885)
    if "mobilenet" in only:
        yield Case("MobileNet 0.25", **frozen, options=("--backbone", SMALL), accuracy=0.865)
    if "fine_tuned" in only:
        tuned = ("epochs=16", "fine_tuning_after=10", "fine_tune_from=block11_expand_conv")
        large = ("--backbone", LARGE)
        yield Case("fine-tuned", FLOWERS, large, tuned, accuracy=0.92, seconds=600.0)
    if "few" in only:
        for seed in SEEDS:
            source = few_photos(folder / f"few-{seed}", seed)
            for name, key, accuracy in (("MobileNet", SMALL, 0.80), ("Lite0", LARGE, 0.84)):
                words = f"{PER_CLASS} a class, seed {seed}, {name}"
                yield Case(words, source, ("--backbone", key), accuracy=accuracy, seconds=25.0)


def few_photos(folder: Path, seed: int) -> Path:
    """80 photos of each class to train on, and 80 others to test on."""
    for name in sorted(path.name for path in FLOWERS.iterdir() if path.is_dir()):
        files = sorted((FLOWERS / name).glob("*.jpg"))
        random.Random(seed).shuffle(files)
        for part, chosen in (("train", files[:PER_CLASS]), ("test", files[-PER_CLASS:])):
            target = folder / part / name
            target.mkdir(parents=True)
            for file in chosen:
                shutil.copyfile(file, target / file.name)
    return folder


def tried(case: Case) -> Result:
    """Trains with an empty home."""
    with tempfile.TemporaryDirectory() as home:
        project = Path(home) / "p.workbench"
        workbench(home, "new", "--from", f"folder:{case.source}", str(project), *case.options)
        if case.settings:
            workbench(home, "set", str(project), *case.settings)
        begun, started = time.monotonic(), time.time()
        events = events_of(home, "train", str(project))
        seconds = time.monotonic() - begun
    (finished,) = [event for event in events if event["event"] == "run_finished"]
    first = next(event for event in events if event["event"] == "epoch_finished")
    test = finished["test"]
    return Result(seconds, first["time"] - started, test["accuracy"], test["count"])


def main(words: list[str] | None = None) -> int:
    """Prints a line for each training; 1 where one is not as asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="default,mobilenet,fine_tuned,few")
    only = parser.parse_args(words).only.split(",")
    if not FLOWERS.is_dir():
        print(f"{FLOWERS} is not there.")
        return 2
    is_good = True
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(Path(folder), only):
            result = tried(case)
            is_good &= result.keeps(case)
            print(
                f"{'ok  ' if result.keeps(case) else 'FAIL'} {case.name}: test {result.accuracy:.4f} "
                f"of {result.count:,} (at least {case.accuracy}), {result.seconds:.1f} s (at most "
                f"{case.seconds:.0f} s), first epoch after {result.first_s:.1f} s",
                flush=True,
            )
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
