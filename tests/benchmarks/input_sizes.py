"""Frozen backbones on images of several sizes: accuracy by cross-validation, by the commands a user
types. `python -m tests.benchmarks.input_sizes [--folds K]` needs the photos of
../shared/data/flowers.

By these figures `workbench.starter.input_shape_for` uses more than the usual size.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.proofs._commands import events_of, workbench
from tests.proofs.transfer import FLOWERS, few_photos

BACKBONES = ("mobilenet", "efficientnet_lite0")
SIDES = (224, 256, 288, 320)
SEED = 1


def sources(folder: Path) -> Iterator[tuple[str, Path]]:
    """Name in the table, and the folder of images."""
    yield "all photos", FLOWERS
    yield "80 a class", few_photos(folder, SEED) / "train"


def accuracy(source: Path, backbone: str, side: int, folds: int) -> tuple[float, float]:
    """Accuracy on the fold held out, mean over the folds, and its standard deviation."""
    with tempfile.TemporaryDirectory() as home:
        project = Path(home) / "p.workbench"
        workbench(home, "new", "--from", f"folder:{source}", str(project), "--backbone", backbone)
        workbench(home, "set", str(project), f"input.shape={side},{side},3")
        (*_, summary) = events_of(home, "cross-validate", str(project), "--folds", str(folds))
    mean, spread = (summary["val_accuracy"][key] for key in ("mean", "std"))
    return float(mean), float(spread)


def main(words: list[str] | None = None) -> int:
    """Prints a line for each number of photos, backbone and size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=5)
    folds = parser.parse_args(words).folds
    if not FLOWERS.is_dir():
        print(f"{FLOWERS} is not there.")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        for name, source in sources(Path(folder)):
            for backbone in BACKBONES:
                for side in SIDES:
                    begun = time.monotonic()
                    mean, spread = accuracy(source, backbone, side, folds)
                    seconds = time.monotonic() - begun
                    print(
                        f"{name}, {backbone}, {side} x {side}: {mean:.4f}, standard "
                        f"deviation {spread:.4f} over {folds} folds, {seconds:.0f} s in all",
                        flush=True,
                    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
