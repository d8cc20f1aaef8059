"""How fast this computer has trained: one short file, fed by each run, read by predictions.

It is a cache: lost or damaged, it is begun again, and predictions start from a guess.
"""

from __future__ import annotations

import math
from pathlib import Path

import msgspec

from workbench.core.checks.analysis import Analysis, DatasetFacts
from workbench.core.checks.frozen import ALL_LEARN, PhaseWork
from workbench.core.checks.run_estimate import (
    MeasuredRun,
    RunEstimate,
    computed_in_steps,
    memory_needed,
)
from workbench.core.checks.run_estimate import predict as predict_costs
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
    """Keeps one run's speed, instead of what it had before, and drops the oldest of more than a
    hundred; raises SaveError.
    """
    path = path or speeds_path()
    others = [other for other in read_speeds(path) if not run.run or other.run != run.run]
    kept = [*others, run][-_KEPT:]
    save_with_folder(path, msgspec.json.encode(kept))


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
) -> MeasuredRun:
    """What is kept of a run, from the analysis of its network with its recipe.

    The batch size may be smaller than the recipe's; `images_per_second` is the median of its
    epochs, `memory_bytes` the most that its trainer has held, 0 where it is not known. `work` is
    what was computed in these epochs.
    """
    multiply_adds, numbers = computed_in_steps(analysis.costs, work)
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
        expected_bytes=memory_needed(
            analysis.costs,
            costs_batch=recipe.batch_size,
            batch_size=batch_size,
            precision=precision,
        ),
    )


def predict_run(
    analysis: Analysis,
    recipe: TrainingRecipe,
    facts: DatasetFacts | None,
    *,
    speeds: list[MeasuredRun],
    limit_bytes: int | None = None,
) -> RunEstimate:
    """What a run of a network without errors will take here, given the data as far as it is known,
    the `speeds` that were measured, and the memory a process can have (None: this computer's).
    """
    limit = memory_limit() if limit_bytes is None else limit_bytes
    num_train, num_validation = _parts(recipe, facts)
    picture_bytes = math.prod(analysis.input_shape or (0,)) * (num_train + num_validation)
    return predict_costs(
        analysis.costs,
        speeds,
        batch_size=recipe.batch_size,
        precision=_precision(recipe),
        steps_per_epoch=steps_per_epoch(recipe, facts),
        num_train=num_train,
        num_validation=num_validation,
        phases=analysis.phases,
        picture_bytes=picture_bytes if picture_bytes < _MEMORY_SHARE * limit else 0,
        limit_bytes=limit,
        num_cores=num_cores(),
    )


def steps_per_epoch(recipe: TrainingRecipe, facts: DatasetFacts | None) -> int | None:
    """Steps of an epoch; None while the number of images is not known."""
    num_train, _ = _parts(recipe, facts)
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
