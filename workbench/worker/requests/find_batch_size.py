"""FindBatchSize: how fast each batch size trains here, and which still fits into memory."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Mapping

import numpy as np

from workbench.core.checks.analysis import analyse
from workbench.core.checks.run_estimate import memory_needed
from workbench.core.format import bytes_text
from workbench.core.training.batch_change import BatchChange
from workbench.core.training.recipe import TrainingRecipe
from workbench.host.memory import memory_limit
from workbench.layers import all_layers
from workbench.processes.memory import resident_bytes
from workbench.protocol.messages import (
    AnyAnswer,
    BatchSizeFound,
    BatchSizeTried,
    FindBatchSize,
)
from workbench.worker.process.failure import is_out_of_memory
from workbench.worker.requests.benchmark_setup import BenchmarkSetup, set_up
from workbench.worker.requests.session import Job

_TRIAL_S = 1.2
_MOST_STEPS = 64
_LEAST_CALLS = 4  # the first ones take batches that were made while the step was compiled
_ROOM = 0.85  # of the memory: the desktop needs some too
_NEARLY = 0.93  # of the best speed is as good: a smaller batch learns more in an epoch


def find_batch_size(job: Job, request: FindBatchSize) -> AnyAnswer:
    """Trains a moment at each power of two, from small to large.

    Raises:
        WorkbenchError: the project cannot be trained.
    """
    trial = set_up(job, request.project)
    sizes = _sizes(request, len(trial.data.train))
    tried: list[BatchSizeTried] = []
    for number, size in enumerate(sizes):
        job.check_cancelled()
        job.progress(f"Trying batch size {size:,}", number / len(sizes))
        result = _try(job, trial, size)
        tried.append(result)
        job.send(result)
        if result.problem:
            break  # larger ones fit still less
    return _found(job, tried, trial.project.recipe, len(trial.data.train))


def _sizes(request: FindBatchSize, count: int) -> list[int]:
    sizes = [size for size in request.sizes if size <= count]
    return sizes or [max(1, min(request.lowest, count))]


def _try(job: Job, trial: BenchmarkSetup, size: int) -> BatchSizeTried:
    needed, room = _needed(trial, size), _ROOM * memory_limit()
    if room and needed > room:
        words = f"needs about {bytes_text(needed)}; {bytes_text(room)} available"
        return BatchSizeTried(id=job.id, size=size, problem=words)
    try:
        speed, memory = _measured(job, trial, size)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        return BatchSizeTried(id=job.id, size=size, problem="runs out of memory")
    finally:
        gc.collect()
    return BatchSizeTried(
        id=job.id, size=size, images_per_second=round(speed, 1), memory_bytes=memory
    )


def _measured(job: Job, trial: BenchmarkSetup, size: int) -> tuple[float, int]:
    """Images per second, and the memory held meanwhile."""
    compiled = trial.compiled(batch_size=size)
    compiled.loop.train(compiled.iterator, 1)  # compiles
    speeds: list[float] = []
    steps, end = 1, time.monotonic() + _TRIAL_S
    while time.monotonic() < end or len(speeds) < _LEAST_CALLS:
        job.check_cancelled()
        results = compiled.loop.train(compiled.iterator, steps)
        speeds.append(steps * size / max(results.seconds, 1e-9))
        steps = min(2 * steps, _MOST_STEPS)
    return float(np.median(speeds[len(speeds) // 2 :])), resident_bytes()


def _needed(trial: BenchmarkSetup, size: int) -> int:
    recipe = trial.project.recipe.with_values(batch_size=size)
    analysis = analyse(trial.project.graph, all_layers(), recipe=recipe)
    # Counted in float32: rather too much than too little.
    return memory_needed(analysis.costs, costs_batch=size, batch_size=size, precision="float32")


def _found(
    job: Job, tried: list[BatchSizeTried], recipe: TrainingRecipe, num_train: int
) -> AnyAnswer:
    speeds = {t.size: t.images_per_second for t in tried if t.images_per_second is not None}
    if not speeds:
        words = f"Not even batch size {tried[0].size:,} fits: it {tried[0].problem}."
        return BatchSizeFound(id=job.id, fastest=0, largest=0, suggested=0, words=words)
    fastest = max(speeds, key=lambda size: speeds[size])
    suggested = min(size for size, speed in speeds.items() if speed >= _NEARLY * speeds[fastest])
    change = BatchChange(recipe, suggested, num_train)
    return BatchSizeFound(
        id=job.id,
        fastest=fastest,
        largest=max(speeds),
        suggested=suggested,
        words=_words(speeds, suggested, fastest),
        changes=change.words,
        steps_per_epoch=change.steps_per_epoch(change.after),
        images_per_epoch=change.images_per_epoch(change.after),
        learning_rate=change.after.peak_rate,
    )


def _words(speeds: Mapping[int, float], suggested: int, fastest: int) -> str:
    words = f"{suggested:,}: {speeds[suggested]:,.0f} images/s, "
    if suggested == fastest:
        return words + "the fastest."
    slower = math.ceil(100 * (1 - speeds[suggested] / speeds[fastest]))
    return words + f"within {slower}% of the fastest ({fastest:,})."
