"""How fast this computer has trained: one short file, fed by each run, read by predictions.

It is a cache: lost or damaged, it is begun again, and predictions start from a guess.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from workbench.core.checks.analysis import Analysis
from workbench.core.checks.estimates.measured_run import MeasuredRun, images_of
from workbench.core.checks.estimates.run_estimate import (
    FIRST_CALL_S,
    RunEstimate,
    computed_in_steps,
    memory_needed,
    numbers_per_picture,
    other_seconds,
)
from workbench.core.checks.estimates.run_estimate import predict as predict_costs
from workbench.core.checks.frozen import ALL_LEARN, PhaseWork
from workbench.core.checks.images import DatasetFacts
from workbench.core.projects.project import Choice
from workbench.core.storage.json_file import read_json
from workbench.core.storage.save import save_with_folder
from workbench.core.training.recipe import TrainingRecipe
from workbench.host.memory import memory_limit
from workbench.runs.home import cache_home
from workbench.targets.this_computer import computes_bfloat16, num_cores

_KEPT = 100
_MEMORY_SHARE = 0.3  # of the limit: larger data sets stay on disk


def speeds_path() -> Path:
    """The file of this computer's speeds."""
    return cache_home() / "speeds.json"


def read_speeds(path: Path | None = None) -> list[MeasuredRun]:
    """The latest runs' speeds, oldest first; [] where there are none."""
    return read_json(path or speeds_path(), list[MeasuredRun]) or []


def add_speed(run: MeasuredRun, path: Path | None = None) -> None:
    """Keeps one run's speed, instead of what it had before in such a phase, and drops the oldest of
    more than a hundred; raises SaveError.
    """
    path = path or speeds_path()

    def is_other(other: MeasuredRun) -> bool:
        of = run.run, run.is_on_features
        return not run.run or of != (other.run, other.is_on_features)

    others = list(filter(is_other, read_speeds(path)))
    kept = [*others, run][-_KEPT:]
    save_with_folder(path, msgspec.json.encode(kept))


def data_mark(dataset: Choice) -> str:
    """Identifies a data set among the measured runs, without its path."""
    words = msgspec.json.encode([dataset.key, dict(dataset.params)], order="sorted")
    return hashlib.blake2b(words, digest_size=8).hexdigest()


@dataclass(frozen=True)
class WholeRun:
    """What is known of a run beside the speed of its steps.

    Attributes:
        data: Its data set, see `data_mark`.
        num_train, num_validation, num_test: Its images.
        is_on_features: The speed is that of a head on cached features.
        num_computed: Images that the frozen layers were computed for.
        features_s: Seconds of that.
        other_s: Seconds that were in neither epochs nor frozen layers; 0 while the run goes on.
    """

    data: str = ""
    num_train: int = 0
    num_validation: int = 0
    num_test: int = 0
    is_on_features: bool = False
    num_computed: int = 0
    features_s: float = 0.0
    other_s: float = 0.0

    @property
    def ahead_s(self) -> float:
        """Seconds of an image in the frozen layers; 0 where none was computed."""
        steady_s = max(self.features_s - FIRST_CALL_S, 0.2 * self.features_s)
        return steady_s / self.num_computed if self.num_computed else 0.0

    def facts(self) -> dict[str, Any]:
        """Fields that are kept as they are."""
        kept = ("data", "num_train", "num_validation", "num_test", "is_on_features", "other_s")
        return {"ahead_s": self.ahead_s, **{key: getattr(self, key) for key in kept}}


NOTHING_MORE = WholeRun()


def measured_run(
    analysis: Analysis,
    recipe: TrainingRecipe,
    *,
    batch_size: int,
    precision: str,
    images_per_second: float,
    memory_bytes: int,
    run: str = "",
    epoch_factor: float = 1.0,
    work: PhaseWork = ALL_LEARN,
    whole: WholeRun = NOTHING_MORE,
) -> MeasuredRun:
    """What is kept of a run, from the analysis of its network with its recipe: the median speed of
    its epochs, in which `work` was computed, in a batch that may be smaller than the recipe's, and
    the most that its trainer has held, 0 where it is not known.
    """
    costs = analysis.costs
    multiply_adds, numbers = computed_in_steps(costs, work)
    other_s = other_seconds(costs, precision, whole.num_test) if whole.other_s else 0.0
    return MeasuredRun(
        multiply_adds=multiply_adds,
        numbers=numbers,
        is_partly_frozen=bool(work.frozen),
        batch_size=batch_size,
        precision=precision,
        run=run,
        images_per_second=images_per_second,
        epoch_factor=epoch_factor,
        memory_bytes=memory_bytes,
        **whole.facts(),
        ahead_multiply_adds=sum(costs.nodes[key].multiply_adds for key in work.frozen),
        ahead_numbers=numbers_per_picture(costs, work.frozen),
        num_copies=work.copies,
        expected_other_s=other_s,
        expected_bytes=memory_needed(
            costs, costs_batch=recipe.batch_size, batch_size=batch_size, precision=precision
        ),
    )


def predict_run(
    analysis: Analysis,
    recipe: TrainingRecipe,
    facts: DatasetFacts | None,
    *,
    speeds: list[MeasuredRun],
    limit_bytes: int | None = None,
    data: str = "",
) -> RunEstimate:
    """What a run of a network without errors will take here, given the data as far as it is known,
    the `speeds` that were measured, and the memory a process can have (None: this computer's).
    `data` is the project's `data_mark`: images not counted yet are those of the latest run on it.
    """
    limit = memory_limit() if limit_bytes is None else limit_bytes
    num_train, num_validation = _parts(recipe, facts)
    num_test = facts.num_test if facts is not None else 0
    if not num_train:
        num_train, num_validation, num_test = images_of(speeds, data)
    picture_bytes = math.prod(analysis.input_shape or (0,)) * (num_train + num_validation)
    return predict_costs(
        analysis.costs,
        speeds,
        batch_size=recipe.batch_size,
        precision=_precision(recipe),
        steps_per_epoch=_steps(recipe, num_train),
        num_train=num_train,
        # Of an epoch: where only every few are validated, on average.
        num_validation=-(-num_validation // recipe.validation_freq),
        num_test=num_test,
        data=data,
        phases=analysis.phases,
        picture_bytes=picture_bytes if picture_bytes < _MEMORY_SHARE * limit else 0,
        limit_bytes=limit,
        num_cores=num_cores(),
    )


def steps_per_epoch(recipe: TrainingRecipe, facts: DatasetFacts | None) -> int | None:
    """Steps of an epoch; None while the number of images is not known."""
    return _steps(recipe, _parts(recipe, facts)[0])


def _steps(recipe: TrainingRecipe, num_train: int) -> int | None:
    if recipe.steps_per_epoch or not num_train:
        return recipe.steps_per_epoch
    return max(1, num_train // min(recipe.batch_size, num_train))


def _parts(recipe: TrainingRecipe, facts: DatasetFacts | None) -> tuple[int, int]:
    """Training and validation images; (0, 0) while unknown."""
    if facts is None or not facts.num_train:
        return 0, 0
    num_train, num_test = facts.num_train, facts.num_test
    if recipe.validation == "test":
        return num_train, num_test
    if recipe.validation == "none":
        return num_train, 0
    num_validation = round(num_train * recipe.validation_share)
    return num_train - num_validation, num_validation


def _precision(recipe: TrainingRecipe) -> str:
    if recipe.precision != "auto":
        return recipe.precision
    return "bfloat16" if computes_bfloat16() else "float32"
