"""The training call under TensorFlow's real TPUStrategy, traced without a TPU.

    python -m tests.proofs.tpu_trace --graphs 100 [--cores 8] [--seed 0] [--random-only]

Every template with every optimizer, and random networks with random recipes whose optimizers
take turns. Each is compiled as the trainer compiles it for a TPU, and its call of several
steps, and the one of validation, must be traced to one part for all cores within a loop, of
known shapes, with a sum over the cores for each gradient.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

from tests.fake_tpu import compile_on, fake_strategy, trace_evaluation, trace_training
from tests.proofs._tpu_projects import random_project, templates, with_optimizer
from workbench.core.projects.project import Project
from workbench.core.training.optimizers import all_optimizers


def cases(graphs: int, seed: int, *, random_only: bool) -> Iterator[tuple[str, Project]]:
    """Names and projects."""
    for key, project in () if random_only else templates():
        for optimizer in all_optimizers():
            yield f"{key} ({optimizer})", with_optimizer(project, optimizer)
    for number in range(graphs):
        yield random_project(seed + number)


def failure(strategy: Any, tf: Any, project: Project) -> str:
    """ "" when the project's calls are as they must be, else what is not."""
    cores = strategy.num_replicas_in_sync
    try:
        compiled = compile_on(strategy, project)
        training, evaluation = trace_training(tf, compiled), trace_evaluation(tf, compiled)
    except Exception:  # noqa: BLE001 - each kind is a failure of the case
        return traceback.format_exc(limit=-4)[-1500:]
    return "; ".join(training.faults(cores) + evaluation.faults(cores))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=100)
    parser.add_argument("--cores", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--random-only", action="store_true", help="no templates")
    chosen = parser.parse_args(arguments)
    import keras
    import tensorflow as tf

    warnings.filterwarnings("ignore", message="Gradients do not exist|You are using a softmax")
    strategy = fake_strategy(tf, chosen.cores)
    started = time.monotonic()
    traced: Counter[str] = Counter()
    num_failures = 0
    for name, project in cases(chosen.graphs, chosen.seed, random_only=chosen.random_only):
        words = failure(strategy, tf, project)
        traced[project.recipe.optimizer] += 1
        if words:
            num_failures += 1
            print(f"FAILED {name}: {words}", file=sys.stderr, flush=True)
        if traced.total() % 10 == 0:
            print(f"{traced.total()} traced, {time.monotonic() - started:.0f} s", flush=True)
        keras.backend.clear_session()
        gc.collect()
    each = ", ".join(f"{optimizer} {count}" for optimizer, count in sorted(traced.items()))
    print(
        f"tpu_trace: {traced.total()} projects ({traced.total() - chosen.graphs} of the templates "
        f"with every optimizer, {chosen.graphs} random networks) under TPUStrategy of "
        f"{chosen.cores} cores, TensorFlow {tf.__version__}: {num_failures} failures, "
        f"{time.monotonic() - started:.0f} s. {each}"
    )
    return 1 if num_failures else 0


if __name__ == "__main__":
    sys.exit(main())
