"""20,000 pictures in nested folders, one of 0 bytes: checked, trained, classified, none lost.

The classification into a CSV table is killed (SIGKILL) twice and
continued: every picture must be in the table exactly once.

`python -m tests.proofs.many_images [--images 20000] [--epochs 1]` makes the folder out of
../shared/data/flowers (made small, and linked several times under names of their own), runs the
commands that a person would, and prints what each has counted. It ends with 1 where a picture was
lost, or the empty one was not named.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from PIL import Image

from tests.proofs._killed_table import classify_killed
from workbench.datasets import all_datasets

FLOWERS = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "flowers"
_SIDE = 64
_GROUPS = ("meadow", "garden")
EMPTY = "empty.jpg"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=20_000)
    parser.add_argument("--epochs", type=int, default=1)
    chosen = parser.parse_args(arguments)
    if not FLOWERS.is_dir():
        print(f"skipped: there is no {FLOWERS}")
        return 1
    with tempfile.TemporaryDirectory() as place:
        os.environ["WORKBENCH_HOME"] = str(Path(place) / "home")
        return _prove(Path(place), chosen.images, chosen.epochs)


def _prove(place: Path, number: int, epochs: int) -> int:
    root = place / "photos"
    make_folder(root, number, place / "small")
    print(f"made: {number:,} pictures in nested folders, one of them of 0 bytes")
    problems = [*_listed(root, number), *_checked(root, number)]
    problems += _trained_and_classified(place, root, number, epochs)
    for problem in problems:
        print(f"LOST: {problem}")
    print(f"many_images: {number:,} pictures, {len(problems)} problems")
    return int(bool(problems))


def make_folder(root: Path, number: int, small: Path) -> None:
    """Class folders in two groups; the last picture is empty."""
    photos = []
    for path in sorted(FLOWERS.glob("*/*.jpg"), key=lambda path: path.name):  # classes mixed
        target = small / path.parent.name / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        with Image.open(path) as image:
            image.draft("RGB", (_SIDE, _SIDE))
            image.resize((_SIDE, _SIDE)).save(target, quality=80)
        photos.append(target)
    for count, photo in enumerate(islice(cycle(photos), number - 1)):
        name = photo.parent.name
        folder = root / _GROUPS[name > "m"] / name / f"part {count // len(photos)}"
        folder.mkdir(parents=True, exist_ok=True)
        os.link(photo, folder / f"{count:06}.jpg")
    # Pictures right in a class folder make it a class; those of its parts belong to it.
    for folder in root.glob("*/*"):
        first = next(folder.glob("*/*.jpg"))
        first.rename(folder / first.name)
    (root / _GROUPS[0] / "daisy" / EMPTY).touch()


def _listed(root: Path, number: int) -> list[str]:
    began = time.monotonic()
    loaded = all_datasets()["folder"].load(_Quiet(), {"path": str(root), "fit": "crop"})
    spent = time.monotonic() - began
    print(f"listed: {len(loaded.train):,} in {len(loaded.class_names)} classes, {spent:.2f} s")
    return [] if len(loaded.train) == number else [f"listed {len(loaded.train):,}"]


class _Quiet:
    """A LoadContext for listing."""

    cache_folder = ""

    def progress(self, text: str, fraction: float | None = None) -> None:
        """Shows nothing."""

    def check_cancelled(self) -> None:
        """Goes on."""

    def keras(self) -> Any:
        raise AssertionError("listing needs no TensorFlow")


def _checked(root: Path, number: int) -> list[str]:
    output = _run("data", "check", f"folder:{root}", "--json", codes=(1,))
    found = json.loads(output)
    used = sum(each["train"] + each["test"] for each in found["classes"])
    bad = [Path(each["file"]).name for each in found["bad_files"]]
    print(f"data check: {used:,} usable in {len(found['classes'])} classes, not readable: {bad}")
    problems = [] if bad == [EMPTY] else [f"data check named {bad}"]
    return problems if used + 1 == number else [*problems, f"data check counted {used:,}"]


def _trained_and_classified(place: Path, root: Path, number: int, epochs: int) -> list[str]:
    project, run, table = place / "p.workbench", place / "run", place / "answers.csv"
    words = ("new", "--from", f"folder:{root}", str(project), "--json")
    print("new --from:", json.loads(_run(*words))["reason"])
    output = _run("train", str(project), "--epochs", str(epochs), "--run", str(run), "--json")
    events = [json.loads(line) for line in output.splitlines()]
    ready = next(each for each in events if each["event"] == "data_ready")
    parts = [ready[f"num_{part}"] for part in ("train", "validation", "test")]
    trained = sum(parts)
    print(f"train: {trained:,} pictures ({parts}), {events[-1]['outcome']}")
    problems = [] if trained + 1 == number else [f"trained on {trained:,}"]
    return problems + _classified(run, root, table, number)


def _classified(run: Path, root: Path, table: Path, number: int) -> list[str]:
    began = time.monotonic()
    found = classify_killed(str(run), root, table, least=[number // 3, 2 * number // 3])
    seconds = time.monotonic() - began
    at_kills = " and ".join(f"{rows:,}" for rows in found.rows_at_kills)
    num_twice = sum(count > 1 for count in found.rows.values())
    print(
        f"classify: killed at {at_kills} rows, continued: {found.rows.total():,} rows in "
        f"{seconds:.0f} s, {num_twice} pictures twice, not readable: {found.num_bad}"
    )
    wanted = {str(path) for path in root.rglob("*.jpg")}
    problems = [] if set(found.rows) == wanted else ["the table has other pictures"]
    problems += [] if found.rows.total() == number else [f"classified {found.rows.total():,}"]
    return problems if found.num_bad == 1 else [*problems, f"{found.num_bad} not readable"]


def _run(*words: str, codes: Sequence[int] = (0,)) -> str:
    began = time.monotonic()
    command = [sys.executable, "-m", "workbench", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    print(f"  workbench {' '.join(words[:2])}: {time.monotonic() - began:.0f} s", flush=True)
    if done.returncode not in codes:
        raise SystemExit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
