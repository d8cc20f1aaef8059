"""Wrong labels among the flower photos, mended from the largest losses: the test accuracy rises.

`python -m tests.proofs.relabel [--seeds 1,2,3] [--relabels 30] [--images test|all]` needs the photos
of ../shared/data/flowers. Of a copy 5% are put into the folder of another class. For each seed a
network is trained by the commands that a user types; the kept evaluation is read from its largest
loss on, and wrong labels are mended until there are so many, or none is left; the project is then
trained again from the weights of the run. It ends with 1 where an accuracy has not risen.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tests.proofs._commands import events_of, workbench
from workbench.core.projects.project_file import read_project, save_project
from workbench.protocol.trained.evaluate import ImageSet
from workbench.runs.folder import RunFolder
from workbench.runs.store.evaluation import read_evaluation, read_image_scores
from workbench.runs.store.image_scores import ScoredImages

FLOWERS = Path(__file__).resolve().parents[3] / "shared" / "data" / "flowers"
WRONG = 0.05

Truth = Mapping[str, str]
"""The true class of each file, by its name."""


@dataclass(frozen=True)
class Mended:
    """What came of one seed.

    Attributes:
        relabels, looked_at: Labels that were mended, among so many images with the largest losses.
        before, after: Test accuracy by the labels of the project.
        true_before, true_after: The same by the true labels.
    """

    relabels: int
    looked_at: int
    before: float
    after: float
    true_before: float
    true_after: float


def with_wrong_labels(source: Path, folder: Path, seed: int, share: float = WRONG) -> Truth:
    """Copies class folders, a share of the images into the folder of another class."""
    files = sorted(path for path in source.glob("*/*") if path.is_file())
    names = sorted({path.parent.name for path in files})
    chance = random.Random(seed)
    wrong = {*chance.sample(files, round(share * len(files)))}
    truth = {}
    for path in files:
        name = path.parent.name
        here = chance.choice([each for each in names if each != name]) if path in wrong else name
        target = folder / here / f"{name}_{path.name}"
        target.parent.mkdir(parents=True, exist_ok=True)
        _copy(path, target)
        truth[target.name] = name
    return truth


def _copy(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)


def mended(
    source: Path, truth: Truth, seed: int, *, relabels: int, is_of_all: bool = False
) -> Mended:
    """Trains, mends labels from the largest losses, trains again.

    Args:
        source: Class folders.
        truth: Of their images.
        seed: Of split and training.
        relabels: The most labels to mend.
        is_of_all: Whether all images are evaluated, those of the training too.
    """
    with tempfile.TemporaryDirectory() as home:
        project = Path(home) / "p.workbench"
        workbench(home, "new", "--from", f"folder:{source}", str(project))
        workbench(home, "set", str(project), f"seed={seed}")
        first = _trained(home, project)
        images = _images(first)
        names = first.model_card().class_names
        before, true_before = _accuracies(images, names, truth)
        if is_of_all:
            workbench(home, "evaluate", str(first.path), "--data", f"folder:{source}")
            images = _images(first, "other")
        labels, looked_at = _labels(images, names, truth, relabels)
        edited = read_project(project)
        edits = replace(edited.edits, labels={**edited.edits.labels, **labels})
        save_project(replace(edited, edits=edits), project)
        second = _trained(home, project, "--initial-weights", str(first.path))
        after, true_after = _accuracies(_images(second), names, truth)
        return Mended(len(labels), looked_at, before, after, true_before, true_after)


def _trained(home: str, project: Path, *options: str) -> RunFolder:
    events = events_of(home, "train", str(project), *options)
    (finished,) = [event for event in events if event["event"] == "run_finished"]
    return RunFolder(Path(finished["run"]))


def _images(run: RunFolder, part: ImageSet = "test") -> ScoredImages:
    kept = read_evaluation(run, run.model_card().class_names, part)
    images = read_image_scores(run, kept) if kept is not None else None
    if images is None:
        raise SystemExit(f"{run.path} has no evaluation of its images.")
    return images


def _accuracies(images: ScoredImages, names: list[str], truth: Truth) -> tuple[float, float]:
    """By the labels of the project, and by the true ones."""
    true = np.array([names.index(_true(images, at, truth)) for at in range(len(images))])
    return float(images.is_right.mean()), float((images.predicted == true).mean())


def _labels(
    images: ScoredImages, names: list[str], truth: Truth, relabels: int
) -> tuple[dict[str, str], int]:
    """The true labels of wrongly labeled images, from the largest loss on, by content; and how many
    images were looked at for that.
    """
    labels: dict[str, str] = {}
    looked_at = 0
    for number, at in enumerate(map(int, images.worst_first), 1):
        if len(labels) == relabels:
            break
        name = _true(images, at, truth)
        if names[images.actual[at]] != name:
            labels[images.content_of(at)] = name
            looked_at = number
    return labels, looked_at


def _true(images: ScoredImages, at: int, truth: Truth) -> str:
    return truth[Path(images.file(at)).name]


def main(words: list[str] | None = None) -> int:
    """Prints a line for each seed; 1 where an accuracy has not risen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", default="1,2,3")
    parser.add_argument("--relabels", type=int, default=30)
    parser.add_argument("--images", choices=("test", "all"), default="all")
    asked = parser.parse_args(words)
    if not FLOWERS.is_dir():
        print(f"{FLOWERS} is not there.")
        return 2
    is_good = True
    for seed in map(int, asked.seeds.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            truth = with_wrong_labels(FLOWERS, Path(folder), seed)
            is_of_all = asked.images == "all"
            found = mended(Path(folder), truth, seed, relabels=asked.relabels, is_of_all=is_of_all)
        is_good &= found.after > found.before
        print(
            f"{'ok  ' if found.after > found.before else 'FAIL'} seed {seed}: {found.relabels} labels "
            f"mended among the {found.looked_at} largest losses; test accuracy {found.before:.4f} "
            f"-> {found.after:.4f}, by the true labels {found.true_before:.4f} -> "
            f"{found.true_after:.4f}",
            flush=True,
        )
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
