"""Calibration and unknowns on real data: are probabilities right, are strange pictures rejected.

`bash packaging/prove.sh calibration [--only cifar10,flowers] [--folds 5] [--photos N]` needs
../shared/data. It ends with 1 where a figure is not reached.

- cifar10: cifar10_speedrun; expected calibration error on the 10,000 test images.
- flowers: the network that `workbench new` chooses for the photos. A test part of 361 photos gives
  an expected calibration error of about 0.03 by chance alone, calibrated or not: so each of the
  photos is in the test part of one of the folds, each fold's temperature is from its own validation
  images, and the error is that of all predictions together. The same of perfectly calibrated
  answers with these probabilities is printed beside it. Then pictures of CIFAR-10 are put to each
  fold: at the distance that 95% of its test photos are within, how many are rejected.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks._runs import own_home, train
from tests.proofs._commands import workbench
from workbench.core.calibration.reliability import Reliability
from workbench.core.projects.project import Choice
from workbench.core.projects.project_file import read_project
from workbench.pictures.fit import fit_picture
from workbench.protocol.trained.calibration import Bins
from workbench.runs.folder import RunFolder
from workbench.runs.store.evaluation import KeptEvaluation, read_evaluation, read_image_scores
from workbench.runs.store.image_scores import ScoredImages
from workbench.templates import find_template

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"

MOST_ERROR = 0.03
LEAST_REJECTED = 0.8
COVERAGE = 0.95
NUM_STRANGE = 1000
_TIMEOUT_S = 7200.0

Values = np.ndarray[Any, np.dtype[np.float32]]


@dataclass(frozen=True)
class Tested:
    """A run and what its training's own test has found."""

    run: RunFolder
    kept: KeptEvaluation
    images: ScoredImages

    @property
    def bins(self) -> tuple[Bins, Bins]:
        """Without and with the temperature."""
        found = self.kept.result.calibration
        assert found is not None
        return found.before, found.after


def tested(run: RunFolder) -> Tested:
    """Reads the test of a finished training."""
    kept = read_evaluation(run, run.model_card().class_names)
    assert kept is not None, "the training has failed"
    images = read_image_scores(run, kept)
    assert images is not None
    return Tested(run, kept, images)


def pooled(found: Sequence[Bins]) -> Reliability:
    """One diagram of the images of several."""
    counts = np.array([bins.counts for bins in found], np.float64)
    total = counts.sum(axis=0)
    confidence, accuracy = (
        (counts * np.array(shares)).sum(axis=0) / np.maximum(total, 1)
        for shares in ([bins.confidence for bins in found], [bins.accuracy for bins in found])
    )
    return Reliability(total.astype(int).tolist(), confidence.tolist(), accuracy.tolist())


def auroc(near: Values, far: Values) -> float:
    """How often a strange picture is farther than one of the classes; half for equal ones."""
    order = np.sort(near)
    below, up_to = (np.searchsorted(order, far, side) for side in ("left", "right"))
    return float((below + up_to).mean() / (2 * len(near)))


def prove_cifar10() -> bool:
    """Prints a line; whether the error is small enough."""
    project = find_template("cifar10_speedrun").project
    recipe = project.recipe.with_values(validation="split")
    data = Choice("npz", {"path": str(SHARED / "cifar10.npz")})
    found = tested(train(replace(project, dataset=data, recipe=recipe), timeout_s=_TIMEOUT_S))
    return said("CIFAR-10, cifar10_speedrun", [found])


def said(words: str, found: Sequence[Tested]) -> bool:
    """Prints the errors of all images together; whether the calibrated one is small enough."""
    before, after = (pooled([each.bins[at] for each in found]) for at in (0, 1))
    is_right = np.concatenate([each.images.is_right for each in found])
    temperatures = [each.kept.result.calibration.temperature for each in found]
    shown = ", ".join("none" if each is None else f"{each:.2f}" for each in temperatures)
    print(
        f"{words}: {len(is_right):,} test images, accuracy {is_right.mean():.4f}, expected "
        f"calibration error {before.error:.4f} before, {after.error:.4f} after (at most {MOST_ERROR}), "
        f"{after.error_by_chance:.4f} by chance; temperature {shown}",
        flush=True,
    )
    return after.error <= MOST_ERROR


def folds(folder: Path, num_folds: int, most: int) -> Iterator[Path]:
    """Folders with a train and a test part: each photo is in one test part."""
    photos = sorted((SHARED / "flowers").glob("*/*.jpg"))
    random.Random(1).shuffle(photos)
    chosen = photos[:most] if most else photos
    for fold in range(num_folds):
        for number, photo in enumerate(chosen):
            part = "test" if number % num_folds == fold else "train"
            target = folder / str(fold) / part / photo.parent.name
            target.mkdir(parents=True, exist_ok=True)
            (target / photo.name).symlink_to(photo)
        yield folder / str(fold)


def prove_flowers(num_folds: int, most: int, home: Path) -> bool:
    """Trains a fold at a time; prints the errors together, and what is rejected."""
    found, rejected, areas, covered = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        for place in folds(Path(folder), num_folds, most):
            path = place / "p.workbench"
            workbench(home.parent, "new", "--from", f"folder:{place}", str(path))
            found.append(tested(train(read_project(path), timeout_s=_TIMEOUT_S)))
            near, far, limit = strangeness(found[-1], place)
            rejected.append(float((far > np.quantile(near, COVERAGE)).mean()))
            areas.append(auroc(near, far))
            covered.append((float((near <= limit).mean()), float((far > limit).mean())))
    is_good = said(f"flowers, {num_folds} folds", found)
    own = np.mean(covered, axis=0)
    print(
        f"flowers against {NUM_STRANGE:,} pictures of CIFAR-10: at {COVERAGE:.0%} coverage "
        f"{np.mean(rejected):.1%} rejected ({min(rejected):.1%} to {max(rejected):.1%}, at least "
        f"{LEAST_REJECTED:.0%}), AUROC {np.mean(areas):.4f}; with the limit of the runs: coverage "
        f"{own[0]:.1%}, {own[1]:.1%} rejected",
        flush=True,
    )
    return is_good and float(np.mean(rejected)) >= LEAST_REJECTED


def strangeness(found: Tested, place: Path) -> tuple[Values, Values, float]:
    """Distances of the test photos and of CIFAR-10, and the run's own limit."""
    from workbench.pictures.decode import decode_reduced
    from workbench.pictures.fit import side_to_decode
    from workbench.worker.saved_models.loading import load_runner

    runner = load_runner(found.run.path)
    shape, fit = tuple(runner.card.input_shape), runner.card.fit
    photos = sorted((place / "test").glob("*/*.jpg"))
    with np.load(SHARED / "cifar10.npz") as data:
        strange = data["x_test"][:NUM_STRANGE]

    def distances(pictures: Iterator[Any]) -> Values:
        rows, batch = [], []
        for picture in pictures:
            batch.append(fit_picture(picture, shape, fit=fit))
            if len(batch) == 32:
                rows.append(runner.answer(np.stack(batch)).distances)
                batch = []
        if batch:
            rows.append(runner.answer(np.stack(batch)).distances)
        return np.concatenate(rows)

    decoded = (decode_reduced(str(path), side_to_decode(shape)).pixels for path in photos)
    limit = runner.card.calibration.distance.limit
    return distances(decoded), distances(iter(strange)), limit


def main() -> int:
    """Returns 0 where every figure is reached."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="cifar10,flowers")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--photos", type=int, default=0, help="fewer photos, for a try")
    options = parser.parse_args()
    if not SHARED.is_dir():
        print(f"{SHARED} is not there.")
        return 2
    home, only = own_home(), options.only.split(",")
    is_good = True
    if "flowers" in only:
        is_good &= prove_flowers(options.folds, options.photos, home)
    if "cifar10" in only:
        is_good &= prove_cifar10()
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
