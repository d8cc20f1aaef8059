"""Calibration and unknowns on real data: are probabilities right, are strange pictures rejected.

`bash packaging/prove.sh calibration [--only small,products,cifar10,flowers] [--folds 5] [--photos N]`
needs ../shared/data. It ends with 1 where a figure is not reached.

- small: 30 small sets of flowers and CIFAR-10, 20 to 150 validation images each, and as many with
  1,000: heads on features of the bundled backbone, by scikit-learn, calibrated by the product's own
  code and judged on all images that are left: by scikit-learn and by hand. The product must never
  be worse than no calibration by more than WORSE_LOSS and WORSE_ERROR, better on average, and with
  1,000 validation images as good as the temperature of the lowest loss.
- products: small sets of flowers, trained as a whole by the commands, judged on 1,000 other photos.
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
from workbench.core.calibration import Reliability
from workbench.core.projects.project import Choice
from workbench.core.projects.project_file import read_project
from workbench.pictures.fit import fit_picture
from workbench.protocol.trained.calibration import Bins, calibration_words, reliability_words
from workbench.runs.folder import RunFolder
from workbench.runs.store.evaluation import KeptEvaluation, read_evaluation, read_image_scores
from workbench.runs.store.image_scores import ScoredImages
from workbench.templates import find_template

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"

MOST_ERROR = 0.03
WORSE_LOSS, WORSE_ERROR = 0.005, 0.01
NUM_SMALL, MANY = 30, 1_000
NUM_PRODUCTS, NUM_OTHERS = 4, 1_000
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


def prove_small(count: int) -> bool:
    """Prints a table of small sets, then the same with many validation images."""
    from tests.proofs._small_sets import photos, small_set

    found, rng = photos(SHARED), np.random.default_rng(3)
    numbers = [int(rng.integers(20, 151)) for _ in range(count)]
    few = [small_set(found, number, size) for number, size in enumerate(numbers)]
    print(_HEAD, flush=True)
    for each in few:
        print(_row(each), flush=True)
    many = [small_set(found, number, MANY) for number in range(count)]
    loss, error = changes([each.scores[:2] for each in few])
    told = np.array([each.told for each in few if each.fitted[0].limit is not None])
    print(
        f"small sets: {count} of 20 to 150 validation images, of which "
        f"{sum(each.fitted[0].temperature is not None for each in few)} calibrated: loss "
        f"{loss.mean():+.4f} (worst {loss.max():+.4f}, at most {WORSE_LOSS}), calibration error "
        f"{error.mean():+.4f} (worst {error.max():+.4f}, at most {WORSE_ERROR}); the temperature of "
        f"the lowest loss {_of(changes([each.scores[::2] for each in few]))}. Within the limit of "
        f"the distance: {told[:, 0].mean():.1%} ({told[:, 0].min():.1%} and more) of other images, "
        f"{told[:, 1].mean():.1%} of those of the other data set",
        flush=True,
    )
    own, plain = (changes([each.scores[:stop:step] for each in many]) for stop, step in _PAIRS)
    apart = own[0] - plain[0]
    print(
        f"with {MANY:,} validation images: {_of(own)}; the temperature of the lowest loss "
        f"{_of(plain)}; difference of the losses {apart.mean():+.4f} (at most {WORSE_LOSS}), largest "
        f"{apart.max():+.4f}",
        flush=True,
    )
    return is_no_worse(loss, error) and bool(own[0].max() <= WORSE_LOSS >= apart.mean())


_PAIRS = (2, 1), (3, 2)
"""Slices of the scores: raw and shown, raw and plain."""

_HEAD = (
    "data       train  validation  accuracy  T fitted  T kept   loss before  after   "
    "ECE before  after"
)


def _row(each: Any) -> str:
    (loss, error), (shown_loss, shown_error), _ = each.scores
    kept, right = each.fitted[0].temperature, (each.raw.argmax(axis=1) == each.truth).mean()
    temperature = "–" if kept is None else f"{kept:.2f}"
    return (
        f"{each.data.name:10} {len(each.train):5} {len(each.validation):11} {right:9.3f} "
        f"{each.plain[0]:9.2f} {temperature:>7} {loss:13.4f} {shown_loss:6.4f} {error:11.4f} "
        f"{shown_error:7.4f}"
    )


def changes(scores: Sequence[Any]) -> tuple[Any, Any]:
    """After less before, (n,): of the loss, and of the calibration error."""
    pairs = np.array(scores)
    return tuple((pairs[:, 1] - pairs[:, 0]).T)


def _of(found: tuple[Any, Any]) -> str:
    loss, error = found
    return (
        f"loss {loss.mean():+.4f} (worst {loss.max():+.4f}), calibration error {error.mean():+.4f} "
        f"(worst {error.max():+.4f})"
    )


def is_no_worse(loss: Any, error: Any) -> bool:
    """Whether no set is worse, and all together are better, or as good where none is calibrated."""
    never = loss.max() <= WORSE_LOSS and error.max() <= WORSE_ERROR
    return bool(never and loss.mean() <= 0 and error.mean() <= 0)


def prove_products(home: Path, count: int) -> bool:
    """Trains small sets by the commands; each is tested on photos that it has not seen."""
    found = []
    for number in range(count):
        with tempfile.TemporaryDirectory() as folder:
            place = small_folder(Path(folder), number)
            path = place / "p.workbench"
            workbench(home.parent, "new", "--from", f"folder:{place}", str(path))
            # In turn: as it is, trained much longer, hardly trained, at a high rate.
            changed = ({}, {"epochs": 150}, {"epochs": 3}, {"learning_rate": 0.02})[number % 4]
            project = read_project(path)
            recipe = project.recipe.with_values(**changed)
            run = train(replace(project, recipe=recipe), timeout_s=_TIMEOUT_S)
            scores = tested(run).kept.result.calibration
            found.append(scores)
            words = calibration_words(run.model_card().calibration)
            print(f"flowers, set {number}, {changed or 'as started'}: {words}", flush=True)
            print(f"  on {NUM_OTHERS:,} other photos: {reliability_words(scores)}", flush=True)
    loss, error = changes(
        [
            ((each.loss_before, each.before.error),
             (each.negative_log_likelihood, each.expected_calibration_error))
            for each in found
        ]
    )  # fmt: skip
    print(f"products: {count} trainings: {_of((loss, error))}", flush=True)
    return is_no_worse(loss, error)


def small_folder(folder: Path, number: int) -> Path:
    """A train part of 100 to 250 photos, from which validation images are split, and a test part."""
    photos = sorted((SHARED / "flowers").glob("*/*.jpg"))
    random.Random(number).shuffle(photos)
    few = (180, 250, 140, 100)[number % 4]
    for part, chosen in (("train", photos[:few]), ("test", photos[few : few + NUM_OTHERS])):
        for photo in chosen:
            target = folder / part / photo.parent.name
            target.mkdir(parents=True, exist_ok=True)
            (target / photo.name).symlink_to(photo)
    return folder


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
    from workbench.pictures.fit import side_to_decode
    from workbench.pictures.thumbnails import decode_reduced
    from workbench.worker.trainer.after_training import load_runner

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
    parser.add_argument("--only", default="small,products,cifar10,flowers")
    parser.add_argument("--sets", type=int, default=NUM_SMALL, help="small sets")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--photos", type=int, default=0, help="fewer photos, for a try")
    options = parser.parse_args()
    if not SHARED.is_dir():
        print(f"{SHARED} is not there.")
        return 2
    home, only = own_home(), options.only.split(",")
    is_good = True
    if "small" in only:
        is_good &= prove_small(options.sets)
    if "products" in only:
        is_good &= prove_products(home, NUM_PRODUCTS)
    if "flowers" in only:
        is_good &= prove_flowers(options.folds, options.photos, home)
    if "cifar10" in only:
        is_good &= prove_cifar10()
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
