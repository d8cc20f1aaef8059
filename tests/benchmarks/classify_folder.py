"""A folder classified: Workbench's worker beside a plain Keras script, in turns.

`python -m tests.benchmarks.classify_folder [--images 3610] [--rounds 3]` classifies the photos of
../shared/data/flowers with the network that a new project for own images has (a head on
EfficientNet-Lite0), once with a CSV table written, and prints the images/s of both: the plain
script is `image_dataset_from_directory` and `model.predict`. Both are warm; then both are run once
more as commands, from the start of Python to the end.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import time
from itertools import islice
from pathlib import Path

from tests.benchmarks._runs import own_home
from workbench.cli import main as workbench
from workbench.protocol.classify import ClassifyMany, ImageSource, ManyClassified
from workbench.protocol.service_call import ServiceCall

FLOWERS = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "flowers"
GOAL = 2.0
_PER_CLASS = 24


def main() -> None:
    """Prints the images/s of each round, and of all the medians and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=3610)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    home = own_home()
    photos = linked(home / "photos", chosen.images)
    run = trained(home)
    model = home / "model.keras"
    workbench(["export", str(run), "keras", str(model)])
    command = [sys.executable, "-m", "tests.benchmarks._plain_folder", str(model), str(photos)]
    with (
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as plain,
        ServiceCall() as service,
    ):
        assert plain.stdin is not None
        assert plain.stdout is not None
        plain.stdout.readline()
        ours(service, run, linked(home / "few", 64), home / "few.csv")
        speeds: dict[str, list[float]] = {"workbench": [], "plain script": []}
        for number in range(chosen.rounds):
            speeds["workbench"].append(ours(service, run, photos, home / f"{number}.csv"))
            plain.stdin.write("\n")
            plain.stdin.flush()
            seconds, count = plain.stdout.readline().split()
            speeds["plain script"].append(int(count) / float(seconds))
            print({name: round(each[-1]) for name, each in speeds.items()}, flush=True)
        plain.stdin.close()
    mine, other = (statistics.median(each) for each in speeds.values())
    print(
        f"classify_folder: {mine:.0f} images/s, plain script {other:.0f}: "
        f"{mine / other:.2f} times (goal {GOAL})"
    )
    rounds = range(chosen.rounds)
    pairs = [
        (whole(run, photos, home / f"whole{number}.csv"), _seconds(command)) for number in rounds
    ]
    mine, other = (statistics.median(each) for each in zip(*pairs, strict=True))
    print(
        f"as commands, {chosen.images} images: `workbench classify` {mine:.1f} s, plain script "
        f"{other:.1f} s: {other / mine:.2f} times (goal {GOAL})"
    )
    shutil.rmtree(home, ignore_errors=True)


def linked(folder: Path, number: int) -> Path:
    """So many of the photos, the classes mixed, in folders of their classes."""
    paths = sorted(FLOWERS.glob("*/*.jpg"), key=lambda path: path.name)
    for path in islice(paths, number):
        target = folder / path.parent.name / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(path)
    return folder


def trained(home: Path) -> Path:
    """A run of a new project for some of the photos, after one epoch."""
    few, project, run = linked(home / "some", 5 * _PER_CLASS), home / "p.workbench", home / "run"
    workbench(["new", "--from", f"folder:{few}", str(project)])
    workbench(["train", str(project), "--epochs", "1", "--run", str(run)])
    return run


def ours(service: ServiceCall, run: Path, folder: Path, table: Path) -> float:
    """Images/s from the request to the last answer, listing and writing included."""
    request = ClassifyMany(
        id=os.getpid(),
        model=str(run),
        sources=[ImageSource(path=str(folder))],
        table=str(table),
    )
    began = time.perf_counter()
    *_, done = service.answers(request)
    if not isinstance(done, ManyClassified):
        raise SystemExit(str(done))
    return done.num_images / (time.perf_counter() - began)


def whole(run: Path, folder: Path, table: Path) -> float:
    """Seconds of the command, from the start of Python."""
    words = ["-m", "workbench", "classify", str(run), str(folder), "--csv", str(table)]
    return _seconds([sys.executable, *words])


def _seconds(command: list[str]) -> float:
    began = time.perf_counter()
    subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
