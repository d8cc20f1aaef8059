"""Training steps turned into StableHLO, or refused with the layer and a fix that helps.

    python -m tests.proofs.tpu_lowering --graphs 200 [--seed 0]

Every template in float32 and bfloat16, and random networks with random recipes. A refusal must
name a layer of the network and what helps; each of its fixes is applied, and then the layer
must no longer be refused. "Cannot be checked here" is right for operations that only TPUs
have. Whatever else is raised is a failure.
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
from dataclasses import replace

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

from tests.proofs._tpu_projects import random_project, templates
from workbench.core.projects.project import Project
from workbench.layers import all_layers
from workbench.preflight.lowered import Lowered, Lowering, Refused, Unchecked, fixes_of
from workbench.worker.lowering.lower import TPU_ONLY, lower_step

BATCH = 8
PRECISIONS = ("float32", "bfloat16")


def cases(graphs: int, seed: int) -> Iterator[tuple[str, Project, str]]:
    """Names, projects and precisions."""
    for key, project in templates():
        for precision in PRECISIONS:
            yield f"{key}, {precision}", project, precision
    for number in range(graphs):
        name, project = random_project(seed + number)
        precision = PRECISIONS[number % len(PRECISIONS)]
        yield f"{name}, {precision}", project, precision


class Judge:
    """Lowers projects and judges the answers.

    Attributes:
        counts: Of the kinds of answers, and of the operations that were at fault.
        num_fixes: Fixes that were applied.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.ops: Counter[str] = Counter()
        self.num_fixes = 0

    def failure(self, project: Project, precision: str) -> str:
        """ "" when the answer is as it must be, else what is not."""
        try:
            answer = self._lower(project, precision)
            self.counts[type(answer).__name__] += 1
            if isinstance(answer, Lowered):
                return self._text_fault(answer)
            self.ops[answer.op] += 1
            return self._refusal_fault(answer, project, precision)
        except Exception:  # noqa: BLE001 - each kind is a failure of the case
            return traceback.format_exc(limit=-4)[-1500:]

    def _lower(self, project: Project, precision: str) -> Lowering:
        return lower_step(project, batch=BATCH, precision=precision)

    def _text_fault(self, answer: Lowered) -> str:
        is_whole = "@main(" in answer.text and "input_output_alias" in answer.text
        return "" if is_whole and "mhlo.copy" not in answer.text else answer.text[:300]

    def _refusal_fault(self, answer: Refused | Unchecked, project: Project, precision: str) -> str:
        if isinstance(answer, Unchecked) and "StableHLO" in answer.words:
            return ""  # XLA compiles it; only its text is of no use
        if answer.node not in project.graph.nodes:
            return f"names no layer: {answer}"
        if isinstance(answer, Unchecked):
            return "" if answer.op in TPU_ONLY else f"unchecked without a reason: {answer}"
        if project.graph.nodes[answer.node].name not in answer.words or not answer.fix:
            return f"is not explained: {answer}"
        for fix in fixes_of(answer, project.graph, all_layers()):
            self.num_fixes += 1
            mended = replace(project, graph=fix.apply(project.graph))
            after = self._lower(mended, precision)
            if isinstance(after, Refused) and after.node == answer.node:
                return f"“{fix.title}” does not help: {after}"
        return ""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graphs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args(arguments)
    import keras
    import tensorflow as tf

    warnings.filterwarnings("ignore", message="Gradients do not exist|You are using a softmax")
    judge, started, num_failures = Judge(), time.monotonic(), 0
    for number, (name, project, precision) in enumerate(cases(chosen.graphs, chosen.seed), 1):
        words = judge.failure(project, precision)
        if words:
            num_failures += 1
            print(f"FAILED {name}: {words}", file=sys.stderr, flush=True)
        if number % 25 == 0:
            print(f"{number} tried, {time.monotonic() - started:.0f} s", flush=True)
        keras.backend.clear_session()
        gc.collect()
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(judge.counts.items()))
    ops = ", ".join(f"{op} {count}" for op, count in judge.ops.most_common())
    print(
        f"tpu_lowering: {len(list(templates()))} templates in both precisions and "
        f"{chosen.graphs} random networks by XLA of TensorFlow {tf.__version__}: {kinds} ({ops}); "
        f"{judge.num_fixes} fixes applied; {num_failures} failures, "
        f"{time.monotonic() - started:.0f} s"
    )
    return 1 if num_failures else 0


if __name__ == "__main__":
    sys.exit(main())
