"""Planted wrong labels: how many the check ranks first, and how much of what it lists is wrong.

`python -m tests.proofs.label_errors [--seeds 3] [--sizes 400,1000,3610] [--keep FOLDER]` needs
../shared/data. Of photos of flowers and of CIFAR-10 images 5% get a wrong label; the images are read,
and their features computed, once, as in the service worker, and kept in a folder where one is given. For each seed and size it prints the share of wrong labels
in the first tenth of the ranking, and the precision of the list; then what is listed of the labels as
they are. It ends with 1 where less than 75% are in the first tenth, or less than 60% of a list is
wrong.
"""

from __future__ import annotations

import argparse
import pickle
import random
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from workbench.backbones import all_backbones
from workbench.core.data_check.findings import Survey
from workbench.core.projects.data_edits import DataEdits
from workbench.core.projects.texts import parse_source
from workbench.core.specs import ArrayPart, LoadedData
from workbench.core.training.recipe import TrainingRecipe
from workbench.data_checks import all_data_checks
from workbench.datasets import all_datasets
from workbench.pictures.survey import survey_of
from workbench.worker.input.sources import load_source
from workbench.worker.process.lazy_keras import LazyKeras
from workbench.worker.requests.check_data import MOST_THOROUGH

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
SHARE, LEAST_FIRST, LEAST_PRECISION = 0.05, 0.75, 0.6
CIFAR = 5_000
CIFAR_NAMES = (
    "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck",
)  # fmt: skip

Numbers = np.ndarray[Any, np.dtype[np.int64]]


class _Context(LazyKeras):
    """What reading needs, without a service."""

    cache_folder = ""

    def progress(self, text: str, fraction: float | None = None) -> None:
        pass

    def check_cancelled(self) -> None:
        pass


def surveyed(loaded: LoadedData, backbone: str, cache: str, name: str) -> Survey:
    """Reads all images and computes their features, or takes what was kept of them."""
    kept = Path(cache) / f"{name}-{backbone}.pickle"
    if kept.is_file():
        survey: Survey = pickle.loads(kept.read_bytes())  # noqa: S301 - written below
        return survey
    survey = _computed(loaded, backbone, cache)
    kept.write_bytes(pickle.dumps(survey))
    return survey


def _computed(loaded: LoadedData, backbone: str, cache: str) -> Survey:
    ctx = _Context()
    ctx.cache_folder = cache
    ctx.keras()
    from workbench.worker.model.inference_form import BackboneFeatures

    return survey_of(loaded, {}, TrainingRecipe(), ctx, BackboneFeatures(all_backbones()[backbone]))


def part_of(survey: Survey, rows: Numbers) -> Survey:
    """The survey of some of the rows."""
    names = (
        "origins",
        "indices",
        "labels",
        "source_labels",
        "parts",
        "contents",
        "turned",
        "sizes",
    )
    columns: dict[str, Any] = {name: getattr(survey, name)[rows] for name in names}
    looks = type(survey.looks)(**{key: value[rows] for key, value in vars(survey.looks).items()})
    assert survey.features is not None
    places = {int(row): at for at, row in enumerate(rows)}
    return replace(
        survey,
        **columns,
        files=[survey.files[row] for row in rows],
        formats=[survey.formats[row] for row in rows],
        modes=[survey.modes[row] for row in rows],
        reasons={places[row]: why for row, why in survey.reasons.items() if row in places},
        looks=looks,
        features=survey.features[rows],
    )


def mislabeled(survey: Survey, share: float, seed: int) -> tuple[Survey, set[str]]:
    """The survey with wrong labels, and the contents of the images that have one."""
    draw = random.Random(seed)
    classes = len(survey.class_names)
    wrong = draw.sample(range(len(survey)), round(share * len(survey)))
    labels = survey.labels.copy()
    for row in wrong:
        labels[row] = draw.choice([each for each in range(classes) if each != labels[row]])
    contents = {survey.contents[row].decode() for row in wrong}
    return replace(survey, labels=labels, source_labels=labels), contents


def judged(survey: Survey, wrong: set[str], words: str) -> tuple[bool, str]:
    """Whether enough of the wrong labels come first, and enough of the list are wrong."""
    assert survey.judged is not None
    scores, rows = survey.judged.scores, survey.judged.rows
    assert scores is not None
    listed = [each.images[0].content for each in all_data_checks()["suspicious_label"].find(survey)]
    first = {survey.contents[rows[at]].decode() for at in scores.ranking[: len(survey) // 10]}
    share = len(first & wrong) / max(len(wrong), 1)
    found = sum(content in wrong for content in listed)
    precision = found / max(len(listed), 1)
    is_good = not wrong or (share >= LEAST_FIRST and precision >= LEAST_PRECISION)
    text = f"{words}: {len(listed)} listed, estimated {scores.noise:.1%} wrong"
    if wrong:
        text = (
            f"{words}: {share:.1%} of {len(wrong)} wrong labels in the first tenth; {len(listed)} "
            f"listed, {precision:.1%} of them wrong, {found / len(wrong):.1%} of the wrong ones; "
            f"estimated {scores.noise:.1%} wrong"
        )
    return is_good, text


def _cases(seeds: int, sizes: list[int], cache: str) -> Iterator[tuple[bool, str]]:
    choice = parse_source(f"folder:{DATA / 'flowers'}", all_datasets())
    loaded = load_source(_Context(), choice.key, choice.params, DataEdits())
    bundled = [each for each in all_backbones().values() if each.is_bundled]
    large = max(bundled, key=lambda each: each.num_features).key
    for backbone in (bundled[0].key, large):
        fitting = [size for size in sizes if (size <= MOST_THOROUGH) == (backbone == large)]
        if fitting:
            yield from _of(surveyed(loaded, backbone, cache, "flowers"), "flowers", fitting, seeds)
    with np.load(DATA / "cifar10.npz") as arrays:
        part = ArrayPart(arrays["x_train"][:CIFAR], arrays["y_train"][:CIFAR].astype(np.int64))
    cifar = surveyed(LoadedData(CIFAR_NAMES, part), bundled[0].key, cache, "cifar10")
    yield from _of(cifar, "CIFAR-10", [CIFAR], seeds)


def _of(survey: Survey, name: str, sizes: list[int], seeds: int) -> Iterator[tuple[bool, str]]:
    for size in sizes:
        for seed in range(1, seeds + 1):
            chosen = random.Random(100 + seed).sample(range(len(survey)), min(size, len(survey)))
            some = part_of(survey, np.sort(np.array(chosen, np.int64)))
            words = f"{name}, {len(some):,} images, seed {seed}"
            yield judged(*mislabeled(some, SHARE, seed), words)
            if seed == 1:
                yield judged(some, set(), f"{name}, {len(some):,} images, labels as they are")
                rule = all_data_checks()["suspicious_label"]
                for finding in rule.find(some):
                    file = "/".join(Path(finding.images[0].file).parts[-2:])
                    yield True, f"    {finding.title} {finding.score:.2f} {file}"


def main(words: list[str] | None = None) -> int:
    """Prints a line for each case; 1 where one falls short."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sizes", default="400,1000,3610", help="numbers of flower photos")
    parser.add_argument("--keep", default="", help="folder of features that were computed")
    asked = parser.parse_args(words)
    if not (DATA / "flowers").is_dir():
        print(f"{DATA} is not there.")
        return 2
    all_good = True
    with tempfile.TemporaryDirectory() as cache:
        sizes = [*map(int, asked.sizes.split(","))]
        for is_good, text in _cases(asked.seeds, sizes, asked.keep or cache):
            all_good &= is_good
            print(f"{'ok  ' if is_good else 'FAIL'} {text}", flush=True)
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main())
