"""FindBatchSize: how fast each batch size trains here, and which still fits into memory.

Sizes whose speeds contradict each other are measured again, all of them in turn: what slowed one
measurement down rarely lasts until the next.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence

import msgspec
import numpy as np

from workbench.core.checks.analysis import analyse
from workbench.core.checks.estimates import memory_needed
from workbench.core.format import bytes_text
from workbench.core.training.batch_change import BatchChange, BatchSpeeds
from workbench.host.memory import memory_limit
from workbench.layers import all_layers
from workbench.processes.memory import resident_bytes
from workbench.protocol.find import BatchSizeFound, BatchSizeTried, FindBatchSize
from workbench.worker.process.failure import is_out_of_memory
from workbench.worker.requests.benchmark_setup import BenchmarkSetup, set_up
from workbench.worker.requests.session import Job

_TRIAL_S = 1.2
_MOST_STEPS = 64
_LEAST_CALLS = 4  # the first ones take batches that were made while the step was compiled
_ROOM = 0.85  # of the memory: the desktop needs some too
_ROUNDS = 2  # in which suspect sizes are measured again: of three, two agree or nothing does
_FIRST_PART = 0.6  # of the progress, for the first measurements


def find_batch_size(job: Job, request: FindBatchSize) -> BatchSizeFound:
    """Trains a moment at each power of two, from small to large.

    Raises:
        WorkbenchError: the project cannot be trained.
    """
    trial = set_up(job, request.project)
    sizes = _sizes(request, len(trial.data.train))
    tried = _try_all(job, trial, sizes)
    measured = {t.size: [t.images_per_second] for t in tried if t.images_per_second is not None}
    for number in range(_ROUNDS):
        done = _FIRST_PART + (1 - _FIRST_PART) * number / _ROUNDS
        _measure_again(job, trial, measured, done)
    return _found(job, tried, measured, trial)


def _try_all(job: Job, trial: BenchmarkSetup, sizes: Sequence[int]) -> list[BatchSizeTried]:
    """Every size once, up to the first that does not fit."""
    tried: list[BatchSizeTried] = []
    for number, size in enumerate(sizes):
        job.check_cancelled()
        job.progress(f"Trying batch size {size:,}", _FIRST_PART * number / len(sizes))
        result = _try(job, trial, size)
        tried.append(result)
        job.send(result)
        if result.problem:
            break  # larger ones fit still less
    return tried


def _measure_again(
    job: Job, trial: BenchmarkSetup, measured: dict[int, list[float]], done: float
) -> None:
    """Measures one round over the sizes whose speeds contradict each other; adds to `measured`."""
    suspects = BatchSpeeds(measured).suspects if measured else []
    part = (1 - _FIRST_PART) / _ROUNDS
    for number, size in enumerate(suspects):
        job.check_cancelled()
        job.progress(f"Measuring batch size {size:,} again", done + part * number / len(suspects))
        again = _try(job, trial, size)
        if again.images_per_second is None:
            continue  # memory that was free before is not now; the first speed stays
        measured[size].append(again.images_per_second)
        speeds = BatchSpeeds(measured)
        speed, spread = round(speeds.speeds[size], 1), round(speeds.spread(size), 3)
        times = len(measured[size])
        job.send(
            msgspec.structs.replace(again, images_per_second=speed, times=times, spread=spread)
        )


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
    job: Job,
    tried: Sequence[BatchSizeTried],
    measured: dict[int, list[float]],
    trial: BenchmarkSetup,
) -> BatchSizeFound:
    if not measured:
        words = f"Not even batch size {tried[0].size:,} fits: it {tried[0].problem}."
        return BatchSizeFound(id=job.id, fastest=0, largest=0, suggested=0, words=words)
    speeds = BatchSpeeds(measured)
    change = BatchChange(trial.project.recipe, speeds.suggested, len(trial.data.train))
    return BatchSizeFound(
        id=job.id,
        fastest=speeds.fastest,
        largest=max(measured),
        suggested=speeds.suggested,
        words=speeds.words,
        changes=change.words,
        steps_per_epoch=change.steps_per_epoch(change.after),
        images_per_epoch=change.images_per_epoch(change.after),
        learning_rate=change.after.peak_rate,
        is_uncertain=speeds.is_uncertain,
    )
